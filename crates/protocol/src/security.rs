//! What signing adds to a message.
//!
//! Nothing is signed here; bytes are counted as ETSI TS 103 097 (V2.1.1, on IEEE 1609.2) lays them out. A signed message names its
//! signer by the digest of a certificate, or carries the certificate. CAMs carry it in the first and then once a second (7.1.1); the
//! same rule is taken for reports and broadcasts, for which the standard leaves it open.

use crate::time::{Duration, Instant};

covey_parameters::choices! {
    /// Whether messages are signed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Security {
        /// No message is.
        None = "none",
        /// Every message is, with a digest of the certificate, and once a second with the certificate.
        Signed = "signed",
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(Security);

/// From one certificate to the next.
const CERTIFICATE_EVERY: Duration = Duration::from_millis(1_000);
/// The envelope without its signer: versions and choices, header with ITS-AID and time of generation, signature of 64 B.
const ENVELOPE_BYTES: u32 = 84;
/// A signer named by digest: 8 B and a choice.
const DIGEST_BYTES: u32 = 9;
/// A signer with its certificate: a choice, a list of one, and an authorization ticket of 145 B (130 to 160 are seen).
const CERTIFICATE_BYTES: u32 = 3 + 145;

impl Security {
    /// Bytes that it adds to a message, with the certificate or with its digest.
    #[must_use]
    pub const fn bytes(self, certificate: bool) -> u32 {
        match (self, certificate) {
            (Self::None, _) => 0,
            (Self::Signed, false) => ENVELOPE_BYTES + DIGEST_BYTES,
            (Self::Signed, true) => ENVELOPE_BYTES + CERTIFICATE_BYTES,
        }
    }
}

/// When somebody last sent its certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CertificateTimer(Option<Instant>);

impl CertificateTimer {
    /// The message that is sent now carries the certificate: the first does, then one a second.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let due = self.0.is_none_or(|at| now.since(at) >= CERTIFICATE_EVERY);
        if due {
            self.0 = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_a_second_carries_the_certificate() {
        let mut timer = CertificateTimer::default();
        let sent: std::vec::Vec<i64> = (0..31)
            .filter(|k| timer.is_due(Instant::from_millis(50 + 100 * k)))
            .collect();
        assert_eq!(sent, [0, 10, 20, 30]);
        assert_eq!(Security::None.bytes(true), 0);
        assert_eq!([false, true].map(|c| Security::Signed.bytes(c)), [93, 232]);
    }
}
