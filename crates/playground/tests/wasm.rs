//! The committed WebAssembly answers as this source does. Node runs it; `cargo xtask test setup` says where it is missing.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use covey_playground::{Building, Scene, Vehicle, answer};

/// Runs a program that reads standard input and writes standard output.
const RUN: &str = "const { WASI } = require('node:wasi'); const fs = require('node:fs'); \
    const wasi = new WASI({ version: 'preview1' }); \
    const module = new WebAssembly.Module(fs.readFileSync(process.argv[1])); \
    wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));";

fn in_node(request: &str) -> String {
    let wasm = Path::new(env!("CARGO_MANIFEST_DIR")).join("../viewer/playground/playground.wasm");
    let mut child = Command::new("node")
        .args(["--no-warnings", "-e", RUN])
        .arg(wasm)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node runs");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(request.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_committed_webassembly_answers_as_this_source_does() {
    let mut vehicles = Vec::new();
    for i in 0..24u32 {
        let far = 10.0 + 9.0 * f64::from(i / 4);
        let (x, y) = match i % 4 {
            0 => (-far, 1.5),
            1 => (far, -1.5),
            2 => (-1.5, -far),
            _ => (1.5, far),
        };
        vehicles.push(Vehicle {
            id: i + 1,
            x,
            y,
            speed: 6.0,
            heavy: i % 7 == 0,
            radio: i % 3 != 0,
            dies: i == 5,
        });
    }
    let arms = [
        "cam-only",
        "cpm-rmr",
        "random@0.2",
        "proposed@0.2",
        "demand@0.2",
        "oracle",
    ];
    let scene = Scene {
        vehicles,
        buildings: vec![Building {
            x: -60.0,
            y: -60.0,
            w: 54.0,
            h: 54.0,
        }],
        arms: arms.map(str::to_string).to_vec(),
        seed: 3,
        target: 0.3,
        capacity_bytes_per_s: 242_000.0,
        price_step: 0.5,
        seconds: 2.0,
        dead_s: 1.0,
    };
    let request = serde_json::to_string(&scene).unwrap();
    let read = |text: &str| -> serde_json::Value { serde_json::from_str(text).unwrap() };
    let (here, there) = (read(&answer(&request)), read(&in_node(&request)));
    assert_eq!(here["error"], "");
    // Sines and logarithms of the two may differ in their last bits.
    let rounded = |mut answer: serde_json::Value| {
        for arm in answer["arms"].as_array_mut().unwrap() {
            for key in ["load", "price"] {
                arm[key] = format!("{:.6}", arm[key].as_f64().unwrap()).into();
            }
        }
        answer
    };
    assert_eq!(
        rounded(here),
        rounded(there),
        "build it again: cargo xtask playground"
    );
}
