//! A station's own tickets, what it knows of others' certificates, and what it asks for.
//!
//! The certificate goes with the first message of an application, then once a second, and at once after somebody asked for it; its
//! digest goes with all others. The rule is that of CAMs (TS 103 097, 7.1.1); CPMs follow it, too, which the standard leaves open.
//! Whoever signs with an unknown certificate is asked for it in the header of the next CAM.

use std::collections::{BTreeMap, HashMap};

use p256::ecdsa::SigningKey;

use super::certificate::{
    self, AID_CAM, AID_CPM, CertificateError, Digest8, Known, hex, message_hash,
};
use super::envelope::{self, Closed, Header, Signer};

/// A certificate goes out so often, in microseconds; a little early, so that a beat of 100 ms meets it.
const CERTIFICATE_US: i64 = 950_000;
/// However often it is asked for, it goes no oftener than this.
const ASKED_US: i64 = 200_000;
/// A frame signed longer ago is a replay, and so is one from ahead by more.
pub const FRESH_US: i64 = 2_000_000;
/// Certificates of others that are kept; the longest unheard goes first.
const MOST_PEERS: usize = 1_024;
/// Authorities that are known.
const MOST_AUTHORITIES: usize = 64;
/// Certificates asked for in one message.
const MOST_ASKED: usize = 8;

/// Why a frame is not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is not signed.
    Unsigned,
    /// It cannot be read.
    Unreadable,
    /// The signature, or the signer's certificate, is wrong.
    WronglySigned,
    /// The signer's certificate is not valid at this time.
    Expired,
    /// It was signed too long ago, or ahead of time.
    Replayed,
    /// The signer's certificate is not known yet; it is asked for.
    UnknownSigner,
    /// The certificate does not allow this application.
    NotPermitted,
}

/// A certificate of one's own, with its key.
#[derive(Clone)]
pub struct Ticket {
    /// The certificate.
    pub known: Known,
    /// Its key.
    pub key: SigningKey,
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ticket {}", hex(&self.known.digest()))
    }
}

impl Ticket {
    /// The station id that goes with it: the last four bytes of its hash, so that both change together.
    #[must_use]
    pub fn station_id(&self) -> u32 {
        let hash = &self.known.hash;
        u32::from_be_bytes([hash[28], hash[29], hash[30], hash[31]])
    }
}

#[derive(Debug)]
struct Peer {
    known: Known,
    heard_us: i64,
}

/// Signs and verifies for one station.
#[derive(Debug)]
pub struct Security {
    tickets: Vec<Ticket>,
    current: usize,
    /// Those who issue tickets, by digest; true ones alone.
    authorities: BTreeMap<Digest8, Known>,
    root: Known,
    peers: HashMap<Digest8, Peer>,
    /// When the certificate last went with messages of an application.
    told_us: HashMap<u32, i64>,
    /// Somebody asked for the own certificate.
    asked: bool,
    /// An authority that somebody asked for.
    give: Option<Digest8>,
    /// Digests that are not known, and when they were last seen.
    wanted: BTreeMap<[u8; 3], i64>,
    /// Certificates asked for and given, for the tally.
    pub(crate) counts: [u64; 2],
}

impl Security {
    /// With a root that is trusted, an authority below it, and tickets.
    ///
    /// # Errors
    /// The chain is broken, or there is no ticket.
    pub fn new(
        root: Known,
        authority: Known,
        tickets: Vec<Ticket>,
    ) -> Result<Self, CertificateError> {
        root.check_issued_by(None)?;
        authority.check_issued_by(Some(&root))?;
        if tickets.is_empty() {
            return Err(CertificateError::Encoding("no ticket".to_string()));
        }
        for ticket in &tickets {
            match ticket.known.issuer() {
                Some(issuer) if issuer == authority.digest() => {
                    ticket.known.check_issued_by(Some(&authority))?;
                }
                Some(other) => return Err(CertificateError::Issuer(other)),
                None => return Err(CertificateError::Signature),
            }
        }
        Ok(Self {
            tickets,
            current: 0,
            authorities: BTreeMap::from([(authority.digest(), authority)]),
            root,
            peers: HashMap::new(),
            told_us: HashMap::new(),
            asked: false,
            give: None,
            wanted: BTreeMap::new(),
            counts: [0; 2],
        })
    }

    /// The ticket in use.
    #[must_use]
    pub fn ticket(&self) -> &Ticket {
        &self.tickets[self.current]
    }

    /// How many tickets there are.
    #[must_use]
    pub fn tickets(&self) -> usize {
        self.tickets.len()
    }

    /// Takes the next ticket that is valid at `its_us`; gives whether it is another one.
    pub fn change(&mut self, its_us: i64) -> bool {
        let all = self.tickets.len();
        let next = (1..all)
            .map(|on| (self.current + on) % all)
            .find(|&at| self.tickets[at].known.is_valid_at(its_us));
        let Some(next) = next else {
            return false;
        };
        self.current = next;
        self.told_us.clear();
        self.asked = false;
        true
    }

    /// Takes in one more authority of the same root.
    ///
    /// # Errors
    /// It is none of this root.
    pub fn trust(&mut self, authority: Known) -> Result<(), CertificateError> {
        if authority.issuer() != Some(self.root.digest()) {
            return Err(CertificateError::Signature);
        }
        authority.check_issued_by(Some(&self.root))?;
        self.authorities.insert(authority.digest(), authority);
        Ok(())
    }

    /// Signs a frame of application `aid` at `its_us`.
    ///
    /// # Errors
    /// Something does not fit its ASN.1 type, which no frame of ours does.
    pub fn seal(
        &mut self,
        its_us: i64,
        aid: u32,
        frame: &[u8],
    ) -> Result<Vec<u8>, CertificateError> {
        let due = self
            .told_us
            .get(&aid)
            .is_none_or(|&told| its_us - told >= CERTIFICATE_US || its_us < told);
        let in_cam = aid == AID_CAM;
        let patient = self
            .told_us
            .get(&aid)
            .is_none_or(|&told| its_us - told >= ASKED_US);
        let with_certificate = due || (in_cam && self.asked && patient);
        let mut header = Header {
            aid,
            generated_us: its_us,
            ..Header::default()
        };
        if in_cam {
            self.wanted
                .retain(|_, &mut seen| (0..1_000_000).contains(&(its_us - seen)));
            header.asks = self.wanted.keys().copied().take(MOST_ASKED).collect();
            self.counts[0] += header.asks.len() as u64;
            self.wanted.clear();
            let give = self.give.take();
            header.gives = give
                .and_then(|digest| self.authorities.get(&digest))
                .map(|known| known.certificate.clone());
            self.counts[1] += u64::from(header.gives.is_some());
        }
        let ticket = &self.tickets[self.current];
        let signer = if with_certificate {
            self.told_us.insert(aid, its_us);
            if in_cam {
                self.counts[1] += u64::from(self.asked);
                self.asked = false;
            }
            Signer::Certificate(Box::new(ticket.known.certificate.clone()))
        } else {
            Signer::Digest(ticket.known.digest())
        };
        envelope::seal(frame, &header, signer, &ticket.known.hash, &ticket.key)
    }

    /// Checks a frame heard at `its_us`, and gives it without its envelope.
    ///
    /// # Errors
    /// It is not to be believed.
    pub fn open(&mut self, its_us: i64, frame: &[u8]) -> Result<Vec<u8>, Refusal> {
        let opened = envelope::open(frame).map_err(|closed| match closed {
            Closed::Unsigned => Refusal::Unsigned,
            Closed::Unreadable => Refusal::Unreadable,
        })?;
        if (its_us - opened.header.generated_us).abs() > FRESH_US {
            return Err(Refusal::Replayed);
        }
        // Whoever asks may be somebody whose own certificate is not known here yet; what it costs is bounded, and certificates
        // that are given stand for themselves.
        self.heed(&opened.header);
        let digest = match opened.signer {
            Signer::Digest(digest) => digest,
            Signer::Certificate(certificate) => self.learn(its_us, *certificate)?,
        };
        let Some(peer) = self.peers.get_mut(&digest) else {
            self.want(its_us, digest);
            return Err(Refusal::UnknownSigner);
        };
        peer.heard_us = its_us;
        let known = &peer.known;
        if !known.is_valid_at(opened.header.generated_us) {
            return Err(Refusal::Expired);
        }
        if !known.permits(opened.header.aid) {
            return Err(Refusal::NotPermitted);
        }
        let hash = message_hash(&opened.to_be_signed, &known.hash);
        if !certificate::verify(&known.key, &hash, &opened.signature) {
            return Err(Refusal::WronglySigned);
        }
        if !fits(opened.header.aid, &opened.frame) {
            return Err(Refusal::NotPermitted);
        }
        Ok(opened.frame)
    }

    /// Takes in the certificate of a signer; gives its digest.
    fn learn(
        &mut self,
        its_us: i64,
        certificate: rasn_its::ieee1609dot2::Certificate,
    ) -> Result<Digest8, Refusal> {
        let known = Known::of(certificate).map_err(|_| Refusal::WronglySigned)?;
        let digest = known.digest();
        if self.peers.contains_key(&digest) {
            return Ok(digest);
        }
        let issuer = known.issuer().ok_or(Refusal::WronglySigned)?;
        let Some(authority) = self.authorities.get(&issuer) else {
            self.want(its_us, issuer);
            return Err(Refusal::UnknownSigner);
        };
        if !authority.is_valid_at(its_us) || !known.is_valid_at(its_us) {
            return Err(Refusal::Expired);
        }
        if known.issues() || known.check_issued_by(Some(authority)).is_err() {
            return Err(Refusal::WronglySigned);
        }
        if self.peers.len() >= MOST_PEERS {
            let oldest = self.peers.iter().min_by_key(|(_, peer)| peer.heard_us);
            if let Some(oldest) = oldest.map(|(&digest, _)| digest) {
                self.peers.remove(&oldest);
            }
        }
        self.peers.insert(
            digest,
            Peer {
                known,
                heard_us: its_us,
            },
        );
        Ok(digest)
    }

    /// Does what a message asks for, and takes what it gives.
    fn heed(&mut self, header: &Header) {
        let own = self.ticket().known.digest();
        for asked in &header.asks {
            if own.ends_with(asked) {
                self.asked = true;
            }
            let authority = self.authorities.keys().find(|d| d.ends_with(asked));
            if let Some(&digest) = authority {
                self.give = Some(digest);
            }
        }
        let Some(given) = &header.gives else {
            return;
        };
        if self.authorities.len() < MOST_AUTHORITIES
            && let Ok(known) = Known::of(given.clone())
            && known.issuer() == Some(self.root.digest())
            && known.check_issued_by(Some(&self.root)).is_ok()
        {
            self.authorities.insert(known.digest(), known);
        }
    }

    fn want(&mut self, its_us: i64, digest: Digest8) {
        if self.wanted.len() < 4 * MOST_ASKED {
            self.wanted
                .insert([digest[5], digest[6], digest[7]], its_us);
        }
    }
}

/// The application of a signature is that of the message: a ticket for one is none for the other. What is neither CAM nor CPM is
/// left to whoever reads it.
fn fits(aid: u32, frame: &[u8]) -> bool {
    // Ethernet, basic and common header, single-hop broadcast: then the port.
    let port = frame.get(54..56).map(|p| u16::from_be_bytes([p[0], p[1]]));
    match port {
        Some(covey_its::frame::PORT_CAM) => aid == AID_CAM,
        Some(covey_its::frame::PORT_CPM) => aid == AID_CPM,
        _ => true,
    }
}
