//! The coverage digest, a second time.
//!
//! Bit by bit from the format's description, with no code of the crate: a set of cells to bytes, and bytes to cells by
//! the rule that decoding succeeds only where encoding the result gives the same bytes.

use std::collections::BTreeSet;

/// `(ix, iy)`.
pub(crate) type Cell = (i32, i32);

/// Why a set has no digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooLarge {
    /// The box is wider than 255 or holds more than 2,048 cells.
    Box,
    /// Both bodies pass 243 bytes.
    Body,
}

/// The bytes of a set of cells.
pub(crate) fn encode(cells: &[Cell]) -> Result<Vec<u8>, TooLarge> {
    let visible: BTreeSet<(i64, i64)> = cells
        .iter()
        .map(|&(ix, iy)| (i64::from(ix), i64::from(iy)))
        .collect();
    if visible.is_empty() {
        return Ok(vec![0xC5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    let left = visible.iter().map(|cell| cell.0).min().expect("a cell");
    let right = visible.iter().map(|cell| cell.0).max().expect("a cell");
    let low = visible.iter().map(|cell| cell.1).min().expect("a cell");
    let high = visible.iter().map(|cell| cell.1).max().expect("a cell");
    let width = right - left + 1;
    let height = high - low + 1;
    if width > 255 || width * height > 2048 {
        return Err(TooLarge::Box);
    }
    let mut scan = Vec::new();
    for iy in low..=high {
        for ix in left..=right {
            scan.push(visible.contains(&(ix, iy)));
        }
    }
    let (runs, bitmap) = (runs(&scan), bitmap(&scan));
    let (flag, body) = if runs.len() <= bitmap.len() {
        (0, runs)
    } else {
        (1, bitmap)
    };
    if body.len() > 243 {
        return Err(TooLarge::Body);
    }
    let mut bytes = vec![0xC5, body.len() as u8];
    bytes.extend((left as i32).to_be_bytes());
    bytes.extend((low as i32).to_be_bytes());
    bytes.push(flag);
    bytes.push(width as u8);
    bytes.extend(body);
    Ok(bytes)
}

fn runs(scan: &[bool]) -> Vec<u8> {
    let mut lengths = vec![0u64];
    let mut in_visible = true;
    for &visible in scan {
        if visible != in_visible {
            lengths.push(0);
            in_visible = visible;
        }
        *lengths.last_mut().expect("a run") += 1;
    }
    if !in_visible {
        lengths.pop();
    }
    let mut body = Vec::new();
    for mut length in lengths {
        while length >= 128 {
            body.push((length % 128) as u8 + 128);
            length /= 128;
        }
        body.push(length as u8);
    }
    body
}

fn bitmap(scan: &[bool]) -> Vec<u8> {
    let mut body = Vec::new();
    for (at, &visible) in scan.iter().enumerate() {
        if at % 8 == 0 {
            body.push(0);
        }
        if visible {
            *body.last_mut().expect("a byte") += 128 >> (at % 8);
        }
    }
    while body.last() == Some(&0) {
        body.pop();
    }
    body
}

/// The cells of a digest in scan order, or nothing where the bytes are not one.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Cell>> {
    if bytes.len() < 12 {
        return None;
    }
    let word = |at: usize| i32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (left, low) = (i64::from(word(2)), i64::from(word(6)));
    let width = i64::from(bytes[11]);
    let body = &bytes[12..];
    // Where in the scan cells are visible; what is absurd here fails when it is encoded again.
    let mut visible: Vec<i64> = Vec::new();
    if bytes[10] == 0 {
        let mut at = 0i64;
        let mut in_visible = true;
        let mut rest = body.iter();
        while let Some(&first) = rest.next() {
            let mut length = i64::from(first % 128);
            let mut last = first;
            let mut place = 128;
            while last >= 128 {
                last = *rest.next()?;
                length += place * i64::from(last % 128);
                place *= 128;
                if place > 1 << 40 {
                    return None;
                }
            }
            if at + length > 2048 {
                return None;
            }
            if in_visible {
                visible.extend(at..at + length);
            }
            at += length;
            in_visible = !in_visible;
        }
    } else {
        for (nth, byte) in body.iter().enumerate() {
            for bit in 0..8 {
                if byte >> (7 - bit) & 1 == 1 {
                    visible.push((nth * 8 + bit) as i64);
                }
            }
        }
    }
    let mut cells = Vec::new();
    for at in visible {
        if width == 0 {
            return None;
        }
        let ix = i32::try_from(left + at % width).ok()?;
        let iy = i32::try_from(low + at / width).ok()?;
        cells.push((ix, iy));
    }
    (encode(&cells).as_deref() == Ok(bytes)).then_some(cells)
}
