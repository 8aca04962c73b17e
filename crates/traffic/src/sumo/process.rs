//! A program that runs, is listened to, and is ended with its owner.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
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

/// How often it is looked whether a program is to be ended.
const GLANCE: Duration = Duration::from_millis(25);

/// Runs a program and ends it when standard input does, which happens when whoever began it has ended, in whatever way.
const GUARD: &str = r#"exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
( exec >/dev/null 2>&1; read -r _ <&3; kill -KILL $program ) &
watch=$!
exec 3<&-
wait $program
status=$?
kill $watch 2>/dev/null
exit $status"#;

/// A flag by which programs that are waited for are ended early. Without a flag they never are.
#[derive(Debug, Clone, Default)]
pub struct Stop(Option<Arc<AtomicBool>>);

impl Stop {
    /// Programs are ended when `flag` is set.
    #[must_use]
    pub fn new(flag: Arc<AtomicBool>) -> Self {
        Self(Some(flag))
    }

    /// The flag is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl PartialEq for Stop {
    /// How to stop is no part of what is done.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A running program, ended when this is dropped, and when this process ends, even by a kill. It has a process group of its own: what
/// is typed at the terminal of this one does not reach it.
#[derive(Debug)]
pub struct Running {
    program: PathBuf,
    child: Child,
    /// Its end is the program's.
    life: Option<ChildStdin>,
    stop: Stop,
    said: Arc<Mutex<VecDeque<u8>>>,
    listener: Option<JoinHandle<()>>,
    output: Option<Output>,
    quiet_limit: Duration,
}

impl Running {
    /// Starts `command`; reading its output fails if none comes for `quiet_limit`, or when `stop` is set.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: Command, quiet_limit: Duration, stop: Stop) -> Result<Self, SumoError> {
        let program = PathBuf::from(command.get_program());
        let failed = |source| SumoError::Start {
            program: program.clone(),
            source,
        };
        // The shell would only say so later.
        if program.components().count() > 1 {
            std::fs::metadata(&program).map_err(failed)?;
        }
        let mut child = guarded(&command).spawn().map_err(failed)?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed(io::Error::other("its output cannot be read")));
        };
        let life = child.stdin.take();
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
            life,
            stop: stop.clone(),
            said,
            listener: Some(listener),
            output: Some(Output {
                receiver,
                portion: Vec::new(),
                read: 0,
                quiet_limit,
                stop,
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

    /// The error for a read that failed: the program was to be ended, or was quiet for too long.
    #[must_use]
    pub fn quiet(&self) -> SumoError {
        if self.stop.is_set() {
            return SumoError::Stopped;
        }
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
                Ok(None) if begin.elapsed() < self.quiet_limit && !self.stop.is_set() => {
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
        // The guard ends the program, and then itself.
        self.life = None;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(2) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
        // Ended already is as good; nothing else can be done about either.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The command under its guard, in a process group of its own.
fn guarded(command: &Command) -> Command {
    let mut guarded = Command::new("/bin/sh");
    guarded.args(["-c", GUARD, "guard"]);
    guarded.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        guarded.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => guarded.env(name, value),
            None => guarded.env_remove(name),
        };
    }
    guarded
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    guarded
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

/// What a program writes. Reading fails with [`io::ErrorKind::TimedOut`] if nothing comes for the program's quiet limit, or if the
/// program is to be ended.
#[derive(Debug)]
pub struct Output {
    receiver: Receiver<Vec<u8>>,
    portion: Vec<u8>,
    read: usize,
    quiet_limit: Duration,
    stop: Stop,
    ended: bool,
}

impl BufRead for Output {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read >= self.portion.len() && !self.ended {
            self.read = 0;
            self.portion.clear();
            let begin = Instant::now();
            loop {
                if self.stop.is_set() {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "stopped"));
                }
                match self.receiver.recv_timeout(GLANCE.min(self.quiet_limit)) {
                    Ok(portion) => self.portion = portion,
                    Err(RecvTimeoutError::Disconnected) => self.ended = true,
                    Err(RecvTimeoutError::Timeout) if begin.elapsed() < self.quiet_limit => {
                        continue;
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        return Err(io::Error::new(
                            io::ErrorKind::TimedOut,
                            "no output for too long",
                        ));
                    }
                }
                break;
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

    fn start(command: Command, limit: Duration) -> Result<Running, SumoError> {
        Running::start(command, limit, Stop::default())
    }

    /// The process of this number is there and no mere remainder.
    fn lives(process: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn a_program_ends_with_its_owner_and_when_told() {
        for told in [false, true] {
            let flag = Arc::new(AtomicBool::new(false));
            let stop = Stop::new(Arc::clone(&flag));
            let script = "echo $$; exec sleep 100";
            let mut running = Running::start(shell(script), Duration::from_secs(50), stop).unwrap();
            let mut output = running.take_output().unwrap();
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            let process = line.trim().to_string();
            assert!(lives(&process));
            let begin = Instant::now();
            if told {
                flag.store(true, Ordering::Relaxed);
                assert!(output.read_line(&mut line).is_err());
                assert!(matches!(running.quiet(), SumoError::Stopped));
                assert!(matches!(running.finish(), Err(SumoError::Stopped)));
            }
            drop(running);
            while lives(&process) && begin.elapsed() < Duration::from_secs(20) {
                thread::sleep(Duration::from_millis(5));
            }
            assert!(begin.elapsed() < Duration::from_secs(1), "told: {told}");
        }
    }

    #[test]
    fn output_and_failure_are_reported() {
        let limit = Duration::from_secs(20);
        let text = start(shell("echo one; echo two"), limit).unwrap().text();
        assert_eq!(text.unwrap(), "one\ntwo\n");
        let failed = start(shell("echo why >&2; exit 3"), limit).unwrap().text();
        assert_eq!(
            failed.unwrap_err().to_string(),
            "/bin/sh failed (exit status: 3); it said:\nwhy"
        );
        let none = start(Command::new("/no/such/program"), limit);
        assert!(
            none.unwrap_err()
                .to_string()
                .starts_with("/no/such/program: cannot be started")
        );
    }

    #[test]
    fn a_quiet_program_is_ended_in_time() {
        let begin = Instant::now();
        let quiet = start(
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
        let failed = start(shell(script), Duration::from_secs(20))
            .unwrap()
            .text();
        let text = failed.unwrap_err().to_string();
        assert!(
            text.len() < 2 * KEPT && text.ends_with("line 2999"),
            "{text}"
        );
    }
}
