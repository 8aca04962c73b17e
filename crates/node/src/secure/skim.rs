//! A first look at signed bytes: are they of our kind, and do they hold as much as they say?
//!
//! The decoder makes room for as many elements as a list claims to have before it reads one: a frame of a hundred bytes that claims
//! 2^60 ends the process. So what anybody may have sent is walked through first, field by field after IEEE 1609.2 in COER, without
//! keeping anything. Whatever is outside the profile of TS 103 097 is refused here; lists have at most [`MOST`] elements, and every
//! element takes bytes that are there.

use core::ops::Range;

/// What is signed begins here: after version, content and hash algorithm.
const SIGNED_FROM: usize = 3;
/// Elements of a list.
const MOST: u8 = 64;
/// Context tags of the alternatives of a CHOICE, by their number.
const TAG: u8 = 0x80;

/// The bytes are no envelope or certificate of our kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Foreign;

type Skimmed = Result<(), Foreign>;

/// What is left to look at.
struct Rest<'a>(&'a [u8]);

/// Where parts of an envelope are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// What is signed: `ToBeSignedData`.
    pub(crate) signed: Range<usize>,
    /// The byte that says how many bits of the list of header additions are unused, if there is such a list: a sender counts the additions
    /// that its edition of the standard knows.
    pub(crate) unused: Option<usize>,
}

/// Looks at an `Ieee1609Dot2Data` that holds signed data; bytes may follow it.
pub(crate) fn envelope(bytes: &[u8]) -> Result<Layout, Foreign> {
    let mut rest = Rest(bytes);
    let at = |rest: &Rest<'_>| bytes.len() - rest.0.len();
    // Version, signed data, SHA-256; a payload of data alone, version, unsecured data.
    for expected in [3, TAG | 1, 0, 0x40, 3, TAG] {
        rest.expect(expected)?;
    }
    rest.sized()?;
    let additions = rest.header()?;
    let layout = Layout {
        signed: SIGNED_FROM..at(&rest),
        unused: additions.map(|left| bytes.len() - left),
    };
    match rest.byte()? {
        TAG => rest.skip(8)?,
        0x81 => {
            // One certificate: a chain has no place in messages.
            rest.expect(1)?;
            rest.expect(1)?;
            rest.certificate()?;
        }
        _ => return Err(Foreign),
    }
    rest.signature()?;
    Ok(layout)
}

/// Looks at a certificate, and nothing after it.
pub(crate) fn certificate(bytes: &[u8]) -> Skimmed {
    let mut rest = Rest(bytes);
    one_certificate(&mut rest)?;
    match rest.0 {
        [] => Ok(()),
        _ => Err(Foreign),
    }
}

fn one_certificate(rest: &mut Rest<'_>) -> Skimmed {
    rest.certificate()
}

impl Rest<'_> {
    fn byte(&mut self) -> Result<u8, Foreign> {
        let (&first, rest) = self.0.split_first().ok_or(Foreign)?;
        self.0 = rest;
        Ok(first)
    }

    fn expect(&mut self, expected: u8) -> Skimmed {
        match self.byte()? == expected {
            true => Ok(()),
            false => Err(Foreign),
        }
    }

    fn skip(&mut self, count: usize) -> Skimmed {
        self.0 = self.0.get(count..).ok_or(Foreign)?;
        Ok(())
    }

    /// A length: one byte, or how many follow and these; two are enough for a frame.
    fn length(&mut self) -> Result<usize, Foreign> {
        match self.byte()? {
            short if short < 0x80 => Ok(usize::from(short)),
            0x81 => Ok(usize::from(self.byte()?)),
            0x82 => Ok(usize::from(u16::from_be_bytes([
                self.byte()?,
                self.byte()?,
            ]))),
            _ => Err(Foreign),
        }
    }

    /// Something that begins with its length.
    fn sized(&mut self) -> Skimmed {
        let length = self.length()?;
        self.skip(length)
    }

    /// A list: how many, and each of them.
    fn list(&mut self, mut element: impl FnMut(&mut Self) -> Skimmed) -> Skimmed {
        self.expect(1)?;
        let count = self.byte()?;
        if count > MOST {
            return Err(Foreign);
        }
        (0..count).try_for_each(|_| element(self))
    }

    /// `HeaderInfo` with generation time, perhaps with what stations ask each other for. How many bytes are left where it says which bits
    /// of its list of additions are unused, if it has one.
    fn header(&mut self) -> Result<Option<usize>, Foreign> {
        let present = self.byte()?;
        // A list of revocations that is missing, a key for answers.
        if present & 0b0000_0111 != 0 {
            return Err(Foreign);
        }
        // The application; then generation and expiry time, place, a certificate asked for.
        self.sized()?;
        for (bit, length) in [(0x40, 8), (0x20, 8), (0x10, 10), (0x08, 3)] {
            if present & bit != 0 {
                self.skip(length)?;
            }
        }
        if present & 0x80 == 0 {
            return Ok(None);
        }
        // Which additions there are: bytes of the bitmap, unused bits of the last one, the bits.
        self.expect(2)?;
        let left = self.0.len();
        let unused = self.byte()?;
        let additions = self.byte()?;
        if unused > 7 || additions & 0b0011_1111 != 0 {
            return Err(Foreign);
        }
        if additions & 0x80 != 0 {
            self.within(|inner| inner.list(|inner| inner.skip(3)))?;
        }
        if additions & 0x40 != 0 {
            self.within(one_certificate)?;
        }
        Ok(Some(left))
    }

    /// Something in bytes of its own, which it fills.
    fn within(&mut self, content: impl FnOnce(&mut Rest<'_>) -> Skimmed) -> Skimmed {
        let length = self.length()?;
        let (own, rest) = self.0.split_at_checked(length).ok_or(Foreign)?;
        self.0 = rest;
        let mut own = Rest(own);
        content(&mut own)?;
        match own.0 {
            [] => Ok(()),
            _ => Err(Foreign),
        }
    }

    /// `CertificateBase`, explicit.
    fn certificate(&mut self) -> Skimmed {
        let signed = self.byte()?;
        self.expect(3)?;
        self.expect(0)?;
        match self.byte()? {
            // Digest of the issuer; itself, by a hash algorithm.
            TAG => self.skip(8)?,
            0x81 => self.skip(1)?,
            _ => return Err(Foreign),
        }
        self.signed_part()?;
        match signed {
            0x80 => self.signature(),
            0 => Ok(()),
            _ => Err(Foreign),
        }
    }

    fn signed_part(&mut self) -> Skimmed {
        let present = self.byte()?;
        if present & 0x80 != 0 {
            return Err(Foreign);
        }
        match self.byte()? {
            // A name, a number, none.
            0x81 | 0x82 => self.sized()?,
            0x83 => {}
            _ => return Err(Foreign),
        }
        // Whom revocation goes by and in which series; valid from when, and for how many of which unit.
        self.skip(3 + 2 + 4)?;
        match self.byte()? {
            TAG..=0x86 => self.skip(2)?,
            _ => return Err(Foreign),
        }
        if present & 0x40 != 0 {
            self.region()?;
        }
        if present & 0x20 != 0 {
            self.skip(1)?;
        }
        if present & 0x10 != 0 {
            self.list(Self::permission)?;
        }
        for bit in [0x08, 0x04] {
            if present & bit != 0 {
                self.list(Self::group_permission)?;
            }
        }
        // A rollover may be asked for: nothing to read.
        if present & 0x01 != 0 {
            self.skip(1)?;
            self.key()?;
        }
        self.expect(TAG)?;
        self.key()
    }

    /// `GeographicRegion`.
    fn region(&mut self) -> Skimmed {
        match self.byte()? {
            TAG => self.skip(8 + 2),
            0x81 => self.list(|rest| rest.skip(8 + 8)),
            0x82 => self.list(|rest| rest.skip(8)),
            0x83 => self.list(|rest| match rest.byte()? {
                TAG => rest.skip(2),
                0x81 => {
                    rest.skip(2)?;
                    rest.list(|rest| rest.skip(1))
                }
                _ => Err(Foreign),
            }),
            _ => Err(Foreign),
        }
    }

    /// `PsidSsp`: an application, and what may be done there as bytes.
    fn permission(&mut self) -> Skimmed {
        let present = self.byte()?;
        self.sized()?;
        match present {
            0 => Ok(()),
            0x80 => match self.byte()? {
                TAG | 0x81 => self.sized(),
                _ => Err(Foreign),
            },
            _ => Err(Foreign),
        }
    }

    /// `PsidGroupPermissions`.
    fn group_permission(&mut self) -> Skimmed {
        let present = self.byte()?;
        if present & 0b0001_1111 != 0 {
            return Err(Foreign);
        }
        match self.byte()? {
            TAG => self.list(Self::range)?,
            0x81 => {}
            _ => return Err(Foreign),
        }
        // Length of the chain, its range, the kind of holders: each begins with its length.
        for bit in [0x80, 0x40, 0x20] {
            if present & bit != 0 {
                self.sized()?;
            }
        }
        Ok(())
    }

    /// `PsidSspRange`.
    fn range(&mut self) -> Skimmed {
        let present = self.byte()?;
        self.sized()?;
        match present {
            0 => Ok(()),
            0x80 => match self.byte()? {
                TAG => self.list(Self::sized),
                0x81 => Ok(()),
                0x82 => self.within(|rest| {
                    rest.sized()?;
                    rest.sized()
                }),
                _ => Err(Foreign),
            },
            _ => Err(Foreign),
        }
    }

    /// A key or a signature's point on one of the two curves of 256 bits.
    fn key(&mut self) -> Skimmed {
        match self.byte()? {
            TAG | 0x81 => self.point(),
            _ => Err(Foreign),
        }
    }

    fn point(&mut self) -> Skimmed {
        match self.byte()? {
            TAG | 0x82 | 0x83 => self.skip(32),
            0x84 => self.skip(64),
            _ => Err(Foreign),
        }
    }

    fn signature(&mut self) -> Skimmed {
        self.key()?;
        self.skip(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secure::certificate::{Known, Role, issue, new_key};

    fn certificates() -> Vec<Vec<u8>> {
        let key = new_key().unwrap();
        let of = |role| {
            issue(
                role,
                "a name",
                key.verifying_key(),
                700_000_000,
                24,
                (None, &key),
            )
        };
        [Role::Root, Role::Authority, Role::Ticket]
            .map(|role| of(role).unwrap().bytes)
            .to_vec()
    }

    #[test]
    fn what_is_issued_passes_and_what_is_cut_does_not() {
        for bytes in certificates() {
            assert_eq!(certificate(&bytes), Ok(()));
            for length in 0..bytes.len() {
                assert_eq!(certificate(&bytes[..length]), Err(Foreign), "{length}");
            }
            let longer = [bytes, vec![0]].concat();
            assert_eq!(certificate(&longer), Err(Foreign));
        }
    }

    #[test]
    fn a_list_that_claims_more_than_there_is_is_refused_unread() {
        let root = &certificates()[0];
        // Two permissions, after the validity: quantity of one byte.
        let at = root.windows(3).position(|w| w == [1, 2, 0x80]).unwrap();
        let mut claims = root[..at].to_vec();
        claims.extend([8, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        claims.extend(&root[at + 2..]);
        assert_eq!(certificate(&claims), Err(Foreign));
        assert!(Known::read(&claims).is_err());
        let mut many = root.clone();
        many[at + 1] = MOST + 1;
        assert_eq!(certificate(&many), Err(Foreign));
    }
}
