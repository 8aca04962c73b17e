//! Signed frames: TS 103 097 on IEEE 1609.2.
//!
//! - [`certificate`]: certificates, keys, signatures: what is hashed and what is checked.
//! - [`envelope`]: a GeoNetworking packet in its envelope and out again.
//! - [`security`]: a station's tickets, the certificates of others that it learned, and what it asks for.
//! - [`pki`]: a root, an authorisation authority and tickets for tests, as files.
//!
//! What is not here: enrolment, revocation lists, certificate trust lists, hardware keys. A certified PKI has these.

pub mod certificate;
pub mod envelope;
pub mod pki;
pub mod security;
mod skim;

pub use security::{Refusal, Security};
