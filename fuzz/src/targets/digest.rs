//! Digests: whatever decodes is canonical, whatever is a set of cells encodes or is refused by name.

use covey_protocol::digest::{HEADER_LEN, MAX_BODY_LEN, MAX_CELLS};
use covey_protocol::{Cell, CoverageDigest};

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(digest) = CoverageDigest::decode(bytes) {
        assert_eq!(
            digest.encode(),
            bytes,
            "accepted bytes that are not canonical"
        );
        assert_eq!(digest.encoded_len(), bytes.len());
        assert!(digest.cells().is_sorted() && digest.cells().len() <= MAX_CELLS);
    }
    // The same bytes as a set of cells, near each other and anywhere.
    let near = bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|&[x, y]| Cell::new(i32::from(x as i8), i32::from(y as i8)));
    let far = bytes.as_chunks::<8>().0.iter().map(|chunk| {
        let [x, y] = [&chunk[..4], &chunk[4..]]
            .map(|half| i32::from_le_bytes([half[0], half[1], half[2], half[3]]));
        Cell::new(x, y)
    });
    for cells in [near.collect::<Vec<_>>(), far.collect()] {
        let Ok(digest) = CoverageDigest::new(cells.clone()) else {
            continue;
        };
        let encoded = digest.encode();
        assert!((HEADER_LEN..=HEADER_LEN + MAX_BODY_LEN).contains(&encoded.len()));
        assert_eq!(CoverageDigest::decode(&encoded).as_ref(), Ok(&digest));
        assert!(cells.iter().all(|cell| digest.cells().contains(cell)));
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let row = (3..10).map(|ix| Cell::new(ix, -2)).collect();
    let patches = (0..200)
        .filter(|i| i * i % 7 < 3)
        .map(|i| Cell::new(i % 16, i / 16))
        .collect();
    [Vec::new(), row, patches]
        .into_iter()
        .filter_map(|cells| Some(CoverageDigest::new(cells).ok()?.encode()))
        .collect()
}
