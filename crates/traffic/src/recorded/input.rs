//! Opening recordings: format by content, line counting, bounds on memory.

use super::error::{At, FcdError, Place};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// No tag, comment or line of a recording may be longer, so that a file that is not what it seems cannot fill the memory.
const LONGEST_ITEM: u64 = 4 << 20;

/// What a file holds, by its first bytes.
pub(super) enum Opened {
    Xml(Text),
    /// A table as text.
    Csv(Text),
    Parquet(File),
}

/// Opens `path` and finds out what it is from its content; the name's ending does not matter.
pub(super) fn open(path: &Path) -> Result<Opened, FcdError> {
    let name = path.display().to_string();
    let read = |source| FcdError::Read {
        file: name.clone(),
        source,
    };
    let file = File::open(path).map_err(read)?;
    if file.metadata().map_err(read)?.is_dir() {
        return Err(FcdError::NotFloatingCarData {
            file: name,
            found: "a folder".into(),
        });
    }
    let mut raw = BufReader::with_capacity(1 << 16, file);
    let head = raw.fill_buf().map_err(read)?;
    if head.starts_with(b"PAR1") {
        drop(raw);
        return Ok(Opened::Parquet(File::open(path).map_err(read)?));
    }
    text(name, Box::new(raw))
}

/// Unpacks gzip and tells XML from tables.
pub(super) fn text(name: String, mut inner: Box<dyn BufRead + Send>) -> Result<Opened, FcdError> {
    let broken = |error: io::Error, name: &str| match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            FcdError::Truncated {
                place: Place {
                    file: name.to_owned(),
                    at: At::Line(1),
                },
                found: error.to_string(),
            }
        }
        _ => FcdError::Read {
            file: name.to_owned(),
            source: error,
        },
    };
    let head = inner.fill_buf().map_err(|e| broken(e, &name))?;
    if head.starts_with(&[0x1f, 0x8b]) {
        inner = Box::new(BufReader::with_capacity(
            1 << 16,
            MultiGzDecoder::new(inner),
        ));
    }
    let head = inner.fill_buf().map_err(|e| broken(e, &name))?;
    if head.starts_with(&[0xef, 0xbb, 0xbf]) {
        inner.consume(3);
    }
    let head = inner.fill_buf().map_err(|e| broken(e, &name))?;
    let what = if head.is_empty() {
        Some("an empty file")
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Some("a file packed with zstd (unpack it first)")
    } else if head.starts_with(b"PK") {
        Some("a zip archive (unpack it first)")
    } else if head.contains(&0) {
        Some("binary data of an unknown kind")
    } else {
        None
    };
    if let Some(found) = what {
        return Err(FcdError::NotFloatingCarData {
            file: name,
            found: found.into(),
        });
    }
    let xml = head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'<');
    let text = Text {
        name,
        inner,
        line: 1,
        item: 0,
    };
    Ok(if xml {
        Opened::Xml(text)
    } else {
        Opened::Csv(text)
    })
}

/// A text being read, which knows its line and refuses items without end.
pub(crate) struct Text {
    name: String,
    inner: Box<dyn BufRead + Send>,
    line: u64,
    item: u64,
}

impl Text {
    /// The line that reading has come to.
    pub(super) fn place(&self) -> Place {
        self.place_at(self.line)
    }

    /// A given line of this text.
    pub(super) fn place_at(&self, line: u64) -> Place {
        Place {
            file: self.name.clone(),
            at: At::Line(line),
        }
    }

    /// The line that reading has come to, counted from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// A new tag or line begins: the bound on its length starts anew.
    pub(crate) fn begin_item(&mut self) {
        self.item = 0;
    }

    /// The error for a failed read, with the place it failed at.
    pub(super) fn broken(&self, error: io::Error) -> FcdError {
        match error.kind() {
            // A gzip stream cut short or damaged, and our own bound.
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidData => FcdError::Truncated {
                place: self.place(),
                found: error.to_string(),
            },
            _ => FcdError::Read {
                file: self.name.clone(),
                source: error,
            },
        }
    }
}

impl Read for Text {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let head = self.fill_buf()?;
        let n = head.len().min(out.len());
        out[..n].copy_from_slice(&head[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Text {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.item > LONGEST_ITEM {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("one tag or line is longer than {LONGEST_ITEM} bytes"),
            ));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        // `fill_buf` gives the same bytes again as long as nothing was consumed; it cannot fail with bytes at hand.
        if let Ok(head) = self.inner.fill_buf() {
            let n = n.min(head.len());
            self.line += head[..n].iter().filter(|&&b| b == b'\n').count() as u64;
        }
        self.item += n as u64;
        self.inner.consume(n);
    }
}
