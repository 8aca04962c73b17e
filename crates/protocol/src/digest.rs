//! The coverage digest: where an agent can see, in a dozen bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 0 | container identifier, 0xC5 |
//! | 1 | length of the body in bytes (0..=243) |
//! | 2..6 | anchor column: lowest `ix` of the bounding box, signed 32-bit, big endian |
//! | 6..10 | anchor row: lowest `iy` of the bounding box, signed 32-bit, big endian |
//! | 10 | encoding flag: 0 runs, 1 bitmap |
//! | 11 | width of the bounding box in cells (1..=255; 0 only for the empty digest) |
//! | 12.. | body |
//!
//! The box is scanned row by row, low `iy` first, low `ix` first within a row. *Runs* are alternating lengths that begin
//! with a visible run (0 where the first cell is hidden), each an unsigned minimal LEB128 number, the last one visible;
//! a *bitmap* has one bit a cell, most significant first, zero padded, without trailing zero bytes. The encoder takes the
//! shorter body, runs on a tie, so every set of cells has exactly one encoding, and [`CoverageDigest::decode`] accepts
//! nothing else. Decoding never panics and never needs more memory than 2,048 cells.
//!
//! ```
//! use covey_protocol::{Cell, CoverageDigest};
//!
//! let row: Vec<Cell> = (3..10).map(|ix| Cell::new(ix, -2)).collect();
//! let digest = CoverageDigest::new(row).unwrap();
//! let bytes = digest.encode();
//! assert_eq!(bytes.len(), 13); // one run in one row
//! assert_eq!(CoverageDigest::decode(&bytes), Ok(digest));
//! ```

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::grid::Cell;

/// The container identifier, byte 0.
pub const CONTAINER_ID: u8 = 0xC5;
/// Bytes before the body.
pub const HEADER_LEN: usize = 12;
/// The longest body, in bytes; with the header it makes 255.
pub const MAX_BODY_LEN: usize = 243;
/// The widest bounding box, in cells.
pub const MAX_WIDTH: usize = 255;
/// The largest bounding box, in cells.
pub const MAX_CELLS: usize = 2_048;

/// A set of visible cells that fits into a digest. Cells are unique and in scan order. Copies share them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoverageDigest {
    cells: Arc<[Cell]>,
    encoded_len: usize,
}

/// Why a set of cells cannot be a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestError {
    /// The bounding box has more than [`MAX_WIDTH`] columns.
    TooWide {
        /// Columns of the box.
        columns: u64,
    },
    /// The bounding box has more than [`MAX_CELLS`] cells.
    TooLarge {
        /// Cells of the box.
        cells: u64,
    },
    /// Neither encoding fits into [`MAX_BODY_LEN`] bytes.
    BodyTooLong {
        /// Bytes of the shorter body.
        bytes: usize,
    },
}

/// Why bytes are not a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// Fewer bytes than a header.
    Truncated {
        /// How many bytes there are.
        found: usize,
    },
    /// Byte 0 is not [`CONTAINER_ID`].
    Container {
        /// The byte that stands in its place.
        found: u8,
    },
    /// The length byte does not match the bytes that follow the header, or passes [`MAX_BODY_LEN`].
    Length {
        /// What the length byte says.
        stated: u8,
        /// Bytes after the header.
        found: usize,
    },
    /// The flag is neither 0 (runs) nor 1 (bitmap).
    Flag {
        /// The byte that stands in its place.
        found: u8,
    },
    /// The bytes do not describe a set of cells, or not in the one way the encoder writes it.
    NotCanonical,
}

impl CoverageDigest {
    /// A digest of `cells`, in any order; cells given twice count once.
    ///
    /// # Errors
    /// The set's bounding box or its body is larger than the format allows. Nothing is ever cut.
    pub fn new(mut cells: Vec<Cell>) -> Result<Self, DigestError> {
        cells.sort_unstable();
        cells.dedup();
        let Some(bounds) = Bounds::of(&cells)? else {
            return Ok(Self {
                cells: cells.into(),
                encoded_len: HEADER_LEN,
            });
        };
        let runs = runs_len(&cells, &bounds);
        let bitmap = bitmap_len(&cells, &bounds);
        let bytes = runs.min(bitmap);
        if bytes > MAX_BODY_LEN {
            return Err(DigestError::BodyTooLong { bytes });
        }
        Ok(Self {
            cells: cells.into(),
            encoded_len: HEADER_LEN + bytes,
        })
    }

    /// The visible cells, in scan order.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Bytes of the encoding, header included.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.encoded_len.max(HEADER_LEN)
    }

    /// The one encoding that decoders accept: runs or bitmap, whichever is shorter.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.encoded_len());
        let Ok(Some(bounds)) = Bounds::of(&self.cells) else {
            out.extend_from_slice(&[CONTAINER_ID, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            return out;
        };
        let runs = runs_len(&self.cells, &bounds);
        let bitmap = bitmap_len(&self.cells, &bounds);
        let as_bitmap = bitmap < runs;
        out.push(CONTAINER_ID);
        out.push(runs.min(bitmap) as u8);
        out.extend_from_slice(&bounds.ix.to_be_bytes());
        out.extend_from_slice(&bounds.iy.to_be_bytes());
        out.push(u8::from(as_bitmap));
        out.push(bounds.width as u8);
        if as_bitmap {
            let start = out.len();
            out.resize(start + bitmap, 0);
            for &cell in self.cells.iter() {
                let at = bounds.scan_index(cell);
                out[start + at / 8] |= 0x80 >> (at % 8);
            }
        } else {
            for_each_run(&self.cells, &bounds, |length| {
                let mut rest = length;
                while rest >= 0x80 {
                    out.push(rest as u8 | 0x80);
                    rest >>= 7;
                }
                out.push(rest as u8);
            });
        }
        out
    }

    /// The digest that `bytes` encode.
    ///
    /// # Errors
    /// The bytes are anything but the canonical encoding of a set of cells.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let Some((header, body)) = bytes.split_first_chunk::<HEADER_LEN>() else {
            return Err(DecodeError::Truncated { found: bytes.len() });
        };
        if header[0] != CONTAINER_ID {
            return Err(DecodeError::Container { found: header[0] });
        }
        if usize::from(header[1]) != body.len() || body.len() > MAX_BODY_LEN {
            return Err(DecodeError::Length {
                stated: header[1],
                found: body.len(),
            });
        }
        let ix = i32::from_be_bytes([header[2], header[3], header[4], header[5]]);
        let iy = i32::from_be_bytes([header[6], header[7], header[8], header[9]]);
        let width = usize::from(header[11]);
        let cells = match header[10] {
            0 => read_runs(body, ix, iy, width),
            1 => read_bitmap(body, ix, iy, width),
            found => return Err(DecodeError::Flag { found }),
        }
        .ok_or(DecodeError::NotCanonical)?;
        let digest = Self::new(cells).map_err(|_| DecodeError::NotCanonical)?;
        // One rule covers minimal numbers, tight boxes, the shorter body and zero padding alike.
        if digest.encode() == bytes {
            Ok(digest)
        } else {
            Err(DecodeError::NotCanonical)
        }
    }
}

/// The bounding box of a set of cells.
struct Bounds {
    ix: i32,
    iy: i32,
    width: usize,
}

impl Bounds {
    /// The box of sorted `cells`; none for no cells.
    fn of(cells: &[Cell]) -> Result<Option<Self>, DigestError> {
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
            return Ok(None);
        };
        let (low, high) = cells
            .iter()
            .fold((first.ix, first.ix), |(low, high), cell| {
                (low.min(cell.ix), high.max(cell.ix))
            });
        let columns = u64::from(high.abs_diff(low)) + 1;
        let rows = u64::from(last.iy.abs_diff(first.iy)) + 1;
        if columns > MAX_WIDTH as u64 {
            return Err(DigestError::TooWide { columns });
        }
        if columns * rows > MAX_CELLS as u64 {
            return Err(DigestError::TooLarge {
                cells: columns * rows,
            });
        }
        Ok(Some(Self {
            ix: low,
            iy: first.iy,
            width: columns as usize,
        }))
    }

    /// The place of a cell of the box in the scan.
    fn scan_index(&self, cell: Cell) -> usize {
        cell.iy.abs_diff(self.iy) as usize * self.width + cell.ix.abs_diff(self.ix) as usize
    }
}

/// Calls `run` with each run length of sorted `cells`: visible, hidden, visible, ..., visible.
fn for_each_run(cells: &[Cell], bounds: &Bounds, mut run: impl FnMut(usize)) {
    let mut end = 0; // one past the last visible cell so far
    let mut length = 0;
    for &cell in cells {
        let at = bounds.scan_index(cell);
        if at > end {
            run(length);
            run(at - end);
            length = 0;
        }
        length += 1;
        end = at + 1;
    }
    run(length);
}

fn runs_len(cells: &[Cell], bounds: &Bounds) -> usize {
    let mut bytes = 0;
    // A length is at most 2,048 cells: one or two LEB128 bytes.
    for_each_run(cells, bounds, |length| {
        bytes += if length < 0x80 { 1 } else { 2 };
    });
    bytes
}

fn bitmap_len(cells: &[Cell], bounds: &Bounds) -> usize {
    cells
        .last()
        .map_or(0, |&last| bounds.scan_index(last) / 8 + 1)
}

/// The cell at place `at` of the scan; none past the end of the index range.
fn cell_at(ix: i32, iy: i32, width: usize, at: usize) -> Option<Cell> {
    Some(Cell::new(
        ix.checked_add((at % width) as i32)?,
        iy.checked_add((at / width) as i32)?,
    ))
}

fn read_runs(body: &[u8], ix: i32, iy: i32, width: usize) -> Option<Vec<Cell>> {
    let mut cells = Vec::new();
    if width == 0 {
        return body.is_empty().then_some(cells);
    }
    let mut at = 0;
    let mut visible = true;
    let mut bytes = body.iter();
    while let Some(&first) = bytes.next() {
        let mut length = usize::from(first & 0x7F);
        if first & 0x80 != 0 {
            // Two bytes reach 16,383, far beyond the largest box: a third byte is never canonical.
            let second = *bytes.next()?;
            if second & 0x80 != 0 {
                return None;
            }
            length |= usize::from(second) << 7;
        }
        if at + length > MAX_CELLS {
            return None;
        }
        if visible {
            for place in at..at + length {
                cells.push(cell_at(ix, iy, width, place)?);
            }
        }
        at += length;
        visible = !visible;
    }
    Some(cells)
}

fn read_bitmap(body: &[u8], ix: i32, iy: i32, width: usize) -> Option<Vec<Cell>> {
    if width == 0 {
        return None;
    }
    let mut cells = Vec::new();
    for (byte, &bits) in body.iter().enumerate() {
        for bit in 0..8 {
            if bits & (0x80 >> bit) != 0 {
                cells.push(cell_at(ix, iy, width, byte * 8 + bit)?);
            }
        }
    }
    Some(cells)
}

impl fmt::Display for DigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooWide { columns } => write!(
                f,
                "the cells span {columns} columns; a digest holds at most {MAX_WIDTH}"
            ),
            Self::TooLarge { cells } => write!(
                f,
                "the bounding box has {cells} cells; a digest holds at most {MAX_CELLS}"
            ),
            Self::BodyTooLong { bytes } => write!(
                f,
                "the shorter encoding needs {bytes} bytes; a digest's body holds at most {MAX_BODY_LEN}"
            ),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { found } => write!(
                f,
                "{found} bytes found; a digest begins with a header of {HEADER_LEN} bytes"
            ),
            Self::Container { found } => write!(
                f,
                "byte 0 is 0x{found:02X}; a digest begins with 0x{CONTAINER_ID:02X}"
            ),
            Self::Length { stated, found } => write!(
                f,
                "byte 1 announces a body of {stated} bytes (at most {MAX_BODY_LEN}), {found} follow the header"
            ),
            Self::Flag { found } => write!(
                f,
                "byte 10 is {found}; the encoding flag is 0 (runs) or 1 (bitmap)"
            ),
            Self::NotCanonical => write!(
                f,
                "the bytes are not the one canonical encoding of a set of cells"
            ),
        }
    }
}

impl core::error::Error for DigestError {}
impl core::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn digest(cells: &[(i32, i32)]) -> CoverageDigest {
        CoverageDigest::new(cells.iter().map(|&(ix, iy)| Cell::new(ix, iy)).collect()).unwrap()
    }

    #[test]
    fn the_empty_digest_is_a_bare_header() {
        let bytes = digest(&[]).encode();
        assert_eq!(bytes, [0xC5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(CoverageDigest::decode(&bytes), Ok(digest(&[])));
    }

    #[test]
    fn one_run_of_up_to_127_cells_makes_13_bytes() {
        let row: Vec<_> = (0..127).map(|ix| (ix - 3, -1)).collect();
        assert_eq!(
            digest(&row).encode(),
            [
                0xC5, 1, 0xFF, 0xFF, 0xFF, 0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0, 127, 127
            ]
        );
        let longer: Vec<_> = (0..128).map(|ix| (ix, 0)).collect();
        assert_eq!(digest(&longer).encode()[10..], [0, 128, 0x80, 0x01]);
    }

    #[test]
    fn a_hidden_first_cell_makes_an_empty_first_run() {
        // .#
        // ##   (low row first: both, then the right one is at iy 1)
        let bytes = digest(&[(1, 0), (0, 1), (1, 1)]).encode();
        // Runs 0,1,3 take three bytes, the bitmap 0111 0000 one.
        assert_eq!(bytes[10..], [1, 2, 0b0111_0000]);
    }

    #[test]
    fn runs_win_a_tie() {
        // Runs 1,6,1: three bytes; bitmap one byte. A single cell: one byte each, so runs.
        assert_eq!(digest(&[(5, 5)]).encode()[10..], [0, 1, 1]);
        assert_eq!(digest(&[(0, 0), (7, 0)]).encode()[10], 1);
    }

    #[test]
    fn cells_given_twice_count_once_and_come_in_scan_order() {
        let twice = digest(&[(2, 1), (0, 0), (2, 1)]);
        assert_eq!(twice.cells(), [Cell::new(0, 0), Cell::new(2, 1)]);
    }

    #[test]
    fn what_does_not_fit_is_an_error_of_its_own() {
        let cells = |list: &[(i32, i32)]| list.iter().map(|&(x, y)| Cell::new(x, y)).collect();
        assert_eq!(
            CoverageDigest::new(cells(&[(0, 0), (255, 0)])),
            Err(DigestError::TooWide { columns: 256 })
        );
        assert_eq!(
            CoverageDigest::new(cells(&[(0, 0), (99, 20)])),
            Err(DigestError::TooLarge { cells: 2_100 })
        );
        assert_eq!(
            CoverageDigest::new(cells(&[(i32::MIN, 0), (i32::MAX, 0)])),
            Err(DigestError::TooWide { columns: 1 << 32 })
        );
        let board: Vec<_> = (0..2_048)
            .filter(|i| (i / 64 + i % 64) % 2 == 0)
            .map(|i| (i % 64, i / 64))
            .collect();
        assert_eq!(
            CoverageDigest::new(cells(&board)),
            Err(DigestError::BodyTooLong { bytes: 256 })
        );
    }

    #[test]
    fn only_canonical_bytes_decode() {
        let good = digest(&[(1, 0), (0, 1), (1, 1)]).encode();
        assert!(CoverageDigest::decode(&good).is_ok());
        let refuse = |change: fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            CoverageDigest::decode(&bytes).unwrap_err()
        };
        assert_eq!(
            refuse(|b| b.truncate(11)),
            DecodeError::Truncated { found: 11 }
        );
        assert_eq!(
            refuse(|b| b[0] = 0xC4),
            DecodeError::Container { found: 0xC4 }
        );
        assert_eq!(
            refuse(|b| b.push(0)),
            DecodeError::Length {
                stated: 1,
                found: 2
            }
        );
        assert_eq!(refuse(|b| b[10] = 2), DecodeError::Flag { found: 2 });
        assert_eq!(refuse(|b| b[11] = 4), DecodeError::NotCanonical); // box not tight
        assert_eq!(
            refuse(|b| {
                b[1] = 2;
                b.push(0);
            }),
            DecodeError::NotCanonical // trailing zero byte
        );
        // The longer of two possible bodies.
        let header = |flag, width, body: &[u8]| {
            let mut bytes = vec![0xC5, body.len() as u8, 0, 0, 0, 0, 0, 0, 0, 0, flag, width];
            bytes.extend_from_slice(body);
            CoverageDigest::decode(&bytes)
        };
        assert_eq!(header(0, 2, &[0, 1, 3]), Err(DecodeError::NotCanonical));
        assert_eq!(header(1, 1, &[0x80]), Err(DecodeError::NotCanonical));
        // Not minimal, or hidden at the end.
        assert_eq!(header(0, 1, &[0x81, 0x00]), Err(DecodeError::NotCanonical));
        assert_eq!(header(0, 3, &[1, 2]), Err(DecodeError::NotCanonical));
        // Empty, but with an anchor or a width.
        assert_eq!(header(0, 1, &[]), Err(DecodeError::NotCanonical));
        assert_eq!(header(1, 0, &[]), Err(DecodeError::NotCanonical));
        // A run past the end of the index range.
        let mut edge = vec![0xC5, 1, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 2, 2];
        assert_eq!(
            CoverageDigest::decode(&edge),
            Err(DecodeError::NotCanonical)
        );
        edge[11] = 1;
        edge[12] = 1;
        assert!(CoverageDigest::decode(&edge).is_ok());
    }

    #[test]
    fn a_digest_holds_255_columns_and_2048_cells_and_no_more() {
        let row = |columns: i32| {
            let ends = [Cell::new(-7, 3), Cell::new(columns - 8, 3)];
            CoverageDigest::new(ends.to_vec())
        };
        assert!(row(255).is_ok() && row(256).is_err());
        let square = |columns: i32, rows: i32| {
            let ends = [Cell::new(0, 0), Cell::new(columns - 1, rows - 1)];
            CoverageDigest::new(ends.to_vec())
        };
        assert!(square(64, 32).is_ok());
        assert!(square(1, 2_048).is_ok());
        assert_eq!(
            square(1, 2_049),
            Err(DigestError::TooLarge { cells: 2_049 })
        );
        for (columns, rows) in [(64, 32), (1, 2_048), (255, 1), (255, 8)] {
            let held = square(columns, rows).unwrap();
            assert_eq!(CoverageDigest::decode(&held.encode()), Ok(held));
        }
    }
}
