//! Structured logs: one JSON object a line on standard error.

use std::io::Write as _;

use covey_protocol::Instant;
use serde_json::{Map, Value, json};

use crate::clock::unix_micros;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What keeps it from working.
    Error,
    /// What is odd.
    Warn,
    /// What happens: offices, pseudonyms, beginning and end.
    Info,
    /// Every decision, too.
    Debug,
}

impl Level {
    /// By its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "error" => Self::Error,
            "warn" => Self::Warn,
            "info" => Self::Info,
            "debug" => Self::Debug,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

/// Writes lines.
#[derive(Debug, Clone, Copy)]
pub struct Log {
    level: Level,
}

impl Log {
    /// Tells everything up to `level`.
    #[must_use]
    pub fn new(level: Level) -> Self {
        Self { level }
    }

    /// Tells `event` with its fields. That nobody listens is no reason to stop.
    pub fn tell(&self, level: Level, now: Instant, event: &str, fields: Value) {
        if level > self.level {
            return;
        }
        let mut line = Map::new();
        line.insert("time".into(), json!(unix_micros(now) as f64 * 1e-6));
        line.insert("level".into(), level.name().into());
        line.insert("event".into(), event.into());
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        let _ = writeln!(std::io::stderr().lock(), "{}", Value::Object(line));
    }
}
