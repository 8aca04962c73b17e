//! The coverage digest against a second encoder and decoder, on sets and bytes of every shape.

mod reference;

use covey_protocol::{Cell, CoverageDigest};
use proptest::collection::vec;
use proptest::prelude::*;

fn cells(of: &[(i32, i32)]) -> Vec<Cell> {
    of.iter().map(|&(ix, iy)| Cell::new(ix, iy)).collect()
}

fn encode(of: &[(i32, i32)]) -> Option<Vec<u8>> {
    let digest = CoverageDigest::new(cells(of)).ok()?;
    let bytes = digest.encode();
    assert_eq!(digest.encoded_len(), bytes.len(), "as told before");
    Some(bytes)
}

fn decode(bytes: &[u8]) -> Option<Vec<(i32, i32)>> {
    let digest = CoverageDigest::decode(bytes).ok()?;
    assert_eq!(digest.encoded_len(), bytes.len());
    Some(digest.cells().iter().map(|c| (c.ix, c.iy)).collect())
}

/// One set: the same bytes or both refused; and from there back to the same cells.
fn same_digest(set: &[(i32, i32)]) -> Result<(), TestCaseError> {
    let expected = reference::encode(set);
    prop_assert_eq!(encode(set), expected.clone().ok(), "{:?}", expected);
    if let Ok(bytes) = expected {
        let mut distinct = set.to_vec();
        distinct.sort_by_key(|&(ix, iy)| (iy, ix));
        distinct.dedup();
        prop_assert_eq!(decode(&bytes), Some(distinct));
        prop_assert_eq!(reference::decode(&bytes), decode(&bytes));
    }
    Ok(())
}

/// Bytes: both refuse them, or both give the same cells, which have these bytes and no others.
fn same_cells(bytes: &[u8]) -> Result<(), TestCaseError> {
    let read = decode(bytes);
    prop_assert_eq!(&read, &reference::decode(bytes));
    if let Some(set) = read {
        prop_assert_eq!(encode(&set), Some(bytes.to_vec()));
    }
    Ok(())
}

/// Where a set lies: near 0, anywhere, or against an end of the number range.
fn corner() -> impl Strategy<Value = i32> {
    prop_oneof![
        Just(0),
        -300..300i32,
        any::<i32>(),
        Just(i32::MIN),
        (0..300i32).prop_map(|back| i32::MAX - back),
    ]
}

/// A box of a shape that matters: small, flat, tall, at and beyond each limit.
fn shape() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![
        4 => (1..20usize, 1..20usize),
        1 => (1..300usize, Just(1)),
        1 => (Just(1), 1..2100usize),
        1 => (250..258usize, 1..10usize),
        2 => (40..50usize, 40..50usize),
        1 => (1..2100usize).prop_map(|width| (width.min(255), 2048 / width.min(255))),
        1 => (1..255usize).prop_map(|width| (width, 2048 / width + 1)),
    ]
}

/// A set of cells: each cell of a box by chance, or in runs; cells may come twice and in any order.
fn set() -> impl Strategy<Value = Vec<(i32, i32)>> {
    let density = prop_oneof![
        Just(0.0),
        Just(1.0),
        0.0..0.05f64,
        0.45..0.55f64,
        0.9..1.0f64,
        0.0..1.0f64
    ];
    let run = prop_oneof![Just(1usize), 1..9usize, 60..300usize];
    (
        (corner(), corner()),
        shape(),
        density,
        run,
        any::<u64>(),
        any::<bool>(),
    )
        .prop_map(
            |(corner, (width, height), density, run, seed, corners_too)| {
                let mut state = seed;
                let mut unit = || {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    (state >> 11) as f64 / (1u64 << 53) as f64
                };
                let mut found = Vec::new();
                let mut visible = false;
                for at in 0..width * height {
                    if at % run == 0 {
                        visible = unit() < density;
                    }
                    let corner_cell = at == 0 || at + 1 == width * height;
                    if visible || (corners_too && corner_cell) {
                        let ix = i64::from(corner.0) + (at % width) as i64;
                        let iy = i64::from(corner.1) + (at / width) as i64;
                        // Past the end of the number range there are no cells.
                        if let (Ok(ix), Ok(iy)) = (i32::try_from(ix), i32::try_from(iy)) {
                            found.push((ix, iy));
                            if unit() < 0.1 {
                                found.push((ix, iy));
                            }
                        }
                    }
                }
                for at in (1..found.len()).rev() {
                    let other = (unit() * (at + 1) as f64) as usize;
                    found.swap(at, other);
                }
                found
            },
        )
}

/// A change to bytes that were a digest: what transport, age or malice could do.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Push(u8),
    Insert(prop::sample::Index, u8),
    Drop(prop::sample::Index),
    /// Keeps the length byte right, so that the change reaches the body.
    Relength,
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let byte = || {
        prop_oneof![
            Just(0u8),
            Just(1),
            Just(0x7F),
            Just(0x80),
            Just(0xFF),
            any::<u8>()
        ]
    };
    prop_oneof![
        (at(), byte()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), 0..8u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        at().prop_map(Change::Cut),
        byte().prop_map(Change::Push),
        (at(), byte()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        at().prop_map(Change::Drop),
        Just(Change::Relength),
    ]
}

fn apply(change: &Change, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    match change {
        Change::Set(at, byte) => bytes[at.index(length)] = *byte,
        Change::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
        Change::Cut(at) => bytes.truncate(at.index(length)),
        Change::Push(byte) => bytes.push(*byte),
        Change::Insert(at, byte) => bytes.insert(at.index(length), *byte),
        Change::Drop(at) => drop(bytes.remove(at.index(length))),
        Change::Relength => {
            if length >= 12 {
                bytes[1] = (length - 12) as u8;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sets_have_the_same_bytes(set in set()) {
        same_digest(&set)?;
    }

    #[test]
    fn scattered_cells_have_the_same_bytes(set in vec((any::<i32>(), any::<i32>()), 0..4)) {
        same_digest(&set)?;
    }

    #[test]
    fn order_and_repetition_do_not_matter(set in set()) {
        let mut other = set.clone();
        other.reverse();
        other.extend_from_slice(&set[..set.len() / 2]);
        prop_assert_eq!(encode(&other), encode(&set));
    }

    #[test]
    fn changed_digests_are_read_alike(set in set(), changes in vec(change(), 1..4)) {
        let mut bytes = reference::encode(&set).unwrap_or_default();
        for change in &changes {
            apply(change, &mut bytes);
            same_cells(&bytes)?;
        }
    }

    #[test]
    fn random_bodies_are_read_alike(
        anchor in (corner(), corner()),
        flag in 0..3u8,
        width in prop_oneof![0..6u8, any::<u8>()],
        body in prop_oneof![vec(0..4u8, 0..40), vec(any::<u8>(), 0..260)],
    ) {
        let mut bytes = vec![0xC5, body.len() as u8];
        bytes.extend(anchor.0.to_be_bytes());
        bytes.extend(anchor.1.to_be_bytes());
        bytes.extend([flag, width]);
        bytes.extend(body);
        same_cells(&bytes)?;
    }

    #[test]
    fn random_bytes_are_read_alike(bytes in vec(any::<u8>(), 0..300)) {
        same_cells(&bytes)?;
    }
}

#[test]
fn every_short_body_is_read_alike() {
    // All bodies of one byte and many of two, both flags, several widths: where canonicity is easily got wrong.
    let seconds = [0u8, 1, 2, 3, 8, 15, 16, 127, 128, 129, 192, 255];
    let mut accepted = 0;
    for flag in 0..=1 {
        for width in [0, 1, 2, 3, 7, 8, 9, 127, 128, 255] {
            for body in (0..=256u32)
                .map(|short| {
                    if short == 256 {
                        vec![]
                    } else {
                        vec![short as u8]
                    }
                })
                .chain((0..=255u8).flat_map(|a| seconds.map(|b| vec![a, b])))
            {
                let mut bytes = vec![0xC5, body.len() as u8, 0, 0, 0, 5, 255, 255, 255, 254];
                bytes.extend([flag, width]);
                bytes.extend(body);
                let read = decode(&bytes);
                accepted += u32::from(read.is_some());
                assert_eq!(read, reference::decode(&bytes), "{bytes:02x?}");
            }
        }
    }
    assert!(accepted > 100, "only {accepted} of these were digests");
}

#[test]
fn the_limits_are_where_the_format_puts_them() {
    let row = |count: i32| (0..count).map(|ix| (ix, 0)).collect::<Vec<_>>();
    let ends = |dx: i32, dy: i32| vec![(0, 0), (dx, dy)];
    let chequered = |width: i32, cells: i32| {
        (0..cells)
            .filter(|at| (at % width + at / width) % 2 == 0)
            .map(|at| (at % width, at / width))
            .collect::<Vec<_>>()
    };
    // One visible run of at most 127 cells in one row makes 13 bytes.
    assert_eq!(encode(&row(127)).map(|bytes| bytes.len()), Some(13));
    assert_eq!(encode(&row(128)).map(|bytes| bytes.len()), Some(14));
    assert_eq!(encode(&[]).map(|bytes| bytes.len()), Some(12));
    assert!(encode(&row(255)).is_some());
    assert!(encode(&row(256)).is_none(), "wider than 255");
    assert!(encode(&ends(31, 63)).is_some(), "2,048 cells");
    assert!(encode(&ends(31, 64)).is_none(), "2,080 cells");
    assert!(encode(&ends(0, 2047)).is_some());
    assert!(encode(&ends(0, 2048)).is_none());
    // A bitmap of 243 bytes, and one cell more.
    assert_eq!(
        encode(&chequered(1, 243 * 8)).map(|b| b.len()),
        Some(12 + 243)
    );
    assert!(encode(&chequered(1, 243 * 8 + 1)).is_none());
    for set in [row(127), row(255), ends(31, 63), chequered(1, 243 * 8)] {
        assert_eq!(encode(&set), reference::encode(&set).ok());
    }
    assert_eq!(reference::encode(&row(256)), Err(reference::TooLarge::Box));
    let long = chequered(1, 243 * 8 + 1);
    assert_eq!(reference::encode(&long), Err(reference::TooLarge::Body));
    // The whole number range is no box.
    let range = [(i32::MIN, i32::MIN), (i32::MAX, i32::MAX)];
    assert!(encode(&range).is_none());
}
