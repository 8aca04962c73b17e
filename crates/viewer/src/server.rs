//! The server: loopback only, a thread per connection, a bounded number of them.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::api::Library;
use crate::http::{Answer, Refusal, read_request};

/// Connections at a time; a browser opens about six.
const MAX_CONNECTIONS: usize = 64;

/// How long a connection may be silent.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why there is no server.
#[derive(Debug, Error)]
#[error(
    "port {port} of {} cannot be used: {source}; choose another with --port, or 0 for any",
    Ipv4Addr::LOCALHOST
)]
pub struct ServerError {
    /// The port asked for.
    pub port: u16,
    /// What the system said.
    pub source: io::Error,
}

/// Serves recordings to browsers on this machine.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    library: Arc<Library>,
}

impl Server {
    /// Takes a port of the loopback address; 0 takes a free one.
    ///
    /// # Errors
    /// The port is taken or not allowed.
    pub fn bind(port: u16, library: Library) -> Result<Self, ServerError> {
        let failed = |source| ServerError { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            library: Arc::new(library),
        })
    }

    /// Where a browser finds it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until the process ends.
    pub fn run(&self) {
        self.run_until(&AtomicBool::new(false));
    }

    /// Serves on a thread of its own, until what is given back is closed or dropped.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn spawn(self) -> io::Result<Serving> {
        let stop = Arc::new(AtomicBool::new(false));
        let (address, flag) = (self.address, Arc::clone(&stop));
        let thread = std::thread::Builder::new().spawn(move || self.run_until(&flag))?;
        Ok(Serving {
            address,
            stop,
            thread: Some(thread),
        })
    }

    fn run_until(&self, stop: &AtomicBool) {
        let guests = Arc::new(Guests::default());
        for stream in self.listener.incoming() {
            if stop.load(Ordering::Relaxed) {
                return guests.dismiss();
            }
            // A connection that failed before it began is the other side's loss.
            let Ok(stream) = stream else { continue };
            let Some(guest) = guests.admit(&stream) else {
                continue;
            };
            let (library, all, port) = (
                Arc::clone(&self.library),
                Arc::clone(&guests),
                self.address.port(),
            );
            let spawned = std::thread::Builder::new().spawn(move || {
                let leave = Leave(&all, guest);
                // The other side going away is no event.
                let _ = serve(stream, &library, port, &leave);
            });
            if spawned.is_err() {
                guests.remove(guest);
            }
        }
    }
}

/// A server at work.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Where a browser finds it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// It still serves.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.thread.is_some()
    }

    /// Ends it and gives its port back. Once is enough.
    pub fn close(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.stop.store(true, Ordering::Relaxed);
        // It waits for the next connection: here it is. Where none can be made, nobody can reach it either.
        if TcpStream::connect(self.address).is_ok() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.close();
    }
}

/// Who is connected. Where all places are taken, whoever has kept a place without asking for anything for longest has to go: slow ones
/// cannot keep others out.
#[derive(Debug, Default)]
struct Guests(Mutex<(u64, Vec<Guest>)>);

#[derive(Debug)]
struct Guest {
    number: u64,
    stream: TcpStream,
    /// Since when its next request is waited for; none while it is answered.
    waiting: Option<Instant>,
}

impl Guests {
    fn lock(&self) -> std::sync::MutexGuard<'_, (u64, Vec<Guest>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more; none where everybody is being answered.
    fn admit(&self, stream: &TcpStream) -> Option<u64> {
        let stream = stream.try_clone().ok()?;
        let mut inside = self.lock();
        let (next, guests) = &mut *inside;
        if guests.len() >= MAX_CONNECTIONS {
            let waiting = guests.iter().enumerate();
            let waiting = waiting.filter_map(|(at, guest)| Some((guest.waiting?, at)));
            let (_, at) = waiting.min()?;
            // Its thread sees the end of the stream and leaves.
            let _ = guests.swap_remove(at).stream.shutdown(Shutdown::Both);
        }
        *next += 1;
        guests.push(Guest {
            number: *next,
            stream,
            waiting: Some(Instant::now()),
        });
        Some(*next)
    }

    /// Everybody goes.
    fn dismiss(&self) {
        for guest in &self.lock().1 {
            // Its thread sees the end of the stream and leaves.
            let _ = guest.stream.shutdown(Shutdown::Both);
        }
    }

    fn remove(&self, number: u64) {
        self.lock().1.retain(|guest| guest.number != number);
    }

    fn note(&self, number: u64, waiting: Option<Instant>) {
        let mut inside = self.lock();
        if let Some(guest) = inside.1.iter_mut().find(|guest| guest.number == number) {
            guest.waiting = waiting;
        }
    }
}

/// A connection's place, given back however it ends.
struct Leave<'a>(&'a Guests, u64);

impl Leave<'_> {
    fn waits(&self) {
        self.0.note(self.1, Some(Instant::now()));
    }

    fn is_answered(&self) {
        self.0.note(self.1, None);
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.remove(self.1);
    }
}

fn serve(mut stream: TcpStream, library: &Library, port: u16, place: &Leave<'_>) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        place.waits();
        let request = match read_request(&mut stream, &mut buffer) {
            Ok(request) => request,
            Err(Refusal::Gone) => return Ok(()),
            Err(Refusal::Answer(status, text)) => {
                return Answer::text(status, text).write(&mut stream, false, false);
            }
        };
        place.is_answered();
        // A page of another site whose name was made to point here must not read recordings.
        let answer = if is_local(request.host.as_deref(), port) {
            library.answer(&request)
        } else {
            Answer::text(403, "open the address that `covey view` printed")
        };
        answer.write(&mut stream, request.head_only, request.keep_alive)?;
        if !request.keep_alive {
            return Ok(());
        }
    }
}

fn is_local(host: Option<&str>, port: u16) -> bool {
    let Some(host) = host else { return true };
    let (name, given) = match host.rsplit_once(':') {
        Some((name, given)) => (name, given.parse().ok()),
        None => (host, Some(80)),
    };
    (name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")) && given == Some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_closed_gives_its_port_back() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server {
            listener,
            address,
            library: Arc::new(Library::default()),
        };
        let mut serving = server.spawn().unwrap();
        assert!(TcpStream::connect(address).is_ok() && serving.is_open());
        serving.close();
        serving.close();
        assert!(!serving.is_open());
        assert!(TcpListener::bind(address).is_ok());
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        assert!(is_local(Some("127.0.0.1:7000"), 7000));
        assert!(is_local(Some("localhost:7000"), 7000));
        assert!(!is_local(Some("localhost:7001"), 7000));
        assert!(!is_local(Some("evil.example:7000"), 7000));
        assert!(!is_local(Some("127.0.0.1.evil.example:7000"), 7000));
    }
}
