//! A program that runs, is listened to, and is ended with its owner.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::error::SumoError;

/// How much of the error output is kept.
const KEPT: usize = 8 << 10;
/// Bytes read at a time, and how many such portions may wait for the reader.
const PORTION: usize = 1 << 16;
const WAITING: usize = 16;

/// A running program, ended when this is dropped.
#[derive(Debug)]
pub struct Running {
    program: PathBuf,
    child: Child,
    said: Arc<Mutex<VecDeque<u8>>>,
    listener: Option<JoinHandle<()>>,
    output: Option<Output>,
    quiet_limit: Duration,
}

impl Running {
    /// Starts `command`; reading its output fails if none comes for `quiet_limit`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(mut command: Command, quiet_limit: Duration) -> Result<Self, SumoError> {
        let program = PathBuf::from(command.get_program());
        let failed = |source| SumoError::Start {
            program: program.clone(),
            source,
        };
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed(io::Error::other("its output cannot be read")));
        };
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, receiver) = sync_channel(WAITING);
        // Both threads end with the program: its pipes close.
        thread::spawn(move || pump(stdout, &sender));
        let listener = {
            let said = Arc::clone(&said);
            thread::spawn(move || listen(stderr, &said))
        };
        Ok(Self {
            program,
            child,
            said,
            listener: Some(listener),
            output: Some(Output {
                receiver,
                portion: Vec::new(),
                read: 0,
                quiet_limit,
                ended: false,
            }),
            quiet_limit,
        })
    }

    /// What the program writes, as it comes; can be taken once.
    pub fn take_output(&mut self) -> Option<Output> {
        self.output.take()
    }

    /// The end of the program's error output so far.
    #[must_use]
    pub fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = said.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if text.is_empty() {
            "(nothing)".into()
        } else {
            text
        }
    }

    /// The error for a read that failed: the program was quiet for too long.
    #[must_use]
    pub fn quiet(&self) -> SumoError {
        SumoError::Quiet {
            program: self.program.clone(),
            waited: self.quiet_limit,
            said: self.said(),
        }
    }

    /// Waits for the end of the program, once all its output has been read.
    ///
    /// # Errors
    /// It failed, or did not end in time.
    pub fn finish(&mut self) -> Result<(), SumoError> {
        // An output that nobody reads any more must not keep the program waiting.
        self.output = None;
        let begin = Instant::now();
        let status: ExitStatus = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if begin.elapsed() < self.quiet_limit => {
                    thread::sleep(Duration::from_millis(5));
                }
                Ok(None) => return Err(self.quiet()),
                Err(source) => {
                    return Err(SumoError::Start {
                        program: self.program.clone(),
                        source,
                    });
                }
            }
        };
        if let Some(listener) = self.listener.take() {
            // It has read all by now; a panic in it is not worth another.
            let _ = listener.join();
        }
        if status.success() {
            return Ok(());
        }
        Err(SumoError::Failed {
            program: self.program.clone(),
            status: status.to_string(),
            said: self.said(),
        })
    }

    /// All that the program writes, as text.
    ///
    /// # Errors
    /// It fails, is quiet for too long or writes more than 16 MiB.
    pub fn text(mut self) -> Result<String, SumoError> {
        let mut bytes = Vec::new();
        if let Some(output) = self.take_output() {
            let read = output.take(16 << 20).read_to_end(&mut bytes);
            if read.is_err() {
                return Err(self.quiet());
            }
        }
        self.finish()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Ended already is as good; nothing else can be done about either.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pump(mut from: impl Read, to: &SyncSender<Vec<u8>>) {
    loop {
        let mut portion = vec![0; PORTION];
        match from.read(&mut portion) {
            Ok(0) => return,
            Ok(n) => {
                portion.truncate(n);
                if to.send(portion).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn listen(mut from: impl Read, said: &Mutex<VecDeque<u8>>) {
    let mut portion = [0; 4096];
    loop {
        match from.read(&mut portion) {
            Ok(0) => return,
            Ok(n) => {
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                said.extend(&portion[..n]);
                let over = said.len().saturating_sub(KEPT);
                said.drain(..over);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// What a program writes. Reading fails with [`io::ErrorKind::TimedOut`] if nothing comes for the program's quiet limit.
#[derive(Debug)]
pub struct Output {
    receiver: Receiver<Vec<u8>>,
    portion: Vec<u8>,
    read: usize,
    quiet_limit: Duration,
    ended: bool,
}

impl BufRead for Output {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read >= self.portion.len() && !self.ended {
            self.read = 0;
            self.portion.clear();
            match self.receiver.recv_timeout(self.quiet_limit) {
                Ok(portion) => self.portion = portion,
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "no output for too long",
                    ));
                }
            }
        }
        Ok(&self.portion[self.read..])
    }

    fn consume(&mut self, n: usize) {
        self.read = (self.read + n).min(self.portion.len());
    }
}

impl Read for Output {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let head = self.fill_buf()?;
        let n = head.len().min(out.len());
        out[..n].copy_from_slice(&head[..n]);
        self.consume(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_failure_are_reported() {
        let limit = Duration::from_secs(20);
        let text = Running::start(shell("echo one; echo two"), limit)
            .unwrap()
            .text();
        assert_eq!(text.unwrap(), "one\ntwo\n");
        let failed = Running::start(shell("echo why >&2; exit 3"), limit)
            .unwrap()
            .text();
        assert_eq!(
            failed.unwrap_err().to_string(),
            "/bin/sh failed (exit status: 3); it said:\nwhy"
        );
        let none = Running::start(Command::new("/no/such/program"), limit);
        assert!(
            none.unwrap_err()
                .to_string()
                .starts_with("/no/such/program: cannot be started")
        );
    }

    #[test]
    fn a_quiet_program_is_ended_in_time() {
        let begin = Instant::now();
        let quiet = Running::start(
            shell("echo start >&2; exec sleep 100"),
            Duration::from_millis(300),
        );
        let error = quiet.unwrap().text().unwrap_err().to_string();
        assert!(error.contains("gave no output"), "{error}");
        assert!(error.ends_with("start"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(50));
    }

    #[test]
    fn only_the_end_of_a_long_error_output_is_kept() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1";
        let failed = Running::start(shell(script), Duration::from_secs(20))
            .unwrap()
            .text();
        let text = failed.unwrap_err().to_string();
        assert!(
            text.len() < 2 * KEPT && text.ends_with("line 2999"),
            "{text}"
        );
    }
}
