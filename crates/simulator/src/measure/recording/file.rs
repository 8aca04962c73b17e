//! The container: blocks, index, trailer.

use super::bytes::Fault;

pub(super) const MAGIC: &[u8; 8] = b"COVEYREC";
pub(super) const END: &[u8; 8] = b"COVEYEND";
pub(super) const VERSION: u32 = 2;
/// Bytes before the first block.
pub(super) const HEADER: usize = 12;
/// Bytes after the index.
pub(super) const TRAILER: usize = 52;
/// Bytes of an index entry.
pub(super) const ENTRY: usize = 31;

/// What a block unpacks to at most, in bytes.
pub const MAX_BLOCK: u32 = 64 << 20;

/// Blocks that a file may have: more than 11 hours of 16 arms.
pub(super) const MAX_BLOCKS: u32 = 1 << 20;

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The manifest, JSON; one.
    Manifest = 0,
    /// Roads and buildings, JSON; one.
    World = 1,
    /// Vehicle positions of a chunk.
    Motion = 2,
    /// Relevant pairs of a chunk.
    Relevance = 3,
    /// What an arm did in a chunk.
    Arm = 4,
    /// What an arm's hosts knew and decided in a chunk.
    Decisions = 5,
    /// Every tile of an arm over time, JSON: a list of [`Curve`](super::Curve)s with their tile; one an arm.
    Tiles = 6,
    /// What an arm's hosts that choose by demand knew and picked in a chunk.
    Demands = 7,
    /// An arm over time, JSON: a [`Curve`](super::Curve); one an arm.
    Curve = 8,
    /// Who could have told of what an arm missed in a chunk.
    Seen = 9,
}

/// How many kinds there are.
pub(super) const KINDS: usize = 10;

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => Self::Manifest,
            1 => Self::World,
            2 => Self::Motion,
            3 => Self::Relevance,
            4 => Self::Arm,
            5 => Self::Decisions,
            6 => Self::Tiles,
            7 => Self::Demands,
            8 => Self::Curve,
            9 => Self::Seen,
            _ => return None,
        })
    }
}

/// Where a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) arm: u16,
    pub(super) chunk: u32,
    pub(super) offset: u64,
    pub(super) packed: u32,
    pub(super) unpacked: u32,
    pub(super) check: [u8; 8],
}

impl Entry {
    pub(super) fn key(&self) -> (Kind, u16, u32) {
        (self.kind, self.arm, self.chunk)
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(self.kind as u8);
        out.extend_from_slice(&self.arm.to_le_bytes());
        out.extend_from_slice(&self.chunk.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.packed.to_le_bytes());
        out.extend_from_slice(&self.unpacked.to_le_bytes());
        out.extend_from_slice(&self.check);
    }

    /// Reads an entry of [`ENTRY`] bytes; its block must lie before `end`.
    pub(super) fn take(bytes: &[u8], end: u64) -> Result<Self, Fault> {
        let number = |from: usize, n: usize| {
            let bytes = bytes.iter().skip(from).take(n).rev();
            bytes.fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
        };
        let kind = number(0, 1) as u8;
        let mut check = [0; 8];
        check.copy_from_slice(bytes.get(23..31).ok_or("its index is cut short")?);
        let entry = Self {
            kind: Kind::of(kind).ok_or_else(|| format!("a block of unknown kind {kind}"))?,
            arm: number(1, 2) as u16,
            chunk: number(3, 4) as u32,
            offset: number(7, 8),
            packed: number(15, 4) as u32,
            unpacked: number(19, 4) as u32,
            check,
        };
        let inside = entry
            .offset
            .checked_add(u64::from(entry.packed))
            .is_some_and(|last| entry.offset >= HEADER as u64 && last <= end);
        if !inside {
            return Err(format!("its index points outside of it ({})", entry.offset));
        }
        if entry.unpacked > MAX_BLOCK {
            return Err(format!(
                "a block of {} bytes, expected at most {MAX_BLOCK}",
                entry.unpacked
            ));
        }
        Ok(entry)
    }
}

pub(super) fn check_of(packed: &[u8]) -> [u8; 8] {
    let mut check = [0; 8];
    check.copy_from_slice(&blake3::hash(packed).as_bytes()[..8]);
    check
}

/// The trailer of a file whose index `index` of `count` blocks begins at `offset`.
pub(super) fn trailer(index: &[u8], count: u32, offset: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(TRAILER);
    out.extend_from_slice(&offset.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(blake3::hash(index).as_bytes());
    out.extend_from_slice(END);
    out
}

/// Packs a block.
#[cfg(feature = "files")]
pub(super) fn pack(bytes: &[u8], level: i32) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, level)
}

/// Unpacks a block of so many bytes at most.
#[cfg(feature = "files")]
pub(super) fn unpack(packed: &[u8], most: usize) -> std::io::Result<Vec<u8>> {
    zstd::bulk::decompress(packed, most)
}

/// There are no files where this is built.
#[cfg(not(feature = "files"))]
pub(super) fn pack(_: &[u8], _: i32) -> std::io::Result<Vec<u8>> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// There are no files where this is built.
#[cfg(not(feature = "files"))]
pub(super) fn unpack(_: &[u8], _: usize) -> std::io::Result<Vec<u8>> {
    Err(std::io::ErrorKind::Unsupported.into())
}
