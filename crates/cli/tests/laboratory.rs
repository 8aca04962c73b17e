//! `covey run`, `sweep`, `report` and `arms` with the real simulator on a small junction: results, resuming, refusals.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use covey_simulator::Arms;

use crate::common::{Directory, covey, finished, read, run_arguments, summary, toy, walk};

const PLAN: &str = "scenario = \"scenario.toml\"\narms = [\"cam-only\", \"proposed@0.4\", \"random@0.4\"]\n\
    seeds = \"1..=4\"\nwarmup_s = 0.4\nmeasure_s = 1.0\ncycles = true\n\
    [vary]\npenetration = [0.5, 1.0]\n\"protocol.target\" = [0.1, 0.3]\n";

/// What a sweep leaves for people.
const TABLES: [&str; 5] = [
    "runs.parquet",
    "cycles.parquet",
    "arms.parquet",
    "paired.parquet",
    "sweep.json",
];

#[test]
fn the_letter_is_told_after_the_first_seed_and_again_at_the_end() {
    let directory = Directory::new("trial");
    let out = directory.path("out");
    let call = covey(&["reproduce", "--trial", "--jobs", "1", "--out", &out], "");
    assert_eq!(call.code, Some(0), "{call:?}");
    let (early, told) = (&call.stderr, &call.stdout);
    let at = early.find("So far, 1 of 2 seeds").expect("an early table");
    let early = &early[at..];
    for arm in ["cam-only", "proposed@0.8", "oracle"] {
        assert!(early.contains(arm) && told.contains(arm), "{arm}\n{early}");
    }
    assert_eq!(summary(&out)["seeds"], serde_json::json!([1001, 1002]));
    assert!(
        !Path::new(&out).join("interim").exists(),
        "the results have taken its place"
    );
}

#[test]
fn a_run_leaves_what_the_contract_says() {
    let directory = Directory::new("run");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let arguments = run_arguments(&scenario, &out);
    let table = covey(&[&arguments[..], &["--csv"]].concat(), "").done();
    assert!(
        table.contains("proposed@0.4") && table.contains("summary.json"),
        "{table}"
    );
    let json = summary(&out);
    assert_eq!(json["schema"], "covey.summary/1");
    assert_eq!(json["seeds"], serde_json::json!([1]));
    assert_eq!(
        (&json["warmup_s"], &json["measure_s"]),
        (&0.4.into(), &1.0.into())
    );
    assert_eq!(json["traffic"], "builtin");
    assert_eq!(json["readings"]["penetration"], 0.8);
    assert!(json["scenario"]["vehicles"].as_f64().expect("vehicles") > 10.0);
    assert!(json["scenario"]["corridor_km"].is_null());
    let arm = &json["arms"]["proposed@0.4"];
    for field in ["mean", "lo", "hi"] {
        assert!(arm["deficit"][field].is_number() && arm["load"][field].is_number());
    }
    for part in ["digest", "reports", "broadcast"] {
        assert!(arm["load_parts"][part].is_number());
    }
    assert!(arm["digest_bytes"]["mean"].as_f64().expect("digests") >= 12.0);
    let seed = &arm["per_seed"][0];
    assert!(
        seed["relevant"].as_u64().expect("relevant") >= seed["missed"].as_u64().expect("missed")
    );
    assert_eq!(json["arms"]["oracle"]["price"]["mean"], 0.0);
    assert_eq!(json["intervals"]["meaningful"], false);
    for file in ["runs.parquet", "cycles.parquet"] {
        assert_eq!(&read(format!("{out}/{file}"))[..4], b"PAR1");
    }
    let runs = String::from_utf8(read(format!("{out}/runs.csv"))).expect("text");
    assert_eq!(runs.lines().count(), 3, "{runs}");
    let cycles = String::from_utf8(read(format!("{out}/cycles.csv"))).expect("text");
    assert!(cycles.lines().count() > 10 && cycles.contains("binding"));
    // The report can be told again.
    assert_eq!(covey(&["report", &out], "").done(), table);
    let again: serde_json::Value =
        serde_json::from_str(&covey(&["report", &out, "--json"], "").done()).expect("JSON");
    assert_eq!(again["arms"], json["arms"]);
}

#[test]
fn a_fitted_profile_is_in_force_and_said_to_be_fitted() {
    let directory = Directory::new("profile");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let arguments = run_arguments(&scenario, &out);
    let table = covey(&[&arguments[..], &["--profile", "closest"]].concat(), "").done();
    let label = "fitted to the letter's figures, evidence for nothing";
    assert!(
        table.contains(&format!("Profile closest: {label}.")),
        "{table}"
    );
    let json = summary(&out);
    assert_eq!(
        (&json["profile"], &json["label"]),
        (&"closest".into(), &label.into())
    );
    assert_eq!(json["readings"]["channel"]["collision"]["exponent"], 2.0);
    let page = String::from_utf8(read(format!("{out}/report.html"))).expect("text");
    assert!(page.contains("fitted to the letter&#39;s figures, evidence for nothing"));
    // Told again, it is said again.
    assert_eq!(covey(&["report", &out], "").done(), table);
    covey(&["reproduce", "--profile", "closer"], "").refused(&["closer", "closest-hosted"]);
}

#[test]
fn workers_and_shards_do_not_change_a_byte() {
    let directory = Directory::new("shards");
    toy(&directory);
    let plan = directory.file("plan.toml", PLAN);
    let (one, many, shards) = (
        directory.path("one"),
        directory.path("many"),
        directory.path("shards"),
    );
    let sweep =
        |more: &[&str]| covey(&[&["sweep", &plan, "--quiet"][..], more].concat(), "").done();
    let table = sweep(&["--jobs", "1", "--out", &one]);
    assert!(
        table.contains("penetration = 0.5, protocol.target = 0.1"),
        "{table}"
    );
    sweep(&["--jobs", "3", "--out", &many]);
    for shard in ["2/3", "1/3", "3/3"] {
        let said = sweep(&["--shard", shard, "--out", &shards]);
        assert!(said.contains("runs computed, 0 were there"), "{said}");
    }
    assert!(!Path::new(&shards).join("runs.parquet").exists());
    sweep(&["--out", &shards]);
    for table in TABLES {
        let expected = read(format!("{one}/{table}"));
        assert!(expected == read(format!("{many}/{table}")), "{table}");
        assert!(expected == read(format!("{shards}/{table}")), "{table}");
    }
}

#[test]
fn margins_are_fitted_once_for_all_shards_and_shown() {
    let directory = Directory::new("fitted");
    toy(&directory);
    let text = PLAN.replace(
        "cycles = true",
        "cycles = false\nrefit_margin = [1001, 1002]",
    );
    let plan = directory.file("plan.toml", &text);
    let (one, shards) = (directory.path("one"), directory.path("shards"));
    let dry = covey(&["sweep", &plan, "--dry-run", "--out", &one], "");
    // `protocol.target` is nothing that only hosts are known to read, so every world has a fit of its own.
    assert!(
        dry.stderr.contains("4 fits x 2 seeds (1001, 1002)"),
        "{dry:?}"
    );
    assert!(!Path::new(&one).join("fits").exists());
    let table = covey(&["sweep", &plan, "--quiet", "--out", &one], "");
    assert_eq!(table.code, Some(0), "{table:?}");
    assert!(table.stdout.contains("d_min, m"), "{table:?}");
    for shard in ["2/3", "1/3", "3/3"] {
        let arguments = [
            "sweep", &plan, "--quiet", "--shard", shard, "--out", &shards,
        ];
        let said = covey(&arguments, "");
        assert!(
            said.stdout.contains("runs computed, 0 were there"),
            "{said:?}"
        );
        assert!(!said.stderr.contains("set aside"), "{said:?}");
    }
    let last = covey(&["sweep", &plan, "--out", &shards], "");
    assert!(
        last.stdout.ends_with(&table.stdout.replace(&one, &shards)),
        "{last:?}"
    );
    assert!(!last.stderr.contains("fitting d_min first"), "{last:?}");
    for table in [
        "runs.parquet",
        "arms.parquet",
        "paired.parquet",
        "sweep.json",
    ] {
        let expected = read(format!("{one}/{table}"));
        assert!(expected == read(format!("{shards}/{table}")), "{table}");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&read(format!("{one}/sweep.json"))).expect("JSON");
    for world in json["worlds"].as_array().expect("worlds") {
        let margin = &world["fit"]["margin_m"];
        assert!(margin.is_number(), "{world}");
        assert_eq!(&world["values"]["evaluation.margin_m"], margin);
        assert_eq!(&world["readings"]["evaluation"]["margin_m"], margin);
    }
    let script = covey(&["sweep", &plan, "--emit-slurm", "--out", &one], "").done();
    assert!(script.contains("--array=1-16"), "{script}");
}

/// Numbers that look random and are the same in every run of the test.
fn next_random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn a_sweep_killed_ten_times_ends_with_the_same_bytes() {
    let directory = Directory::new("killed");
    toy(&directory);
    let plan = directory.file("plan.toml", PLAN);
    let (whole, killed) = (directory.path("whole"), directory.path("killed"));
    let begin = Instant::now();
    covey(
        &["sweep", &plan, "--quiet", "--jobs", "2", "--out", &whole],
        "",
    )
    .done();
    let took = begin.elapsed();
    let mut state = 2026;
    for round in 0..10 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_covey"))
            .args(["sweep", &plan, "--quiet", "--jobs", "2", "--out", &killed])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("covey starts");
        // Once this round has something to lose, at any moment until about the end of the next run.
        let begin = Instant::now();
        while finished(&killed) <= round && begin.elapsed() < took * 4 {
            std::thread::sleep(Duration::from_millis(2));
        }
        let most = (took.as_micros() as u64 / 8).max(1000);
        std::thread::sleep(Duration::from_micros(next_random(&mut state) % most));
        // SIGKILL: nothing of the program runs after this.
        child.kill().expect("a kill");
        child.wait().expect("an end");
    }
    covey(
        &["sweep", &plan, "--quiet", "--jobs", "2", "--out", &killed],
        "",
    )
    .done();
    assert_eq!(finished(&killed), 16);
    for table in TABLES {
        assert!(
            read(format!("{whole}/{table}")) == read(format!("{killed}/{table}")),
            "{table} differs after the kills"
        );
    }
}

#[test]
fn ctrl_c_stops_cleanly_and_says_how_to_go_on() {
    let directory = Directory::new("stopped");
    toy(&directory);
    let plan = directory.file(
        "plan.toml",
        PLAN.replace("measure_s = 1.0", "measure_s = 600.0"),
    );
    let out = directory.path("out");
    let child = Command::new(env!("CARGO_BIN_EXE_covey"))
        .args(["sweep", &plan, "--jobs", "1", "--out", &out])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("covey starts");
    // The folder appears when the work begins, with the signals in hand shortly after.
    let begin = Instant::now();
    while !Path::new(&out).join("seeds").exists() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill");
    assert!(interrupt.success());
    let output = child.wait_with_output().expect("an end");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("16 runs"), "{stderr}");
    assert!(
        stderr.contains("Run the same command again to go on"),
        "{stderr}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn wrong_input_is_refused_before_anything_runs() {
    let directory = Directory::new("refused");
    let scenario = toy(&directory);
    let out = directory.path("out");
    let run = |more: &[&str]| {
        let base = ["run", &scenario, "--out", &out];
        covey(&[&base[..], more].concat(), "")
    };
    run(&["--arm", "proposed@0"]).refused(&["--arm", "proposed@0", "above 0 and at most 1"]);
    run(&["--arm", "proposed@2"]).refused(&["above 0 and at most 1"]);
    run(&["--arm", "propsed@0.4"]).refused(&["propsed@0.4", "covey arms"]);
    run(&["--arm", "oracle", "--arm", "oracle"]).refused(&["`oracle` is given twice"]);
    run(&["--seed", "1", "--seed", "1"]).refused(&["--seed", "1 is given twice"]);
    run(&["--penetration", "0"]).refused(&["--penetration", "found 0"]);
    run(&["--measure", "0"]).refused(&["--measure", "found 0"]);
    run(&["--jobs", "0"]).refused(&["--jobs", "found 0"]);
    run(&["--net", "x.net.xml"]).refused(&["--net"]);
    covey(&["run"], "").refused(&["SCENARIO.toml"]);
    covey(&["run", "nowhere.toml"], "").refused(&["nowhere.toml"]);
    covey(&["reproduce", "--seeds", "0"], "").refused(&["--seeds", "found 0", "1 to 900"]);
    covey(&["reproduce", "--seeds", "901"], "").refused(&["--seeds", "found 901", "calibration"]);
    covey(&["reproduce", "--quick", "--seeds", "101"], "").refused(&["found 101", "evaluated"]);
    covey(&["reproduce", "--record-seed", "1"], "").refused(&["found 1,", "101 to 117"]);
    covey(&["reproduce", "--quick", "--record-seed", "101"], "").refused(&["found 101,", "1 to 3"]);
    covey(&["report", &out], "").refused(&["summary.json", "covey reproduce"]);
    let sweep = |plan: &str| {
        let plan = directory.file("plan.toml", format!("scenario = \"scenario.toml\"\n{plan}"));
        covey(&["sweep", &plan, "--out", &out], "")
    };
    sweep("seeds = [1]\nsedes = 1").refused(&["plan.toml", "line 3", "unknown field `sedes`"]);
    sweep("seeds = [1]\nvary.protocol.targt = [1]").refused(&["vary.protocol.targt", "targt"]);
    sweep("seeds = [3, 3]").refused(&["seeds: 3 is given twice"]);
    sweep("seeds = []").refused(&["seeds: found none"]);
    sweep("seeds = [1]\narms = [\"random@2\"]").refused(&["random@2"]);
    sweep("seeds = [1]\nvary.protocol.allowance = [0.0]").refused(&["allowance", "found 0"]);
    sweep("seeds = [1]\nvary.penetration = [0.0]").refused(&["penetration", "found 0"]);
    let plan = directory.file("plan.toml", PLAN);
    covey(&["sweep", &plan, "--shard", "5/4"], "").refused(&["--shard", "5/4"]);
    assert!(
        !Path::new(&out).exists(),
        "something was made for input that is wrong"
    );
}

#[test]
fn pools_that_cannot_be_are_refused_by_name() {
    let directory = Directory::new("pools");
    let scenario = toy(&directory);
    let out = directory.path("out");
    let pool = |numbers: &str| format!("channel.sidelink.pool={numbers}");
    for (set, expected) in [
        (
            pool("{ subchannels = 0, resource_blocks = 10, mcs = 6 }"),
            ["channel.sidelink.pool.subchannels", "found 0", "1 to 10"],
        ),
        (
            pool("{ subchannels = 5, resource_blocks = 10, mcs = 29 }"),
            ["channel.sidelink.pool.mcs", "found 29", "0 to 20"],
        ),
        (
            "channel.sidelink.t2_ms=2".to_string(),
            ["channel.sidelink.t2_ms", "found 2", "20 to 100 ms"],
        ),
        (
            "channel.model=\"slots\"".to_string(),
            ["channel.model", "slots", "sps"],
        ),
    ] {
        let arguments = ["run", &scenario, "--set", &set, "--out", &out];
        covey(&arguments, "").refused(&expected);
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn folders_that_cannot_be_written_are_said_to_be() {
    let directory = Directory::new("unwritable");
    let scenario = toy(&directory);
    // Root may write anywhere on a disk, so: where a file is in the way, and where the kernel lets nobody.
    let file = directory.file("file", "");
    for out in [format!("{file}/out"), "/proc/covey-out".to_string()] {
        let call = covey(&run_arguments(&scenario, &out), "");
        assert_eq!((call.code, call.stdout.as_str()), (Some(1), ""), "{call:?}");
        assert!(
            call.stderr.contains(&out) && call.stderr.contains("folder"),
            "{call:?}"
        );
    }
    // A disk that takes no more than a few kilobytes of any file.
    let out = directory.path("full");
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$@\"";
    let output = Command::new("bash")
        .args(["-c", script, "bash", env!("CARGO_BIN_EXE_covey")])
        .args(run_arguments(&scenario, &out))
        .output()
        .expect("bash");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("cannot be written: File too large"),
        "{stderr}"
    );
    // Nothing half-written is left, and with room again it goes on.
    for file in walk(Path::new(&out)) {
        let name = file.to_string_lossy();
        assert!(!name.ends_with(".part"), "left behind: {name}");
    }
    covey(&run_arguments(&scenario, &out), "").done();
    assert_eq!(summary(&out)["seeds"], serde_json::json!([1]));
}

#[test]
fn a_plan_can_be_looked_at_and_made_a_slurm_script() {
    let directory = Directory::new("dry");
    toy(&directory);
    let plan = directory.file("plan.toml", PLAN);
    let out = directory.path("out");
    let dry = covey(&["sweep", &plan, "--dry-run", "--out", &out], "");
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(
        dry.stderr
            .contains("4 worlds x 4 seeds = 16 runs of 3 arms; about"),
        "{dry:?}"
    );
    assert!(
        dry.stdout
            .contains("penetration = 1.0, protocol.target = 0.3"),
        "{dry:?}"
    );
    assert!(!Path::new(&out).join("seeds").exists());
    let script = covey(&["sweep", &plan, "--emit-slurm", "--out", &out], "").done();
    assert!(script.starts_with("#!/bin/bash\n"), "{script}");
    for part in ["--array=1-16", "afterany", "plan.toml", "--shard"] {
        assert!(script.contains(part), "{script}");
    }
}

#[test]
fn the_example_plans_are_sound() {
    let directory = Directory::new("examples");
    let out = directory.path("out");
    for (name, worlds) in [
        ("density-penetration", 20),
        ("readings", 19),
        ("critical-density", 1),
        ("robustness", 12),
        ("misbehaviour", 43),
        ("closest", 6),
        ("closest-hosted", 7),
        ("sidelink", 3),
        ("sidelink-uper", 3),
        ("sidelink-causes", 12),
    ] {
        let plan = format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let dry = covey(&["sweep", &plan, "--dry-run", "--out", &out], "");
        assert_eq!(dry.code, Some(0), "{dry:?}");
        assert!(dry.stderr.contains(&format!("{worlds} world")), "{dry:?}");
        assert_eq!(dry.stdout.lines().count(), worlds + 1, "{dry:?}");
    }
}

#[test]
fn arms_are_listed() {
    let text = covey(&["arms"], "").done();
    for part in [
        "proposed@B ",
        "omniscient@B ",
        "runs 16: cam-only, ",
        "`covey reproduce --beyond` adds ",
        "demand@0.22",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    // Help names what the table has, whatever that is; where its lines end is no matter.
    let help = covey(&["run", "--help"], "").done();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for strategy in Arms::builtin().iter() {
        for place in [&text, &help] {
            assert!(place.contains(&strategy.pattern()), "{}", strategy.name);
            assert!(place.contains(strategy.summary), "{}", strategy.name);
        }
    }
    let json: serde_json::Value =
        serde_json::from_str(&covey(&["arms", "--json"], "").done()).expect("JSON");
    let orders: Vec<u64> = json["arms"]
        .as_array()
        .expect("arms")
        .iter()
        .map(|arm| arm["order"].as_u64().expect("an order"))
        .collect();
    assert!(orders.is_sorted() && orders.len() == Arms::builtin().iter().count());
    let added = json["beyond"].as_array().expect("names");
    assert!(added.contains(&"demand@0.22".into()) && !added.contains(&"cam-only".into()));
}
