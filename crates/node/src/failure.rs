//! Why a node cannot start or go on, with what to do about it.

use std::io::{self, ErrorKind};

use thiserror::Error;

use crate::config::{Checked, ConfigError};

/// Why a node cannot start or go on.
#[derive(Debug, Error)]
pub enum NodeError {
    /// The configuration, or a file that it names, is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A socket, port or user cannot be had.
    #[error("{file}: {what}: {problem}")]
    Machine {
        /// The configuration.
        file: String,
        /// What, by its key.
        what: String,
        /// Why, and what helps.
        problem: String,
    },
}

impl NodeError {
    /// The configuration or a file is wrong, not the machine.
    #[must_use]
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Machine { .. })
    }

    /// A key has a value that cannot be used.
    pub(crate) fn input(checked: &Checked, problem: String) -> Self {
        let file = checked.name();
        Self::Config(ConfigError { file, problem })
    }

    /// The machine refuses what is asked for by a key: `what` is the key and its value.
    pub(crate) fn machine(checked: &Checked, what: &str, error: &io::Error) -> Self {
        let key = what.split(':').next().unwrap_or_default();
        let problem = match advice(key, error.kind()) {
            Some(advice) => format!("{error}; {advice}"),
            None => error.to_string(),
        };
        Self::Machine {
            file: checked.name(),
            what: what.to_string(),
            problem,
        }
    }
}

/// What helps, where that is known.
fn advice(key: &str, kind: ErrorKind) -> Option<&'static str> {
    Some(match (key, kind) {
        ("status_port", ErrorKind::AddrInUse) => "choose another port, or 0 for any",
        ("status_port", ErrorKind::PermissionDenied) => "choose a port above 1023",
        ("radio.interface", ErrorKind::PermissionDenied) => {
            "raw frames need CAP_NET_RAW: run as root with `user` set, or give the capability as docs/node.md shows"
        }
        ("radio.interface", ErrorKind::NotConnected) => {
            "the interface was taken away: start again once it is back"
        }
        ("radio.local", _) => {
            "expected the address of one of the machine's interfaces, such as \"127.0.0.1\", or \"0.0.0.0\""
        }
        ("radio.listen" | "radio.group" | "vehicle.cpm", ErrorKind::AddrInUse) => {
            "another program has it: choose another port"
        }
        ("radio.listen" | "vehicle.cpm", ErrorKind::PermissionDenied) => "choose a port above 1023",
        ("radio.listen", ErrorKind::AddrNotAvailable) => {
            "expected an address of one of the machine's interfaces"
        }
        ("vehicle.socket", ErrorKind::AddrInUse) => "stop it, or choose another path",
        ("vehicle.socket", ErrorKind::AlreadyExists) => "choose another path",
        ("vehicle.socket", ErrorKind::NotFound) => "make its folder first",
        ("vehicle.socket", ErrorKind::PermissionDenied) => {
            "choose a folder that this user may write to"
        }
        ("vehicle.socket", ErrorKind::InvalidInput) => "choose a path of at most 107 bytes",
        ("user", ErrorKind::PermissionDenied) => {
            "only root can go on as another user: leave it out, or start as root"
        }
        ("user", ErrorKind::NotFound) => "expected the name of a user of this machine",
        _ => return None,
    })
}
