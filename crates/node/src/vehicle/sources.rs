//! Where words of the vehicle come from. Each source is a task or a thread of its own that hands them on; one that ends is told of
//! and changes nothing for the others.

use std::io::{self, BufRead as _, BufReader as BlockingReader};
use std::net::SocketAddrV4;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Monotonic};

use covey_its::frame::{Message, decode_any};
use covey_its::{Cpm, MAX_MESSAGE_LEN};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::net::{TcpStream, UdpSocket, UnixListener, UnixStream};
use tokio::sync::mpsc::{self, Sender};

use super::gpsd;
use super::lines::Line;
use super::nmea::{self, Fix};

/// The longest line that is read, in bytes.
const MOST_LINE: u64 = 1 << 20;
/// Connections to the local socket at a time.
const MOST_CONNECTIONS: usize = 16;
/// Answers that wait for a slow reader; more are lost.
const MOST_ANSWERS: usize = 64;
/// How long to wait before gpsd is called again.
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
            continue;
        };
        let words = words.clone();
        tokio::spawn(async move {
            serve_connection(stream, words).await;
            drop(place);
        });
    }
}

async fn serve_connection(stream: UnixStream, words: Sender<Word>) {
    let (input, mut output) = stream.into_split();
    let (answer, mut answers) = mpsc::channel::<String>(MOST_ANSWERS);
    let writer = tokio::spawn(async move {
        while let Some(mut line) = answers.recv().await {
            line.push('\n');
            if output.write_all(line.as_bytes()).await.is_err() {
                break;
            }
        }
    });
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

/// Reads positions from gpsd, for ever.
pub async fn follow_gpsd(address: String, words: Sender<Word>) {
    loop {
        let problem = match gpsd_session(&address, &words).await {
            Ok(()) => "the connection was closed".to_string(),
            Err(error) => error.to_string(),
        };
        let bad = Word::Bad("vehicle.gpsd".into(), format!("{address}: {problem}"), None);
        if words.send(bad).await.is_err() {
            return;
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

/// Hands on the NMEA lines of a file or device, in a thread of its own. A file is played at the pace of its times.
pub fn follow_nmea(path: PathBuf, words: Sender<Word>) {
    std::thread::spawn(move || {
        let name = format!("vehicle.nmea: {}", path.display());
        let bad = |problem: String| Word::Bad(name.clone(), problem, None);
        let file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) => {
                let _ = words.blocking_send(bad(error.to_string()));
                return;
            }
        };
        let paced = file.metadata().is_ok_and(|data| data.is_file());
        let mut pace = Pace::default();
        for line in BlockingReader::new(file).lines() {
            let word = match line.map_err(|error| error.to_string()) {
                Ok(line) if line.trim().is_empty() => continue,
                Ok(line) => match nmea::read(&line) {
                    Ok(Some(fix)) => {
                        if paced && let Some(time) = fix.unix_ms {
                            pace.wait(time as f64);
                        }
                        Word::Fix(fix)
                    }
                    Ok(None) => continue,
                    Err(error) => bad(error.to_string()),
                },
                Err(problem) => bad(problem),
            };
            if words.blocking_send(word).is_err() {
                return;
            }
        }
        let _ = words.blocking_send(bad("the end was reached".to_string()));
    });
}

/// Plays a file of lines once, at the pace of its times, in a thread of its own.
pub fn play(path: PathBuf, words: Sender<Word>) {
    std::thread::spawn(move || {
        let name = format!("vehicle.replay: {}", path.display());
        let bad = |problem: String| Word::Bad(name.clone(), problem, None);
        let file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) => {
                let _ = words.blocking_send(bad(error.to_string()));
                return;
            }
        };
        let mut pace = Pace::default();
        for (number, line) in BlockingReader::new(file).lines().enumerate() {
            let line = line.map_err(|error| error.to_string());
            let read = line.and_then(|line| {
                serde_json::from_str(&line).map_err(|error| format!("line {}: {error}", number + 1))
            });
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
