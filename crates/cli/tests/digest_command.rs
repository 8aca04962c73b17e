//! `covey digest` as a user meets it: there and back, and what is refused.

mod common;

use serde_json::{Value, json};

use crate::common::{covey, covey_unread};

fn encode(cells: &Value) -> String {
    let input = json!({"cells": cells}).to_string();
    let hex = covey(&["digest", "encode"], input).done();
    assert!(hex.ends_with('\n') && hex.len() % 2 == 1, "{hex:?}");
    hex.trim_end().to_string()
}

fn decode(hex: &str) -> Value {
    let output: Value =
        serde_json::from_str(&covey(&["digest", "decode"], hex).done()).expect("JSON");
    output["cells"].clone()
}

#[test]
fn the_bytes_of_small_sets() {
    let rows: &[(Value, &str)] = &[
        (json!([]), "c50000000000000000000000"),
        (json!([[0, 0]]), "c5010000000000000000000101"),
        (
            json!([[3, -2], [4, -2], [5, -2]]),
            "c50100000003fffffffe000303",
        ),
        // Two cells apart: one visible, one hidden, one visible are three bytes of runs, but one of bitmap.
        (json!([[-1, 7], [1, 7]]), "c501ffffffff000000070103a0"),
        // The first cell of the box is hidden.
        (json!([[1, 0], [0, 1]]), "c5010000000000000000010260"),
    ];
    for (cells, expected) in rows {
        let hex = encode(cells);
        assert_eq!(hex, *expected, "{cells}");
        let mut read = decode(&hex).as_array().cloned().expect("cells");
        let mut given = cells.as_array().cloned().expect("cells");
        read.sort_by_key(ToString::to_string);
        given.sort_by_key(ToString::to_string);
        assert_eq!(read, given);
    }
}

#[test]
fn there_and_back() {
    let rows = [
        json!([[-5, -5], [-4, -5], [-5, -4]]),
        json!([[i32::MIN, i32::MIN], [i32::MIN + 1, i32::MIN]]),
        json!([[i32::MAX - 1, i32::MAX], [i32::MAX, i32::MAX]]),
        json!((0..127).map(|ix| [ix, -1]).collect::<Vec<_>>()),
        json!(
            (0..800)
                .map(|at| [at % 40 * (at % 3), at / 40])
                .collect::<Vec<_>>()
        ),
    ];
    for cells in rows {
        let hex = encode(&cells);
        let read = decode(&hex);
        // Scan order, each once.
        let mut expected: Vec<(i64, i64)> = cells
            .as_array()
            .expect("cells")
            .iter()
            .map(|cell| (cell[1].as_i64().expect("iy"), cell[0].as_i64().expect("ix")))
            .collect();
        expected.sort_unstable();
        expected.dedup();
        let expected: Vec<Value> = expected.iter().map(|(iy, ix)| json!([ix, iy])).collect();
        assert_eq!(read, json!(expected));
        assert_eq!(encode(&read), hex);
    }
}

#[test]
fn order_repetition_case_and_white_space_do_not_matter() {
    let hex = encode(&json!([[7, 1], [8, 1], [7, 2]]));
    assert_eq!(encode(&json!([[7, 2], [8, 1], [7, 1], [8, 1]])), hex);
    let spread: String = hex
        .chars()
        .map(|c| format!("{} \n", c.to_ascii_uppercase()))
        .collect();
    assert_eq!(decode(&spread), decode(&hex));
}

#[test]
fn sets_without_a_digest_are_refused() {
    let chequered: Vec<[i32; 2]> = (0..2048)
        .filter(|at| (at % 32 + at / 32) % 2 == 0)
        .map(|at| [at % 32, at / 32])
        .collect();
    let rows = [
        ("{\"cells\":[[0,0],[255,0]]}".to_string(), "256"),
        ("{\"cells\":[[0,0],[31,64]]}".to_string(), "2080"),
        (json!({"cells": chequered}).to_string(), "243"),
        (
            format!("{{\"cells\":[[{},0],[{},0]]}}", i32::MIN, i32::MAX),
            "4294967296",
        ),
        ("{\"cells\":[[0,2147483648]]}".to_string(), "cells"),
        ("{\"cells\":[[0.5,0]]}".to_string(), "cells"),
        ("{\"cells\":[[1,2,3]]}".to_string(), "cells"),
        ("{\"cells\":[[1]]}".to_string(), "cells"),
        ("{\"cells\":7}".to_string(), "cells"),
        ("{}".to_string(), "cells"),
        ("[[1,2]]".to_string(), "cells"),
        (String::new(), "cells"),
        ("{\"cells\":[[1,2]]".to_string(), "cells"),
        ("{\"cells\":[[1,2]]} and more".to_string(), "cells"),
        ("[".repeat(100_000), "cells"),
    ];
    for (input, names) in rows {
        covey(&["digest", "encode"], input).refused(&["standard input", names]);
    }
    covey(&["digest", "encode"], b"\xff").refused(&["standard input", "UTF-8"]);
}

#[test]
fn bytes_that_are_no_digest_are_refused() {
    for hex in [
        "",                             // nothing
        "c5",                           // no header
        "c5000000000000000000",         // not enough of it
        "c500000000000000000000 0",     // half a byte
        "zz0000000000000000000000",     // no hex
        "0xc50000000000000000000000",   // no hex either
        "c40000000000000000000000",     // another container
        "c50100000003fffffffe0003",     // the length says more
        "c50100000003fffffffe00030303", // and less
        "c50100000003fffffffe020303",   // an unknown flag
        "c50100000003fffffffe000003",   // no width
        "c50100000003fffffffe000403",   // a box wider than its cells
        "c50100000003fffffffe0103e0",   // a bitmap where runs are as short
        "c50200000003fffffffe00038300", // a number that is not minimal
        "c50200000003fffffffe00030301", // a hidden run at the end
        "c50000000001000000000000",     // an empty digest with an anchor
        "c501000000000000000000ff7f",   // a row past the box's width
        "c5017fffffff000000000002 02",  // beyond the number range
    ] {
        covey(&["digest", "decode"], hex).refused(&["standard input"]);
    }
    covey(&["digest", "decode"], b"\xc5\x00").refused(&["standard input"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    assert_eq!(
        covey_unread(&["digest", "encode"], "{\"cells\":[[1,2]]}").code,
        Some(0)
    );
    assert_eq!(
        covey_unread(&["digest", "decode"], "c50000000000000000000000").code,
        Some(0)
    );
}
