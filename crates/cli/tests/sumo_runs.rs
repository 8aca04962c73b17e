//! Somebody's own SUMO scenario and somebody's own recording, from the command line to the report, with the real SUMO.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Directory, covey};
use covey_traffic::sumo::Sumo;
use serde_json::Value;

const JUNCTION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scenarios/toy/blind-junction"
);
/// Cars from all four sides.
const DEMAND: &str = r#"<routes>
    <flow id="we" from="WC" to="CE" begin="0" end="60" period="2" departSpeed="max"/>
    <flow id="ew" from="EC" to="CW" begin="0" end="60" period="2" departSpeed="max"/>
    <flow id="ns" from="NC" to="CS" begin="0" end="60" period="3" departSpeed="max"/>
    <flow id="sn" from="SC" to="CE" begin="0" end="60" period="4" departSpeed="max"/>
</routes>
"#;

fn net() -> String {
    format!("{JUNCTION}/blind-junction.net.xml")
}

fn buildings() -> String {
    format!("{JUNCTION}/blind-junction.poly.xml")
}

/// Short, on a seed that is never evaluated.
const SHORT: [&str; 13] = [
    "--arm",
    "cam-only",
    "--arm",
    "proposed@0.4",
    "--seed",
    "1001",
    "--warmup",
    "10",
    "--measure",
    "4",
    "--jobs",
    "1",
    "--quiet",
];

/// What every finished run leaves.
fn check(out: &str, json: &str, traffic: &str) -> Value {
    let summary: Value = serde_json::from_str(json).expect("a summary");
    assert_eq!(summary["traffic"], traffic);
    let vehicles = summary["scenario"]["vehicles"].as_f64().unwrap();
    let participants = summary["scenario"]["participants"].as_f64().unwrap();
    assert!(
        vehicles >= 8.0 && participants <= vehicles && participants > 0.0,
        "{summary}"
    );
    for arm in ["cam-only", "proposed@0.4"] {
        let arm = &summary["arms"][arm];
        assert!(
            arm["per_seed"][0]["relevant"].as_u64().unwrap() > 0,
            "{arm}"
        );
        assert!(arm["beacon_load"]["mean"].as_f64().unwrap() > 0.0, "{arm}");
    }
    assert!(
        summary["arms"]["proposed@0.4"]["load"]["mean"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    for file in [
        "summary.json",
        "runs.parquet",
        "cycles.parquet",
        "report.html",
    ] {
        assert!(Path::new(out).join(file).is_file(), "{file}");
    }
    summary
}

#[test]
fn a_sumo_configuration_runs_to_its_report() {
    let directory = Directory::new("sumocfg");
    directory.file("demand.rou.xml", DEMAND);
    let config = directory.file(
        "junction.sumocfg",
        format!(
            "<configuration><input><net-file value=\"{}\"/><route-files value=\"demand.rou.xml\"/></input>\
             <time><begin value=\"0\"/><end value=\"60\"/></time></configuration>",
            net()
        ),
    );
    let out = directory.path("out");
    let run = || {
        let arguments = [
            "run",
            "--sumocfg",
            &config,
            "--buildings",
            &buildings(),
            "--json",
            "--out",
            &out,
        ]
        .map(str::to_string)
        .into_iter()
        .chain(SHORT.map(str::to_string));
        covey(&arguments.collect::<Vec<_>>(), "").done()
    };
    let first = check(&out, &run(), "sumocfg");
    // Again: everything is there, SUMO's traffic too.
    let again = check(&out, &run(), "sumocfg");
    assert_eq!(first["arms"], again["arms"]);
    assert!(Path::new(&out).join("traffic").is_dir());
}

#[test]
fn a_recording_runs_to_its_report() {
    let directory = Directory::new("fcd");
    let demand = directory.file("demand.rou.xml", DEMAND);
    let sumo = Sumo::find().expect("SUMO; `cargo xtask setup` installs it");
    let trace = directory.path("trace.xml.gz");
    let recorded = Command::new(sumo.tool("sumo").expect("sumo"))
        .args(["-n", &net(), "-r", &demand, "--fcd-output", &trace])
        .args([
            "--step-length",
            "0.1",
            "--end",
            "40",
            "--seed",
            "5",
            "--no-step-log",
            "true",
        ])
        .output()
        .expect("sumo starts");
    assert!(recorded.status.success(), "{recorded:?}");
    let out = directory.path("out");
    let (net, buildings) = (net(), buildings());
    let arguments: Vec<&str> = [
        "run",
        "--net",
        &net,
        "--fcd",
        &trace,
        "--buildings",
        &buildings,
        "--json",
        "--out",
        &out,
    ]
    .into_iter()
    .chain(SHORT)
    .collect();
    check(&out, &covey(&arguments, "").done(), "fcd");
    // Longer than the recording is refused by name.
    let mut long = arguments.clone();
    let at = long.iter().position(|word| *word == "--measure").unwrap();
    long[at + 1] = "400";
    let refused = covey(&long, "");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("trace.xml.gz") || refused.stderr.contains("ends after"),
        "{refused:?}"
    );
}
