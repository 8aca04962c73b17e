//! The server: loopback only, a thread per connection, a bounded number of them.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
        let open = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            // A connection that failed before it began is the other side's loss.
            let Ok(stream) = stream else { continue };
            if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
                open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (library, counter, port) = (
                Arc::clone(&self.library),
                Arc::clone(&open),
                self.address.port(),
            );
            let spawned = std::thread::Builder::new().spawn(move || {
                let _leave = Leave(&counter);
                // The other side going away is no event.
                let _ = serve(stream, &library, port);
            });
            if spawned.is_err() {
                open.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }
}

/// Counts a connection out, however it ends.
struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn serve(mut stream: TcpStream, library: &Library, port: u16) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        let request = match read_request(&mut stream, &mut buffer) {
            Ok(request) => request,
            Err(Refusal::Gone) => return Ok(()),
            Err(Refusal::Answer(status, text)) => {
                return Answer::text(status, text).write(&mut stream, false, false);
            }
        };
        // A page of another site whose name was made to point here must not read recordings.
        let answer = if is_local(request.host.as_deref(), port) {
            library.answer(&request.path)
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
    fn only_names_of_this_machine_are_answered() {
        assert!(is_local(Some("127.0.0.1:7000"), 7000));
        assert!(is_local(Some("localhost:7000"), 7000));
        assert!(!is_local(Some("localhost:7001"), 7000));
        assert!(!is_local(Some("evil.example:7000"), 7000));
        assert!(!is_local(Some("127.0.0.1.evil.example:7000"), 7000));
    }
}
