//! Certificates of IEEE 1609.2 in ETSI's profile, explicit ones with keys on NIST P-256.

use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use p256::ecdsa::{Signature as P256Signature, SigningKey, VerifyingKey};
use rasn::types::{FixedOctetString, Integer, OctetString};
use rasn_its::ieee1609dot2::base_types::{
    BasePublicEncryptionKey, BitmapSsp, CrlSeries, Duration as Validity, EccP256CurvePoint,
    EcdsaP256Signature, HashAlgorithm, HashedId3, HashedId8, Hostname, Psid, PsidSsp, PsidSspRange,
    PublicEncryptionKey, PublicVerificationKey, SequenceOfPsidSsp, SequenceOfPsidSspRange,
    ServiceSpecificPermissions, Signature, SymmAlgorithm, Time32, ValidityPeriod,
};
use rasn_its::ieee1609dot2::{
    Certificate, CertificateBase, CertificateId, CertificateType, ExplicitCertificate,
    IssuerIdentifier, PsidGroupPermissions, SequenceOfPsidGroupPermissions, SubjectPermissions,
    ToBeSignedCertificate, VerificationKeyIndicator,
};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::skim;

/// ITS application id of CAMs (TS 102 965).
pub const AID_CAM: u32 = 36;
/// ITS application id of CPMs, fused states included (TS 102 965).
pub const AID_CPM: u32 = 639;
/// Those of revocation lists and trust lists, which a root signs.
const AID_CRL: u32 = 622;
const AID_CTL: u32 = 624;

/// The last eight bytes of a certificate's hash, by which messages name it.
pub type Digest8 = [u8; 8];

/// Why a certificate cannot be made or used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// It does not fit its ASN.1 type, or is none.
    #[error("found no certificate of IEEE 1609.2 in COER: {0}")]
    Encoding(String),
    /// Its key or signature is of another kind.
    #[error(
        "found {found}, expected an explicit certificate with a key and a signature on NIST P-256"
    )]
    Kind {
        /// What it has.
        found: &'static str,
    },
    /// The signature is not its issuer's.
    #[error("its signature is not that of its issuer")]
    Signature,
    /// The issuer is not known.
    #[error("its issuer {} is not known", hex(.0))]
    Issuer(Digest8),
    /// The machine has no random numbers.
    #[error("no random numbers: {0}")]
    Random(String),
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// What is signed: the hash of both hashes, of the data and of the signer's certificate (of nothing, where somebody signs itself).
#[must_use]
pub fn message_hash(data: &[u8], signer: &[u8; 32]) -> [u8; 32] {
    let mut both = [0; 64];
    both[..32].copy_from_slice(&sha256(data));
    both[32..].copy_from_slice(signer);
    sha256(&both)
}

/// A new key.
///
/// # Errors
/// The machine has no random numbers.
pub fn new_key() -> Result<SigningKey, CertificateError> {
    loop {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|e| CertificateError::Random(e.to_string()))?;
        // Of 2^32 numbers one is none.
        if let Ok(key) = SigningKey::from_slice(&bytes) {
            return Ok(key);
        }
    }
}

/// Signs `hash`.
///
/// # Errors
/// The key cannot sign.
pub fn sign(key: &SigningKey, hash: &[u8; 32]) -> Result<Signature, CertificateError> {
    let signature: P256Signature = key
        .sign_prehash(hash)
        .map_err(|error| CertificateError::Encoding(error.to_string()))?;
    let (r, s) = signature.split_bytes();
    Ok(Signature::EcdsaNistP256(
        EcdsaP256Signature::builder()
            .r_sig(EccP256CurvePoint::XOnly(FixedOctetString::new(r.into())))
            .s_sig(FixedOctetString::new(s.into()))
            .build(),
    ))
}

/// Whether `signature` is that of `key` on `hash`.
#[must_use]
pub fn verify(key: &VerifyingKey, hash: &[u8; 32], signature: &Signature) -> bool {
    let Signature::EcdsaNistP256(signature) = signature else {
        return false;
    };
    let r = match &signature.r_sig {
        EccP256CurvePoint::XOnly(x)
        | EccP256CurvePoint::CompressedY0(x)
        | EccP256CurvePoint::CompressedY1(x) => **x,
        EccP256CurvePoint::Uncompressed(point) => *point.x,
        EccP256CurvePoint::Fill(()) => return false,
    };
    let mut both = [0; 64];
    both[..32].copy_from_slice(&r);
    both[32..].copy_from_slice(&*signature.s_sig);
    P256Signature::from_slice(&both)
        .is_ok_and(|signature| key.verify_prehash(hash, &signature).is_ok())
}

fn point(key: &VerifyingKey) -> EccP256CurvePoint {
    let bytes = key.to_sec1_point(true);
    let bytes = bytes.as_bytes();
    let mut x = [0; 32];
    x.copy_from_slice(&bytes[1..33]);
    let x = FixedOctetString::new(x);
    if bytes[0] == 2 {
        EccP256CurvePoint::CompressedY0(x)
    } else {
        EccP256CurvePoint::CompressedY1(x)
    }
}

fn key_of(point: &EccP256CurvePoint) -> Option<VerifyingKey> {
    let mut bytes = vec![0];
    match point {
        EccP256CurvePoint::CompressedY0(x) => {
            bytes[0] = 2;
            bytes.extend(**x);
        }
        EccP256CurvePoint::CompressedY1(x) => {
            bytes[0] = 3;
            bytes.extend(**x);
        }
        EccP256CurvePoint::Uncompressed(point) => {
            bytes[0] = 4;
            bytes.extend(*point.x);
            bytes.extend(*point.y);
        }
        EccP256CurvePoint::XOnly(_) | EccP256CurvePoint::Fill(()) => return None,
    }
    VerifyingKey::from_sec1_bytes(&bytes).ok()
}

/// A certificate that was read, with what it takes to use it.
#[derive(Debug, Clone)]
pub struct Known {
    /// As it is sent.
    pub certificate: Certificate,
    /// Its canonical bytes.
    pub bytes: Vec<u8>,
    /// Their hash.
    pub hash: [u8; 32],
    /// The key that verifies what it signs.
    pub key: VerifyingKey,
    /// From when to when it is valid, microseconds of ITS time.
    pub valid_us: (i64, i64),
}

impl Known {
    /// Reads a certificate from its bytes; whether it is true is not checked.
    ///
    /// # Errors
    /// It is none, or of a kind that is not supported.
    pub fn read(bytes: &[u8]) -> Result<Self, CertificateError> {
        skim::certificate(bytes).map_err(|_| CertificateError::Kind {
            found: "no certificate of TS 103 097's profile",
        })?;
        let certificate: Certificate = rasn::coer::decode(bytes)
            .map_err(|error| CertificateError::Encoding(error.to_string()))?;
        Self::of(certificate)
    }

    /// Of a certificate that came in a message.
    ///
    /// # Errors
    /// It is of a kind that is not supported.
    pub fn of(certificate: Certificate) -> Result<Self, CertificateError> {
        let kind = |found| CertificateError::Kind { found };
        let mut base: CertificateBase = (*certificate).clone();
        if base.version != CertificateBase::VERSION {
            return Err(kind("another version"));
        }
        if !base.is_explicit() {
            return Err(kind("an implicit certificate"));
        }
        let VerificationKeyIndicator::VerificationKey(PublicVerificationKey::EcdsaNistP256(p)) =
            &base.to_be_signed.verify_key_indicator
        else {
            return Err(kind("a key on another curve"));
        };
        let key = key_of(p).ok_or(kind("a key that is no point of the curve"))?;
        // The canonical form, which is hashed: points compressed, of a signature's point the x alone.
        base.to_be_signed.verify_key_indicator = VerificationKeyIndicator::VerificationKey(
            PublicVerificationKey::EcdsaNistP256(point(&key)),
        );
        if let Some(Signature::EcdsaNistP256(signature)) = &mut base.signature
            && let EccP256CurvePoint::CompressedY0(x) | EccP256CurvePoint::CompressedY1(x) =
                &signature.r_sig
        {
            signature.r_sig = EccP256CurvePoint::XOnly(*x);
        }
        let valid_us = validity(&base.to_be_signed.validity_period);
        let certificate = wrapped(base)?;
        let bytes = encode(&certificate)?;
        Ok(Self {
            hash: sha256(&bytes),
            certificate,
            bytes,
            key,
            valid_us,
        })
    }

    /// By what messages name it.
    #[must_use]
    pub fn digest(&self) -> Digest8 {
        let mut digest = [0; 8];
        digest.copy_from_slice(&self.hash[24..]);
        digest
    }

    /// The digest of its issuer; none where it signed itself.
    #[must_use]
    pub fn issuer(&self) -> Option<Digest8> {
        match &self.certificate.issuer {
            IssuerIdentifier::Sha256AndDigest(id) => Some(*id.0),
            _ => None,
        }
    }

    /// It is valid at `its_us`.
    #[must_use]
    pub fn is_valid_at(&self, its_us: i64) -> bool {
        (self.valid_us.0..self.valid_us.1).contains(&its_us)
    }

    /// It may sign messages of this application.
    #[must_use]
    pub fn permits(&self, aid: u32) -> bool {
        let permissions = &self.certificate.to_be_signed.app_permissions;
        permissions.as_ref().is_some_and(|all| {
            all.0
                .iter()
                .any(|one| u32::try_from(&one.psid.0).is_ok_and(|psid| psid == aid))
        })
    }

    /// It may issue certificates.
    #[must_use]
    pub fn issues(&self) -> bool {
        self.certificate
            .to_be_signed
            .cert_issue_permissions
            .is_some()
    }

    /// What its holder is called; empty for tickets, which have no name.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.certificate.to_be_signed.id {
            CertificateId::Name(name) => name.0.as_str(),
            _ => "",
        }
    }

    /// The signature is that of `issuer`, or its own where there is none.
    ///
    /// # Errors
    /// It is not, or the issuer may not issue.
    pub fn check_issued_by(&self, issuer: Option<&Self>) -> Result<(), CertificateError> {
        if self.issuer() != issuer.map(Self::digest) {
            return Err(CertificateError::Signature);
        }
        let (key, hash) = match issuer {
            Some(issuer) if issuer.issues() => (&issuer.key, issuer.hash),
            Some(_) => return Err(CertificateError::Signature),
            None => (&self.key, sha256(&[])),
        };
        let data = encode(&self.certificate.to_be_signed)?;
        let signed = self.certificate.signature.as_ref();
        let hash = message_hash(&data, &hash);
        match signed.is_some_and(|signature| verify(key, &hash, signature)) {
            true => Ok(()),
            false => Err(CertificateError::Signature),
        }
    }
}

fn wrapped(base: CertificateBase) -> Result<Certificate, CertificateError> {
    ExplicitCertificate::new(base)
        .map(Certificate::from)
        .map_err(|error| CertificateError::Encoding(format!("{error:?}")))
}

fn encode<T: rasn::Encode>(value: &T) -> Result<Vec<u8>, CertificateError> {
    rasn::coer::encode(value).map_err(|error| CertificateError::Encoding(error.to_string()))
}

/// Microseconds of ITS time from when to when.
fn validity(period: &ValidityPeriod) -> (i64, i64) {
    let start = i64::from(period.start.0) * 1_000_000;
    let (count, unit_us) = match period.duration {
        Validity::Microseconds(count) => (count, 1),
        Validity::Milliseconds(count) => (count, 1_000),
        Validity::Seconds(count) => (count, 1_000_000),
        Validity::Minutes(count) => (count, 60_000_000),
        Validity::Hours(count) => (count, 3_600_000_000),
        Validity::SixtyHours(count) => (count, 216_000_000_000),
        // 1609.2 counts a year as 31,556,952 s.
        Validity::Years(count) => (count, 31_556_952_000_000),
    };
    (start, start + i64::from(count) * unit_us)
}

/// What a new certificate is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It issues those of authorities and signs itself.
    Root,
    /// It issues tickets.
    Authority,
    /// It signs CAMs and CPMs and has no name.
    Ticket,
}

fn psid(aid: u32) -> Psid {
    Psid(Integer::from(aid))
}

fn app(aid: u32, ssp: &[u8]) -> PsidSsp {
    PsidSsp::builder()
        .psid(psid(aid))
        .ssp(ServiceSpecificPermissions::BitmapSsp(BitmapSsp(
            OctetString::from(ssp.to_vec()),
        )))
        .build()
}

/// What a certificate of `role` may sign, and issue.
fn permissions(role: Role) -> (Option<Vec<PsidSsp>>, Option<SequenceOfPsidGroupPermissions>) {
    let range = |aid| PsidSspRange::builder().psid(psid(aid)).build();
    let group = |subject, chain: i32| {
        SequenceOfPsidGroupPermissions(vec![
            PsidGroupPermissions::builder()
                .subject_permissions(subject)
                .min_chain_length(Integer::from(chain))
                .build(),
        ])
    };
    match role {
        Role::Root => (
            Some(vec![app(AID_CRL, &[1]), app(AID_CTL, &[1, 0xFF])]),
            Some(group(SubjectPermissions::All(()), 2)),
        ),
        Role::Authority => (
            None,
            Some(group(
                SubjectPermissions::Explicit(SequenceOfPsidSspRange(vec![
                    range(AID_CAM),
                    range(AID_CPM),
                ])),
                1,
            )),
        ),
        // A CAM without special containers; a CPM by its version alone.
        Role::Ticket => (
            Some(vec![app(AID_CAM, &[1, 0, 0]), app(AID_CPM, &[1])]),
            None,
        ),
    }
}

/// Makes a certificate of `role` for `key`, valid for `hours` from `start_s` (seconds of ITS time) on, signed by `issuer` with its
/// key; a root signs itself with its own.
///
/// # Errors
/// A value does not fit its ASN.1 type, or the machine has no random numbers.
pub fn issue(
    role: Role,
    name: &str,
    key: &VerifyingKey,
    start_s: u32,
    hours: u16,
    issuer: (Option<&Known>, &SigningKey),
) -> Result<Known, CertificateError> {
    let made = |error: rasn::error::InnerSubtypeConstraintError| {
        CertificateError::Encoding(format!("{error:?}"))
    };
    let (apps, issues) = permissions(role);
    // TS 103 097 wants an authority to have a key for requests, too; nobody holds its other half here.
    let encryption = match role {
        Role::Authority => Some(
            PublicEncryptionKey::builder()
                .supported_symm_alg(SymmAlgorithm::Aes128Ccm)
                .public_key(BasePublicEncryptionKey::EciesNistP256(point(
                    new_key()?.verifying_key(),
                )))
                .build(),
        ),
        _ => None,
    };
    let to_be_signed = ToBeSignedCertificate::builder()
        .id(match role {
            Role::Ticket => CertificateId::None(()),
            _ => CertificateId::Name(Hostname(name.to_string())),
        })
        .craca_id(HashedId3(FixedOctetString::new([0; 3])))
        .crl_series(CrlSeries(0))
        .validity_period(
            ValidityPeriod::builder()
                .start(Time32(start_s))
                .duration(Validity::Hours(hours))
                .build(),
        )
        .maybe_app_permissions(apps.map(SequenceOfPsidSsp))
        .maybe_cert_issue_permissions(issues)
        .maybe_encryption_key(encryption)
        .verify_key_indicator(VerificationKeyIndicator::VerificationKey(
            PublicVerificationKey::EcdsaNistP256(point(key)),
        ))
        .build()
        .map_err(made)?;
    let data = encode(&to_be_signed)?;
    let hash = issuer.0.map_or_else(|| sha256(&[]), |issuer| issuer.hash);
    let base = CertificateBase::builder()
        .r#type(CertificateType::Explicit)
        .issuer(match issuer.0 {
            Some(issuer) => {
                IssuerIdentifier::Sha256AndDigest(HashedId8(FixedOctetString::new(issuer.digest())))
            }
            None => IssuerIdentifier::VSelf(HashAlgorithm::Sha256),
        })
        .to_be_signed(to_be_signed)
        .signature(sign(issuer.1, &message_hash(&data, &hash))?)
        .build();
    Known::of(wrapped(base)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_what_it_says() {
        let (root_key, authority_key, key) =
            (new_key().unwrap(), new_key().unwrap(), new_key().unwrap());
        let root = issue(
            Role::Root,
            "root",
            root_key.verifying_key(),
            700_000_000,
            10_000,
            (None, &root_key),
        )
        .unwrap();
        let authority = issue(
            Role::Authority,
            "authority",
            authority_key.verifying_key(),
            700_000_000,
            1_000,
            (Some(&root), &root_key),
        )
        .unwrap();
        let ticket = issue(
            Role::Ticket,
            "nobody",
            key.verifying_key(),
            700_000_000,
            24,
            (Some(&authority), &authority_key),
        )
        .unwrap();
        assert_eq!(root.check_issued_by(None), Ok(()));
        assert_eq!(authority.check_issued_by(Some(&root)), Ok(()));
        assert_eq!(ticket.check_issued_by(Some(&authority)), Ok(()));
        for wrong in [Some(&root), Some(&ticket), None] {
            assert!(ticket.check_issued_by(wrong).is_err());
        }
        assert_eq!(ticket.issuer(), Some(authority.digest()));
        assert_eq!((root.issuer(), ticket.name()), (None, ""));
        assert!(ticket.permits(AID_CAM) && ticket.permits(AID_CPM) && !ticket.permits(37));
        assert!(!ticket.issues() && !authority.permits(AID_CAM));
        let start = 700_000_000_000_000;
        let hour = 3_600_000_000;
        assert!(ticket.is_valid_at(start) && ticket.is_valid_at(start + 24 * hour - 1));
        assert!(!ticket.is_valid_at(start - 1) && !ticket.is_valid_at(start + 24 * hour));
        // There and back.
        let read = Known::read(&ticket.bytes).unwrap();
        assert_eq!(
            (read.digest(), read.bytes.len()),
            (ticket.digest(), ticket.bytes.len())
        );
        assert!(
            (120..200).contains(&ticket.bytes.len()),
            "{}",
            ticket.bytes.len()
        );
        // Every byte counts: whatever is changed is noticed or no certificate.
        for at in 0..ticket.bytes.len() {
            let mut forged = ticket.bytes.clone();
            forged[at] ^= 1;
            let known = Known::read(&forged);
            assert!(known.is_err() || known.unwrap().check_issued_by(Some(&authority)).is_err());
        }
    }
}
