//! A root, an authorisation authority and tickets for tests, as files.
//!
//! | file | what |
//! |---|---|
//! | `root.cert`, `authority.cert`, `NAME.cert` | a certificate, COER |
//! | `root.key`, `authority.key`, `NAME.key` | its secret key: 64 hexadecimal digits, readable by the owner alone |

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use p256::ecdsa::SigningKey;
use thiserror::Error;

use super::certificate::{CertificateError, Known, Role, hex, issue, new_key};
use super::security::{Security, Ticket};
use crate::clock::{its_micros, wall_micros};

/// Why files of keys and certificates cannot be made or used.
#[derive(Debug, Error)]
pub enum PkiError {
    /// A file cannot be read or written.
    #[error("{file}: {error}")]
    File {
        /// Which.
        file: String,
        /// Why.
        error: String,
    },
    /// A certificate is none, or not what it should be.
    #[error("{file}: {error}")]
    Certificate {
        /// Which.
        file: String,
        /// Why.
        error: CertificateError,
    },
}

impl PkiError {
    /// The file that is wrong.
    #[must_use]
    pub fn file(&self) -> &Path {
        match self {
            Self::File { file, .. } | Self::Certificate { file, .. } => Path::new(file),
        }
    }
}

fn file_error(path: &Path, error: impl ToString) -> PkiError {
    PkiError::File {
        file: path.display().to_string(),
        error: error.to_string(),
    }
}

fn wrong(path: &Path) -> impl FnOnce(CertificateError) -> PkiError {
    let file = path.display().to_string();
    move |error| PkiError::Certificate { file, error }
}

/// Writes a certificate and its key; neither may be there yet.
fn write(folder: &Path, name: &str, known: &Known, key: &SigningKey) -> Result<PathBuf, PkiError> {
    let path = folder.join(format!("{name}.key"));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .map_err(|error| file_error(&path, error))?;
    writeln!(file, "{}", hex(&key.to_bytes())).map_err(|error| file_error(&path, error))?;
    let path = folder.join(format!("{name}.cert"));
    fs::write(&path, &known.bytes).map_err(|error| file_error(&path, error))?;
    Ok(path)
}

/// Reads a certificate.
///
/// # Errors
/// The file cannot be read, or holds none.
pub fn read_certificate(path: &Path) -> Result<Known, PkiError> {
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => file_error(
            path,
            format!("{error}; `covey pki` makes root, authority and tickets"),
        ),
        _ => file_error(path, error),
    })?;
    Known::read(&bytes).map_err(wrong(path))
}

fn read_key(path: &Path) -> Result<SigningKey, PkiError> {
    let text = fs::read_to_string(path).map_err(|error| file_error(path, error))?;
    let text = text.trim();
    let digit = |at: usize| {
        text.get(at..at + 2)
            .and_then(|two| u8::from_str_radix(two, 16).ok())
    };
    let bytes: Option<Vec<u8>> = (0..32).map(|k| digit(2 * k)).collect();
    bytes
        .filter(|_| text.len() == 64)
        .and_then(|bytes| SigningKey::from_slice(&bytes).ok())
        .ok_or_else(|| {
            file_error(
                path,
                format!(
                    "found {} characters that are no key, expected 64 hexadecimal digits of one on NIST P-256",
                    text.len()
                ),
            )
        })
}

/// Reads a certificate and the key beside it.
///
/// # Errors
/// A file cannot be read, or they do not belong together.
pub fn read_pair(path: &Path) -> Result<(Known, SigningKey), PkiError> {
    let known = read_certificate(path)?;
    let key_path = path.with_extension("key");
    let key = read_key(&key_path)?;
    if *key.verifying_key() != known.key {
        return Err(file_error(
            &key_path,
            format!("is not the key of {}", path.display()),
        ));
    }
    Ok((known, key))
}

/// Hours that fit a certificate.
const MOST_HOURS: u16 = u16::MAX;
/// Certificates are valid from a little before they are made.
const BEFORE_S: i64 = 3_600;

fn begin_s() -> u32 {
    u32::try_from(its_micros(wall_micros()) / 1_000_000 - BEFORE_S).unwrap_or(0)
}

/// Makes a root and an authority in `folder`, valid for seven years and for three; gives the files of their certificates.
///
/// # Errors
/// They are there already, or cannot be written.
pub fn make_authorities(folder: &Path) -> Result<[PathBuf; 2], PkiError> {
    fs::create_dir_all(folder).map_err(|error| file_error(folder, error))?;
    let made = |name: &str| folder.join(format!("{name}.cert"));
    let (root_key, key) = (
        new_key().map_err(wrong(folder))?,
        new_key().map_err(wrong(folder))?,
    );
    let root = issue(
        Role::Root,
        "Covey test root",
        root_key.verifying_key(),
        begin_s(),
        MOST_HOURS,
        (None, &root_key),
    )
    .map_err(wrong(&made("root")))?;
    let authority = issue(
        Role::Authority,
        "Covey test authorisation authority",
        key.verifying_key(),
        begin_s(),
        3 * 8_766,
        (Some(&root), &root_key),
    )
    .map_err(wrong(&made("authority")))?;
    Ok([
        write(folder, "root", &root, &root_key)?,
        write(folder, "authority", &authority, &key)?,
    ])
}

/// Makes `count` tickets of the authority in `folder`, valid for `hours` from `start` hours from now on, in `out`.
///
/// # Errors
/// The authority cannot be read, or a ticket not be written.
pub fn make_tickets(
    folder: &Path,
    out: &Path,
    count: usize,
    hours: u16,
    start: i64,
) -> Result<Vec<PathBuf>, PkiError> {
    let (authority, key) = read_pair(&folder.join("authority.cert"))?;
    fs::create_dir_all(out).map_err(|error| file_error(out, error))?;
    let begin = u32::try_from(i64::from(begin_s()) + start * 3_600).unwrap_or(0);
    let mut made = Vec::new();
    while made.len() < count {
        let own = new_key().map_err(wrong(out))?;
        let issuer = (Some(&authority), &key);
        let known = issue(Role::Ticket, "", own.verifying_key(), begin, hours, issuer)
            .map_err(wrong(out))?;
        let name = format!("ticket-{}", hex(&known.digest()));
        made.push(write(out, &name, &known, &own)?);
    }
    Ok(made)
}

/// What a station needs: the root and the authority in `folder`, and all tickets in `tickets`, in order of their names.
///
/// # Errors
/// A file cannot be read, or the chain is broken.
pub fn read_security(folder: &Path, tickets: &Path) -> Result<Security, PkiError> {
    let root = read_certificate(&folder.join("root.cert"))?;
    let authority = read_certificate(&folder.join("authority.cert"))?;
    let entries = fs::read_dir(tickets).map_err(|error| {
        file_error(
            tickets,
            format!("{error}; `covey pki tickets` makes such a folder"),
        )
    })?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("ticket-") && name.ends_with(".cert"))
        })
        .collect();
    paths.sort();
    if paths.is_empty() {
        return Err(file_error(
            tickets,
            "found no ticket-….cert, expected some; `covey pki tickets` makes them",
        ));
    }
    let read = paths.iter().map(|path| {
        let (known, key) = read_pair(path)?;
        Ok(Ticket { known, key })
    });
    let list = read.collect::<Result<Vec<_>, PkiError>>()?;
    Security::new(root, authority, list).map_err(wrong(tickets))
}
