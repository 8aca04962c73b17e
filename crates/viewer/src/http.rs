//! As much of HTTP/1.1 as a page on the same machine needs: GET and HEAD without a body.
//!
//! Requests are parsed by `httparse`; what is here is the reading with limits and the writing of answers. A request longer than
//! [`MAX_HEAD`] or slower than the socket's timeout ends the connection.

use std::io::{self, Read, Write};

/// Bytes that a request may have.
pub(crate) const MAX_HEAD: usize = 16 << 10;

const MAX_HEADERS: usize = 64;

/// What the page may load and do: nothing but what this server gives.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The playground runs WebAssembly besides, in a worker.
const PLAYGROUND: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; \
                          img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A request, as far as it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// Path without query.
    pub(crate) path: String,
    /// HEAD: the answer has no body.
    pub(crate) head_only: bool,
    /// The connection may serve another request.
    pub(crate) keep_alive: bool,
    /// The host that the browser believes to speak to.
    pub(crate) host: Option<String>,
    /// It has the page's own header, which no page of another site can send.
    pub(crate) by_page: bool,
}

/// Why there is no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The other side has gone, or was too slow.
    Gone,
    /// It is answered with a status and a text.
    Answer(u16, &'static str),
}

/// Reads one request. `buffer` keeps what came after it.
pub(crate) fn read_request(
    stream: &mut impl Read,
    buffer: &mut Vec<u8>,
) -> Result<Request, Refusal> {
    loop {
        if let Some((request, used)) = parse(buffer)? {
            buffer.drain(..used);
            return Ok(request);
        }
        if buffer.len() >= MAX_HEAD {
            return Err(Refusal::Answer(431, "the request is too long"));
        }
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return Err(Refusal::Gone),
            Ok(n) => buffer.extend_from_slice(&bytes[..n]),
        }
    }
}

/// The request at the beginning of `bytes` and its length, once it is complete.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let used = match request.parse(bytes) {
        Ok(httparse::Status::Complete(used)) => used,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Refusal::Answer(400, "this is no HTTP request")),
    };
    let header = |name: &str| {
        let mut found = request.headers.iter();
        let found = found.find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value).trim().to_string())
    };
    let head_only = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(Refusal::Answer(405, "only GET and HEAD are answered")),
    };
    let has_body = header("transfer-encoding").is_some()
        || header("content-length").is_some_and(|length| length != "0");
    if has_body {
        return Err(Refusal::Answer(400, "a request with a body is not read"));
    }
    let target = request.path.unwrap_or("/");
    let path = target.split(['?', '#']).next().unwrap_or("/");
    let wants_close = header("connection").is_some_and(|c| c.eq_ignore_ascii_case("close"));
    Ok(Some((
        Request {
            path: path.to_string(),
            head_only,
            keep_alive: request.version == Some(1) && !wants_close,
            host: header("host"),
            by_page: header("x-covey").is_some(),
        },
        used,
    )))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    /// The name under which a browser saves it, where it shall.
    pub(crate) save_as: Option<String>,
    /// It is part of the playground.
    pub(crate) runs_wasm: bool,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn ok(content_type: &'static str, body: Vec<u8>) -> Self {
        Self {
            status: 200,
            content_type,
            save_as: None,
            runs_wasm: false,
            body,
        }
    }

    pub(crate) fn json(body: String) -> Self {
        Self::ok("application/json", body.into_bytes())
    }

    /// A status with a text for the person who sees it.
    pub(crate) fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            save_as: None,
            runs_wasm: false,
            body: format!("{text}\n").into_bytes(),
        }
    }

    pub(crate) fn write(
        &self,
        stream: &mut impl Write,
        head_only: bool,
        keep_alive: bool,
    ) -> io::Result<()> {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            422 => "Unprocessable Content",
            431 => "Request Header Fields Too Large",
            _ => "Error",
        };
        let policy = if self.runs_wasm { PLAYGROUND } else { POLICY };
        let mut head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n\
             Cache-Control: no-store\r\nContent-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n",
            self.status,
            self.content_type,
            self.body.len(),
            if keep_alive { "keep-alive" } else { "close" },
        );
        if self.status == 405 {
            head.push_str("Allow: GET, HEAD\r\n");
        }
        if let Some(name) = &self.save_as {
            head.push_str(&format!(
                "Content-Disposition: attachment; filename=\"{name}\"\r\n"
            ));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        if !head_only {
            stream.write_all(&self.body)?;
        }
        stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }
    }

    #[test]
    fn requests_are_read_one_after_the_other() {
        let bytes = b"GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD / HTTP/1.0\r\n\r\n";
        let mut stream = &bytes[..];
        let mut buffer = Vec::new();
        let first = read_request(&mut stream, &mut buffer).unwrap();
        assert_eq!((first.path.as_str(), first.keep_alive), ("/a", true));
        assert_eq!(first.host.as_deref(), Some("localhost"));
        let second = read_request(&mut stream, &mut buffer).unwrap();
        assert!(second.head_only && !second.keep_alive);
        assert_eq!(read_request(&mut stream, &mut buffer), Err(Refusal::Gone));
    }

    #[test]
    fn what_is_not_answered_is_said() {
        let status = |text: &str| match parse(text.as_bytes()) {
            Err(Refusal::Answer(status, _)) => status,
            other => panic!("{other:?}"),
        };
        assert_eq!(status("POST / HTTP/1.1\r\n\r\n"), 405);
        assert_eq!(status("GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\n"), 400);
        assert_eq!(status("\u{1}\u{2}\r\n\r\n"), 400);
        let endless = format!("GET /{} HTTP/1.1\r\n", "a".repeat(MAX_HEAD));
        let refusal = read_request(&mut endless.as_bytes(), &mut Vec::new());
        assert!(
            matches!(refusal, Err(Refusal::Answer(431, _))),
            "{refusal:?}"
        );
    }
}
