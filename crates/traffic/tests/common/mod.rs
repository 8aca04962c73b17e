//! What the tests of this crate share.
#![allow(dead_code, reason = "each file of tests uses a part")]

use covey_traffic::Source;
use covey_world::geometry::{Point, Polyline};
use covey_world::network::{Edge, EdgeIx, EdgeKind, Lane, LaneIx};
use covey_world::{Frame, Network};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A fresh folder for one test.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A road to the east of 100 m (`e_0`), an internal lane of 10 m after it (`:j_0_0`), and a road to the north (`n_0`).
pub(crate) fn corner() -> Network {
    let lane = |name: &str, edge: u32, points: &[(f64, f64)]| {
        let shape = Polyline::new(points.iter().map(|&(x, y)| Point::new(x, y)).collect()).unwrap();
        Lane {
            name: name.into(),
            edge: EdgeIx(edge),
            index: 0,
            width: 3.2,
            speed_limit: 13.9,
            length: shape.length(),
            shape,
            drivable: true,
            outgoing: vec![],
            incoming: vec![],
        }
    };
    let edge = |name: &str, kind, lane| Edge {
        name: name.into(),
        kind,
        from: None,
        to: None,
        priority: 1,
        road_type: String::new(),
        lanes: vec![LaneIx(lane)],
    };
    Network {
        edges: vec![
            edge("e", EdgeKind::Normal, 0),
            edge(":j_0", EdgeKind::Internal, 1),
            edge("n", EdgeKind::Normal, 2),
        ],
        lanes: vec![
            lane("e_0", 0, &[(0.0, 0.0), (100.0, 0.0)]),
            lane(":j_0_0", 1, &[(100.0, 0.0), (106.0, 0.0), (106.0, 4.0)]),
            lane("n_0", 2, &[(106.0, 4.0), (106.0, 104.0)]),
        ],
        ..Network::default()
    }
}

/// All frames of a source, but no more than 5 minutes': a damaged time may lie far in the future.
pub(crate) fn frames<S: Source>(mut source: S) -> Result<Vec<Frame>, S::Error> {
    let mut frames = Vec::new();
    let mut frame = Frame::default();
    while frames.len() < 6_000 && source.next_frame(&mut frame)? {
        frames.push(frame.clone());
    }
    Ok(frames)
}

/// Replaces a file's content in place: to cut a file to nothing and write it anew costs milliseconds on some systems.
pub(crate) fn overwrite(path: &Path, content: &[u8]) {
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .unwrap();
    file.write_all(content).unwrap();
    file.set_len(content.len() as u64).unwrap();
}
