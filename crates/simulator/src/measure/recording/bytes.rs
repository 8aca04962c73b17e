//! Numbers to bytes and back, with errors instead of panics.

/// What is wrong with a block.
pub(super) type Fault = String;

pub(super) fn put_v(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

pub(super) fn put_z(out: &mut Vec<u8>, n: i64) {
    put_v(out, ((n << 1) ^ (n >> 63)) as u64);
}

pub(super) fn put_f(out: &mut Vec<u8>, x: f64) {
    out.extend_from_slice(&x.to_le_bytes());
}

/// Reads a block from its beginning to its end.
pub(super) struct Take<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Take<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn slice(&mut self, n: usize) -> Result<&'a [u8], Fault> {
        let end = self
            .at
            .checked_add(n)
            .filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("it ends at byte {} of a block", self.bytes.len()))?;
        let slice = &self.bytes[self.at..end];
        self.at = end;
        Ok(slice)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.slice(1)?[0])
    }

    pub(super) fn v(&mut self) -> Result<u64, Fault> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(format!("a number of more than 64 bits at byte {}", self.at))
    }

    pub(super) fn v32(&mut self) -> Result<u32, Fault> {
        let n = self.v()?;
        u32::try_from(n).map_err(|_| format!("{n} at byte {}, expected at most 32 bits", self.at))
    }

    pub(super) fn z(&mut self) -> Result<i64, Fault> {
        let n = self.v()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    pub(super) fn z32(&mut self) -> Result<i32, Fault> {
        let n = self.z()?;
        i32::try_from(n).map_err(|_| format!("{n} at byte {}, expected 32 bits", self.at))
    }

    pub(super) fn f(&mut self) -> Result<f64, Fault> {
        let bytes = self.slice(8)?;
        let x = bytes.try_into().map(f64::from_le_bytes).unwrap_or(f64::NAN);
        if x.is_finite() {
            Ok(x)
        } else {
            Err(format!("a number that is not finite at byte {}", self.at))
        }
    }

    /// The length of a list whose entries take at least `least` bytes each.
    pub(super) fn count(&mut self, least: usize) -> Result<usize, Fault> {
        let n = self.v()?;
        match usize::try_from(n) {
            Ok(n) if n <= self.left() / least.max(1) => Ok(n),
            _ => Err(format!(
                "a list of {n} entries at byte {}, more than the block holds",
                self.at
            )),
        }
    }

    pub(super) fn end(&self) -> Result<(), Fault> {
        match self.left() {
            0 => Ok(()),
            n => Err(format!("{n} bytes too many in a block")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(a: u64, b: i64) {
            let mut out = Vec::new();
            put_v(&mut out, a);
            put_z(&mut out, b);
            let mut take = Take::new(&out);
            prop_assert_eq!(take.v(), Ok(a));
            prop_assert_eq!(take.z(), Ok(b));
            prop_assert_eq!(take.end(), Ok(()));
        }
    }

    #[test]
    fn a_list_longer_than_its_block_is_refused() {
        let mut out = Vec::new();
        put_v(&mut out, 1 << 40);
        assert!(Take::new(&out).count(1).is_err());
        assert!(Take::new(&[0x80; 11]).v().is_err());
    }
}
