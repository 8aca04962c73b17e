//! A GeoNetworking packet in its envelope.
//!
//! A signed packet has the next header 2 in its basic header; then comes EtsiTs103097Data-Signed, whose payload is the packet from
//! the common header on. All of it is walked through before anything is decoded (`skim.rs`), since what lies inside may nest as deep, and
//! claim to be as long, as its sender likes.

use covey_its::frame::ETHERNET_LEN;
use rasn::types::{FixedOctetString, Integer, OctetString};
use rasn_its::ieee1609dot2::base_types::{
    HashAlgorithm, HashedId3, HashedId8, Opaque, Psid, SequenceOfHashedId3, Time64,
};
use rasn_its::ieee1609dot2::{
    Certificate, HeaderInfo, Ieee1609Dot2Content, Ieee1609Dot2Data, SequenceOfCertificate,
    SignedData, SignedDataPayload, SignerIdentifier, ToBeSignedData,
};

use super::certificate::{self, CertificateError, Digest8};
use super::skim;
use p256::ecdsa::SigningKey;

/// Bytes of the GeoNetworking basic header.
const BASIC_LEN: usize = 4;

/// What the header of an envelope tells besides its payload.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Header {
    /// The application.
    pub aid: u32,
    /// When it was signed, microseconds of ITS time.
    pub generated_us: i64,
    /// Certificates that the signer asks for, by the last three bytes of their hash.
    pub asks: Vec<[u8; 3]>,
    /// A certificate of an authority that somebody asked for.
    pub gives: Option<Certificate>,
}

/// Who signs, as the envelope tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Signer {
    /// Whoever has the certificate of this digest.
    Digest(Digest8),
    /// Whoever has this certificate.
    Certificate(Box<Certificate>),
}

/// An envelope that was taken apart; nothing of it is checked.
#[derive(Debug, Clone)]
pub struct Opened {
    /// What the header tells.
    pub header: Header,
    /// Who says to have signed it.
    pub signer: Signer,
    /// What was signed.
    pub to_be_signed: Vec<u8>,
    /// The signature.
    pub signature: rasn_its::ieee1609dot2::base_types::Signature,
    /// The frame without its envelope.
    pub frame: Vec<u8>,
}

/// Why a frame has no envelope that can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// It is not signed at all.
    Unsigned,
    /// It is no envelope of our kind, or a broken one.
    Unreadable,
}

/// Takes the envelope off an Ethernet frame.
///
/// # Errors
/// It has none, or one that cannot be read.
pub fn open(frame: &[u8]) -> Result<Opened, Closed> {
    let (outer, envelope) = frame
        .split_at_checked(ETHERNET_LEN + BASIC_LEN)
        .ok_or(Closed::Unreadable)?;
    match outer[ETHERNET_LEN] & 0x0F {
        1 => return Err(Closed::Unsigned),
        2 => {}
        _ => return Err(Closed::Unreadable),
    }
    let layout = skim::envelope(envelope).map_err(|_| Closed::Unreadable)?;
    let (data, rest) = rasn::coer::decode_with_remainder::<Ieee1609Dot2Data>(envelope)
        .map_err(|_| Closed::Unreadable)?;
    let Ieee1609Dot2Content::SignedData(signed) = data.content else {
        return Err(Closed::Unreadable);
    };
    let SignedData {
        tbs_data,
        signer,
        signature,
        ..
    } = *signed;
    // What was signed are the bytes that came. There is one way to write them, but for the list of additions to the header, which is as long
    // as the sender's edition of the standard has it.
    let to_be_signed = envelope[layout.signed.clone()].to_vec();
    let mut alike = rasn::coer::encode(&tbs_data).map_err(|_| Closed::Unreadable)?;
    if let Some(at) = layout.unused.map(|at| at - layout.signed.start)
        && let (Some(ours), Some(theirs)) = (alike.get_mut(at), to_be_signed.get(at))
    {
        *ours = *theirs;
    }
    if alike != to_be_signed || rest.len() > 64 {
        return Err(Closed::Unreadable);
    }
    let payload = match tbs_data.payload.data.map(|data| data.content) {
        Some(Ieee1609Dot2Content::UnsecuredData(Opaque(payload))) => payload,
        _ => return Err(Closed::Unreadable),
    };
    let info = tbs_data.header_info;
    let header = Header {
        aid: u32::try_from(&info.psid.0).map_err(|_| Closed::Unreadable)?,
        generated_us: info
            .generation_time
            .and_then(|time| i64::try_from(time.0).ok())
            .ok_or(Closed::Unreadable)?,
        asks: info.inline_p2pcd_request.map_or_else(Vec::new, |asked| {
            asked.0.iter().take(16).map(|id| *id.0).collect()
        }),
        gives: info.requested_certificate,
    };
    let signer = match signer {
        SignerIdentifier::Digest(id) => Signer::Digest(*id.0),
        SignerIdentifier::Certificate(SequenceOfCertificate(mut list)) if list.len() == 1 => {
            match list.pop() {
                Some(one) => Signer::Certificate(Box::new(one)),
                None => return Err(Closed::Unreadable),
            }
        }
        _ => return Err(Closed::Unreadable),
    };
    let mut inner = outer.to_vec();
    inner[ETHERNET_LEN] = (inner[ETHERNET_LEN] & 0xF0) | 1;
    inner.extend_from_slice(&payload);
    Ok(Opened {
        header,
        signer,
        to_be_signed,
        signature,
        frame: inner,
    })
}

/// Puts an Ethernet frame into an envelope, signed with `key` whose certificate has `hash`.
///
/// # Errors
/// Something does not fit its ASN.1 type.
pub fn seal(
    frame: &[u8],
    header: &Header,
    signer: Signer,
    hash: &[u8; 32],
    key: &SigningKey,
) -> Result<Vec<u8>, CertificateError> {
    let broken = |what: &str| CertificateError::Encoding(what.to_string());
    let (outer, payload) = frame
        .split_at_checked(ETHERNET_LEN + BASIC_LEN)
        .ok_or_else(|| broken("a frame without headers"))?;
    let generated = u64::try_from(header.generated_us).map_err(|_| broken("a negative time"))?;
    let asks: Vec<HashedId3> = header
        .asks
        .iter()
        .map(|id| HashedId3(FixedOctetString::new(*id)))
        .collect();
    let data = Ieee1609Dot2Data::builder()
        .content(Ieee1609Dot2Content::UnsecuredData(Opaque(
            OctetString::from(payload.to_vec()),
        )))
        .build();
    let payload = SignedDataPayload::builder()
        .data(data)
        .build()
        .map_err(|error| CertificateError::Encoding(format!("{error:?}")))?;
    let tbs_data = ToBeSignedData::builder()
        .payload(payload)
        .header_info(
            HeaderInfo::builder()
                .psid(Psid(Integer::from(header.aid)))
                .generation_time(Time64(generated))
                .maybe_inline_p2pcd_request((!asks.is_empty()).then_some(SequenceOfHashedId3(asks)))
                .maybe_requested_certificate(header.gives.clone())
                .build(),
        )
        .build();
    let encoded = |error: rasn::error::EncodeError| CertificateError::Encoding(error.to_string());
    let to_be_signed = rasn::coer::encode(&tbs_data).map_err(encoded)?;
    let signature = certificate::sign(key, &certificate::message_hash(&to_be_signed, hash))?;
    let signed = SignedData::builder()
        .hash_id(HashAlgorithm::Sha256)
        .tbs_data(tbs_data)
        .signer(match signer {
            Signer::Digest(digest) => {
                SignerIdentifier::Digest(HashedId8(FixedOctetString::new(digest)))
            }
            Signer::Certificate(one) => {
                SignerIdentifier::Certificate(SequenceOfCertificate(vec![*one]))
            }
        })
        .signature(signature)
        .build();
    let data = Ieee1609Dot2Data::builder()
        .content(Ieee1609Dot2Content::SignedData(Box::new(signed)))
        .build();
    let mut sealed = outer.to_vec();
    sealed[ETHERNET_LEN] = (sealed[ETHERNET_LEN] & 0xF0) | 2;
    sealed.extend(rasn::coer::encode(&data).map_err(encoded)?);
    Ok(sealed)
}
