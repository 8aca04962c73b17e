//! Where words of the vehicle come from. Each source is a task or a thread of its own that hands them on; one that ends is told of
//! and changes nothing for the others.

use std::io::{self, BufRead as _, BufReader as BlockingReader, Read as _};
use std::net::SocketAddrV4;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Monotonic};

use covey_its::frame::{Message, decode_any};
use covey_its::{Cpm, MAX_MESSAGE_LEN};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Interest,
};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{TcpStream, UdpSocket, UnixListener, UnixStream};
use tokio::sync::mpsc::{self, Sender};

use super::gpsd;
use super::lines::{Answer, Line};
use super::nmea::{self, Fix};

/// The longest line that is read, in bytes.
const MOST_LINE: u64 = 1 << 20;
/// The longest line of NMEA, in bytes; sentences have 82.
const MOST_NMEA: u64 = 1_024;
/// Connections to the local socket at a time.
const MOST_CONNECTIONS: usize = 16;
/// Answers that wait for a slow reader; more are lost.
const MOST_ANSWERS: usize = 64;
/// How long to wait before something that was not there is looked for again.
const AGAIN: Duration = Duration::from_secs(1);

/// Something that the vehicle tells.
#[derive(Debug)]
pub enum Word {
    /// A line, and where to answer.
    Line(Line, Option<Sender<String>>),
    /// A position of a receiver.
    Fix(Fix),
    /// What the own perception says, as a CPM.
    Cpm(Box<Cpm>),
    /// Something that cannot be read: where it came from, what is wrong, where to answer.
    Bad(String, String, Option<Sender<String>>),
}

/// Reads a line, without its end; none at the end of the stream.
async fn read_line<R: AsyncRead + Unpin>(reader: &mut BufReader<R>) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = (&mut *reader)
        .take(MOST_LINE)
        .read_until(b'\n', &mut bytes)
        .await?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && read as u64 == MOST_LINE {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("found a line of more than {MOST_LINE} bytes"),
        ));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim_end().to_string()))
}

/// Opens the local socket at `path`. One that a dead node left is taken away.
///
/// # Errors
/// Something else lies there, or the folder cannot be written.
pub fn open_socket(path: &Path) -> io::Result<UnixListener> {
    match std::fs::symlink_metadata(path) {
        Ok(there) if there.file_type().is_socket() => {
            if std::os::unix::net::UnixStream::connect(path).is_ok() {
                return Err(io::Error::new(
                    io::ErrorKind::AddrInUse,
                    "found another node that listens there",
                ));
            }
            std::fs::remove_file(path)?;
        }
        Ok(_) => {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "found a file that is no socket",
            ));
        }
        Err(_) => {}
    }
    UnixListener::bind(path)
}

/// Serves the local socket.
pub async fn serve_socket(listener: UnixListener, words: Sender<Word>) {
    let places = std::sync::Arc::new(tokio::sync::Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        let Ok(place) = std::sync::Arc::clone(&places).try_acquire_owned() else {
            refuse(&stream);
            continue;
        };
        let words = words.clone();
        tokio::spawn(async move {
            serve_connection(stream, words).await;
            drop(place);
        });
    }
}

/// Says why a connection is not taken, if it is read at once.
fn refuse(stream: &UnixStream) {
    let problem = format!(
        "vehicle.socket: found {MOST_CONNECTIONS} connections, expected at most as many: close one"
    );
    let mut line = serde_json::to_string(&Answer::Error { problem }).unwrap_or_default();
    line.push('\n');
    let _ = stream.try_write(line.as_bytes());
}

/// Until nobody is there to read any more. Who has only said all that it wanted to say still hears answers.
async fn gone(output: &OwnedWriteHalf) {
    while let Ok(ready) = output.ready(Interest::WRITABLE).await {
        if ready.is_write_closed() {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn answer_all(mut output: OwnedWriteHalf, mut answers: mpsc::Receiver<String>) {
    loop {
        let line = tokio::select! {
            line = answers.recv() => line,
            // Who watches keeps its place for as long as it is there, not until the next event.
            () = gone(&output) => None,
        };
        let Some(mut line) = line else {
            return;
        };
        line.push('\n');
        if output.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn serve_connection(stream: UnixStream, words: Sender<Word>) {
    let (input, output) = stream.into_split();
    let (answer, answers) = mpsc::channel::<String>(MOST_ANSWERS);
    let writer = tokio::spawn(answer_all(output, answers));
    let mut reader = BufReader::new(input);
    while let Ok(Some(text)) = read_line(&mut reader).await {
        if text.is_empty() {
            continue;
        }
        let word = match serde_json::from_str(&text) {
            Ok(line) => Word::Line(line, Some(answer.clone())),
            Err(error) => Word::Bad(
                "vehicle.socket".into(),
                error.to_string(),
                Some(answer.clone()),
            ),
        };
        if words.send(word).await.is_err() {
            break;
        }
    }
    drop(answer);
    let _ = writer.await;
}

/// Reads positions from gpsd, for ever. What keeps it from that is told when it changes, not every second.
pub async fn follow_gpsd(address: String, words: Sender<Word>) {
    let mut told = String::new();
    loop {
        let problem = match gpsd_session(&address, &words).await {
            Ok(()) => "the connection was closed".to_string(),
            Err(error) => format!("{error}; tried again every second"),
        };
        if problem != told {
            let bad = Word::Bad("vehicle.gpsd".into(), format!("{address}: {problem}"), None);
            if words.send(bad).await.is_err() {
                return;
            }
            told = problem;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn gpsd_session(address: &str, words: &Sender<Word>) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(gpsd::WATCH.as_bytes()).await?;
    let mut reader = BufReader::new(stream);
    while let Some(text) = read_line(&mut reader).await? {
        let word = match gpsd::read(&text) {
            Ok(Some(fix)) => Word::Fix(fix),
            Ok(None) => continue,
            Err(problem) => Word::Bad("vehicle.gpsd".into(), problem, None),
        };
        if words.send(word).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Reads CPMs of the own perception from a local port.
///
/// # Errors
/// The port cannot be had.
pub async fn open_cpm(address: SocketAddrV4) -> io::Result<UdpSocket> {
    UdpSocket::bind(address).await
}

/// Hands on CPMs, for ever.
pub async fn follow_cpm(socket: UdpSocket, words: Sender<Word>) {
    let mut buffer = vec![0; MAX_MESSAGE_LEN + 1];
    loop {
        let Ok(length) = socket.recv(&mut buffer).await else {
            continue;
        };
        let word = match decode_any(&buffer[..length]).map(|decoded| decoded.message) {
            Ok(Message::Cpm(cpm)) => Word::Cpm(Box::new(cpm)),
            Ok(_) => Word::Bad(
                "vehicle.cpm".into(),
                "found another message, expected a CPM".into(),
                None,
            ),
            Err(error) => Word::Bad("vehicle.cpm".into(), error.to_string(), None),
        };
        if words.send(word).await.is_err() {
            return;
        }
    }
}

/// Hands on the NMEA lines of a file or device, in a thread of its own. A file is played once, at the pace of its times; a device that is
/// not there, or goes away, is looked for every second.
pub fn follow_nmea(path: PathBuf, words: Sender<Word>) {
    std::thread::spawn(move || {
        let name = format!("vehicle.nmea: {}", path.display());
        let mut told = String::new();
        loop {
            let (again, problem) = match std::fs::File::open(&path) {
                Err(error) => (true, format!("{error}; looked for every second")),
                Ok(file) => {
                    let paced = file.metadata().is_ok_and(|data| data.is_file());
                    if !hand_on_nmea(file, paced, &name, &words) {
                        return;
                    }
                    (!paced, "the end was reached".to_string())
                }
            };
            if problem != told {
                let bad = Word::Bad(name.clone(), problem.clone(), None);
                if words.blocking_send(bad).is_err() {
                    return;
                }
                told = problem;
            }
            if !again || words.is_closed() {
                return;
            }
            std::thread::sleep(AGAIN);
        }
    });
}

/// Until its end, or an error; gives whether anybody still listens.
fn hand_on_nmea(file: std::fs::File, paced: bool, name: &str, words: &Sender<Word>) -> bool {
    let bad = |problem: String| Word::Bad(name.to_string(), problem, None);
    let mut pace = Pace::default();
    let mut reader = BlockingReader::new(file);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        // Receivers begin in the middle of a line, which may be anything, and a line without an end is none.
        match (&mut reader).take(MOST_NMEA).read_until(b'\n', &mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return words.blocking_send(bad(error.to_string())).is_ok(),
        }
        let line = String::from_utf8_lossy(&bytes);
        if line.trim().is_empty() {
            continue;
        }
        let word = match nmea::read(&line) {
            Ok(Some(fix)) => {
                if paced && let Some(time) = fix.unix_ms {
                    pace.wait(time as f64);
                }
                Word::Fix(fix)
            }
            Ok(None) => continue,
            Err(error) => bad(error.to_string()),
        };
        if words.blocking_send(word).is_err() {
            return false;
        }
    }
}

/// Plays a file of lines once, at the pace of its times, in a thread of its own.
pub fn play(path: &Path, file: std::fs::File, words: Sender<Word>) {
    let name = format!("vehicle.replay: {}", path.display());
    std::thread::spawn(move || {
        let bad = |problem: String| Word::Bad(name.clone(), problem, None);
        let mut pace = Pace::default();
        for (number, line) in BlockingReader::new(file).lines().enumerate() {
            let line = match line {
                Ok(line) => line,
                // What cannot be read now cannot be read the next time.
                Err(error) => {
                    let _ = words.blocking_send(bad(format!("line {}: {error}", number + 1)));
                    return;
                }
            };
            let read = serde_json::from_str(&line)
                .map_err(|error| format!("line {}: {error}", number + 1));
            let word = match read {
                Ok(mut line) => {
                    // Times are those of the recording: it is played as if it happened now.
                    let time = match &mut line {
                        Line::State(state) => state.time_ms.take(),
                        Line::Sensed(sensed) => sensed.time_ms.take(),
                        _ => None,
                    };
                    if let Some(time) = time {
                        pace.wait(time);
                    }
                    Word::Line(line, None)
                }
                Err(problem) => bad(problem),
            };
            if words.blocking_send(word).is_err() {
                return;
            }
        }
        let _ = words.blocking_send(bad("the end was reached".to_string()));
    });
}

/// Waits so that times pass as they did.
#[derive(Debug, Default)]
struct Pace {
    begin: Option<(Monotonic, f64)>,
}

impl Pace {
    fn wait(&mut self, time_ms: f64) {
        let (begin, first) = *self.begin.get_or_insert((Monotonic::now(), time_ms));
        let after = (time_ms - first).clamp(0.0, 86_400_000.0);
        let due = begin + Duration::from_micros((after * 1_000.0) as u64);
        let now = Monotonic::now();
        if due > now {
            std::thread::sleep(due - now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream as Client;

    use super::*;

    fn path(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("covey-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn connect(path: &Path) -> Client {
        let mut client = Client::connect(path).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        client.write_all(b"{\"type\":\"watch\"}\n").unwrap();
        client
    }

    /// Waits for the next word on the socket, and keeps where to answer as one who watches does.
    async fn next(heard: &mut mpsc::Receiver<Word>, watchers: &mut Vec<Sender<String>>) -> bool {
        match tokio::time::timeout(Duration::from_secs(1), heard.recv()).await {
            Ok(Some(Word::Line(Line::Watch {}, Some(reply)))) => {
                watchers.push(reply);
                true
            }
            _ => false,
        }
    }

    #[test]
    fn who_watched_and_is_gone_keeps_no_place() {
        let path = path("places.sock");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (words, mut heard) = mpsc::channel(64);
            tokio::spawn(serve_socket(open_socket(&path).unwrap(), words));
            let mut watchers = Vec::new();
            let mut clients = Vec::new();
            for _ in 0..MOST_CONNECTIONS {
                clients.push(connect(&path));
                assert!(next(&mut heard, &mut watchers).await);
            }
            // One more is told why it is not taken.
            let more = connect(&path);
            assert!(!next(&mut heard, &mut watchers).await);
            let mut line = String::new();
            BlockingReader::new(more).read_line(&mut line).unwrap();
            assert!(line.contains("found 16 connections"), "{line}");
            // Who has only said everything still hears; nothing happens that could be told to those who are gone.
            let last = clients.pop().unwrap();
            last.shutdown(std::net::Shutdown::Write).unwrap();
            drop(clients);
            let mut taken = false;
            for _ in 0..5 {
                let _again = connect(&path);
                taken = next(&mut heard, &mut watchers).await;
                if taken {
                    break;
                }
            }
            assert!(taken, "places of the gone are free again");
            let reply = &watchers[MOST_CONNECTIONS - 1];
            reply.send("hello".to_string()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            line.clear();
            BlockingReader::new(last).read_line(&mut line).unwrap();
            assert_eq!(line, "hello\n");
        });
        let _ = std::fs::remove_file(&path);
    }

    #[test]
    fn a_receiver_that_is_plugged_in_later_is_found() {
        let path = path("track.nmea");
        let (words, mut heard) = mpsc::channel(8);
        follow_nmea(path.clone(), words);
        let Some(Word::Bad(from, problem, None)) = heard.blocking_recv() else {
            panic!("it should say that there is none");
        };
        assert!(from.starts_with("vehicle.nmea: ") && problem.contains("looked for"));
        // It begins in the middle of a line, and not in UTF-8.
        let lines = b"\xff\xfe,N,0113\n$GPRMC,120000,A,4807.038,N,01131.000,E,0.0,0.0,010126,,\n";
        let beside = path.with_extension("beside");
        std::fs::write(&beside, lines).unwrap();
        std::fs::rename(&beside, &path).unwrap();
        assert!(matches!(heard.blocking_recv(), Some(Word::Bad(..))));
        assert!(matches!(heard.blocking_recv(), Some(Word::Fix(_))));
        assert!(
            matches!(heard.blocking_recv(), Some(Word::Bad(_, problem, _)) if problem.contains("end"))
        );
        assert!(heard.blocking_recv().is_none(), "a file is played once");
        let _ = std::fs::remove_file(&path);
    }
}
