//! The status page and metrics, on the loopback address alone.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::tally::Tally;

/// What is shown, as of the last cycle.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    pub(crate) station: u64,
    pub(crate) role: &'static str,
    pub(crate) tile: Option<[i32; 2]>,
    pub(crate) contributors: usize,
    pub(crate) price: f64,
    pub(crate) objects: usize,
    pub(crate) occupancy: f64,
    /// Where `occupancy` comes from.
    pub(crate) measured_by: &'static str,
    pub(crate) signed: bool,
    pub(crate) has_place: bool,
    pub(crate) uptime_s: f64,
    pub(crate) tally: Tally,
    /// Of the participant.
    pub(crate) refusals: Vec<(&'static str, u64)>,
}

/// What the loop writes and the page reads.
pub(crate) type Shared = Arc<Mutex<Shown>>;

/// Opens the port.
pub(crate) async fn open(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await
}

/// Serves for ever.
pub(crate) async fn serve(listener: TcpListener, shared: Shared) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            let shown = shared
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            tokio::spawn(async move {
                let patience = Duration::from_secs(5);
                let _ = tokio::time::timeout(patience, answer(stream, &shown)).await;
            });
        } else {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn answer(mut stream: TcpStream, shown: &Shown) -> io::Result<()> {
    let mut head = Vec::new();
    let (status, kind, body) = loop {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&head) {
            Ok(httparse::Status::Complete(_)) => {
                let host = request
                    .headers
                    .iter()
                    .find(|h| h.name.eq_ignore_ascii_case("host"));
                break match host.is_none_or(|host| is_local(host.value)) {
                    true => respond(request.method, request.path, shown),
                    false => (
                        "403 Forbidden",
                        "text/plain",
                        "localhost or 127.0.0.1 alone\n".to_string(),
                    ),
                };
            }
            Ok(httparse::Status::Partial) if head.len() < 8_192 => {
                let mut part = [0; 1_024];
                let read = stream.read(&mut part).await?;
                if read == 0 {
                    return Ok(());
                }
                head.extend_from_slice(&part[..read]);
            }
            _ => break ("400 Bad Request", "text/plain", "no request\n".to_string()),
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// The page was asked for under a name of this machine: a page of another site, whose name was made to lead here, does not get it.
fn is_local(host: &[u8]) -> bool {
    let host = std::str::from_utf8(host).unwrap_or_default();
    let name = host.split_once(':').map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1"
}

fn respond(
    method: Option<&str>,
    path: Option<&str>,
    shown: &Shown,
) -> (&'static str, &'static str, String) {
    if method != Some("GET") {
        return (
            "405 Method Not Allowed",
            "text/plain",
            "GET alone\n".to_string(),
        );
    }
    match path {
        Some("/") => ("200 OK", "text/html", page(shown)),
        Some("/metrics") => ("200 OK", "text/plain; version=0.0.4", metrics(shown)),
        _ => (
            "404 Not Found",
            "text/plain",
            "/ and /metrics\n".to_string(),
        ),
    }
}

/// Metrics in the text format of Prometheus.
fn metrics(shown: &Shown) -> String {
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, value: f64| {
        let _ = write!(
            text,
            "# HELP covey_{name} {help}\n# TYPE covey_{name} gauge\ncovey_{name} {value}\n"
        );
    };
    gauge("station_id", "The station's number.", shown.station as f64);
    gauge(
        "host",
        "1 while it hosts a tile.",
        f64::from(u8::from(shown.role == "host")),
    );
    gauge(
        "contributors",
        "Stations that it asks for reports.",
        shown.contributors as f64,
    );
    gauge("price", "The congestion price of its tile.", shown.price);
    gauge("objects", "Objects that it knows.", shown.objects as f64);
    gauge(
        "occupancy",
        "Share of the channel that is busy.",
        shown.occupancy,
    );
    gauge(
        "has_place",
        "1 while it knows where it is.",
        f64::from(u8::from(shown.has_place)),
    );
    gauge(
        "uptime_seconds",
        "Since it was switched on.",
        shown.uptime_s,
    );
    for (name, help, value) in shown.tally.list() {
        let _ = write!(
            text,
            "# HELP covey_{name}_total {help}\n# TYPE covey_{name}_total counter\ncovey_{name}_total {value}\n"
        );
    }
    text.push_str("# HELP covey_refused_total What the participant did not believe.\n# TYPE covey_refused_total counter\n");
    for (why, value) in &shown.refusals {
        let _ = writeln!(text, "covey_refused_total{{why=\"{why}\"}} {value}");
    }
    let _ = write!(
        text,
        "# HELP covey_occupancy_source Where the occupancy comes from.\n# TYPE covey_occupancy_source gauge\ncovey_occupancy_source{{by=\"{}\"}} 1\n",
        shown.measured_by
    );
    text
}

fn page(shown: &Shown) -> String {
    let mut text = String::from(
        "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=1><title>covey node</title>\
         <style>body{font:16px/1.5 system-ui,sans-serif;margin:2em;max-width:50em}td{padding:0 1em 0 0}</style>",
    );
    let tile = shown
        .tile
        .map_or_else(|| "none".to_string(), |[x, y]| format!("{x}, {y}"));
    let _ = write!(text, "<h1>Station {}</h1><table>", shown.station);
    for (name, value) in [
        ("role", shown.role.to_string()),
        ("tile that it hosts", tile),
        ("contributors", shown.contributors.to_string()),
        ("price", format!("{:.3}", shown.price)),
        ("objects known", shown.objects.to_string()),
        (
            "channel busy",
            format!("{:.1} % ({})", shown.occupancy * 100.0, shown.measured_by),
        ),
        (
            "frames",
            if shown.signed { "signed" } else { "not signed" }.to_string(),
        ),
        (
            "place",
            if shown.has_place {
                "known"
            } else {
                "not known: silent"
            }
            .to_string(),
        ),
        ("since", format!("{:.0} s", shown.uptime_s)),
    ] {
        let _ = write!(text, "<tr><td>{name}<td>{value}");
    }
    text.push_str("</table><h2>Counts</h2><table>");
    for (_, help, value) in shown.tally.list() {
        let _ = write!(text, "<tr><td>{value}<td>{help}");
    }
    for (why, value) in &shown.refusals {
        let _ = write!(text, "<tr><td>{value}<td>Not believed: {why}.");
    }
    text.push_str("</table><p><a href=/metrics>metrics</a>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_machines_are_refused() {
        for host in ["127.0.0.1", "127.0.0.1:7407", "localhost:7407", "LocalHost"] {
            assert!(is_local(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:7407",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
        ] {
            assert!(!is_local(host.as_bytes()), "{host}");
        }
        assert!(!is_local(b"\xff"));
    }

    #[test]
    fn only_two_pages_and_only_get() {
        let shown = Shown {
            role: "host",
            measured_by: "own counts",
            ..Shown::default()
        };
        assert_eq!(respond(Some("GET"), Some("/"), &shown).0, "200 OK");
        let (_, _, metrics) = respond(Some("GET"), Some("/metrics"), &shown);
        assert!(
            metrics.contains("\ncovey_host 1\n") && metrics.contains("\ncovey_frames_total 0\n")
        );
        // Every line is a comment or a name and a number.
        for line in metrics.lines().filter(|line| !line.starts_with('#')) {
            let value = line.rsplit(' ').next().unwrap();
            assert!(
                line.starts_with("covey_") && value.parse::<f64>().is_ok(),
                "{line}"
            );
        }
        assert!(
            respond(Some("GET"), Some("/etc/passwd"), &shown)
                .0
                .starts_with("404")
        );
        assert!(
            respond(Some("POST"), Some("/"), &shown)
                .0
                .starts_with("405")
        );
    }
}
