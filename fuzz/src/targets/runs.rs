//! Recordings of runs: any bytes are a recording or an error that names the file, and any block decodes or says why not.
//!
//! The first byte chooses: 0 for a whole file, else the kind of a block. Blocks of a file are behind checksums, which
//! mutations do not get past.

use std::io::Cursor;
use std::path::Path;

use covey_simulator::recording::{Kind, Reader, check_block};
use covey_synthetic::Plan;

const KINDS: [Kind; 10] = [
    Kind::Manifest,
    Kind::World,
    Kind::Motion,
    Kind::Relevance,
    Kind::Arm,
    Kind::Decisions,
    Kind::Tiles,
    Kind::Demands,
    Kind::Curve,
    Kind::Seen,
];

pub(crate) fn run(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    match KINDS.get(usize::from(choice).wrapping_sub(1)) {
        Some(&kind) => {
            let _ = check_block(kind, bytes);
        }
        None => match Reader::new(Path::new("fuzz.covey"), Cursor::new(bytes.to_vec())) {
            Ok(mut reader) => {
                for chunk in reader.chunks() {
                    let _ = reader.steps(chunk);
                }
            }
            Err(error) => assert!(error.to_string().contains("fuzz.covey"), "{error}"),
        },
    }
}

/// A small recording whole, and its blocks one by one.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let name = format!(
        "covey-fuzz-{}-{:?}.covey",
        std::process::id(),
        std::thread::current().id()
    );
    let file = std::env::temp_dir().join(name);
    let plan = Plan {
        vehicles: 8,
        seconds: 1,
        arms: vec!["proposed@0.4".to_string(), "demand@0.2".to_string()],
    };
    let mut seeds = Vec::new();
    if covey_synthetic::write(&file, &plan).is_ok()
        && let Ok(whole) = std::fs::read(&file)
    {
        let with = |choice: u8, bytes: &[u8]| [&[choice], bytes].concat();
        seeds.push(with(0, &whole));
        if let Ok(mut reader) = Reader::new(Path::new("fuzz.covey"), Cursor::new(whole)) {
            for (choice, &kind) in (1..).zip(&KINDS) {
                let arm = u16::from(kind == Kind::Demands);
                if let Ok(Some(block)) = reader.block(kind, arm, 0) {
                    seeds.push(with(choice, &block));
                }
            }
        }
    }
    let _ = std::fs::remove_file(&file);
    assert_eq!(
        seeds.len(),
        1 + KINDS.len(),
        "a recording has every kind of block"
    );
    seeds
}
