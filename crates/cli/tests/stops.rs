//! Ctrl-C, polite and impolite kills while SUMO runs: a quick end, no child left, nothing incomplete kept, the same command goes on.

mod common;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Directory, read, wait_for, walk};

const NET: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scenarios/toy/blind-junction/blind-junction.net.xml"
);

/// Enough vehicles at steps so short that SUMO takes a while.
fn scenario(directory: &Directory) -> String {
    directory.file(
        "demand.rou.xml",
        r#"<routes>
    <flow id="we" from="WC" to="CE" begin="0" end="300" period="2" departSpeed="max"/>
    <flow id="ew" from="EC" to="CW" begin="0" end="300" period="2" departSpeed="max"/>
    <flow id="ns" from="NC" to="CS" begin="0" end="300" period="3" departSpeed="max"/>
</routes>
"#,
    );
    directory.file(
        "city.sumocfg",
        format!(
            "<configuration><net-file value=\"{NET}\"/><route-files value=\"demand.rou.xml\"/>\
             <step-length value=\"0.01\"/></configuration>\n"
        ),
    )
}

fn start(config: &str, out: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_covey"))
        .args(["run", "--sumocfg", config, "--arm", "cam-only"])
        .args(["--seed", "1001", "--seed", "1002", "--jobs", "1"])
        .args(["--warmup", "10", "--measure", "2", "--out", out])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // As a shell starts it: with a group of its own, to which a terminal sends what is typed.
        .process_group(0)
        .spawn()
        .expect("covey starts")
}

/// Processes that work in a folder that `process` made for SUMO.
fn children(process: u32) -> Vec<PathBuf> {
    let mark = format!("covey-sumo-{process}-");
    let processes = std::fs::read_dir("/proc").expect("processes");
    processes
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let folder = std::fs::read_link(path.join("cwd")).unwrap_or_default();
            folder.to_string_lossy().contains(&mark)
        })
        .collect()
}

/// Traffic that is kept, by name.
fn traces(out: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(out).join("traffic");
    if !folder.is_dir() {
        return Vec::new();
    }
    let files = walk(&folder).into_iter();
    let traces = files.filter(|file| file.extension().is_some_and(|end| end == "trace"));
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    traces.map(|file| (name(&file), read(&file))).collect()
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill")
        .args(["-s", name, "--", &format!("-{process}")])
        .status()
        .expect("kill");
    assert!(sent.success(), "{name}");
}

#[test]
fn stopped_at_any_moment_with_sumo_running_it_goes_on_to_the_same_end() {
    let directory = Directory::new("stops");
    let config = scenario(&directory);
    let (whole, stopped) = (directory.path("whole"), directory.path("stopped"));
    let begin = Instant::now();
    assert!(start(&config, &whole).wait().expect("an end").success());
    let took = begin.elapsed();
    let expected = traces(&whole);
    assert_eq!(expected.len(), 2);
    let mut random: u64 = 2026;
    let mut with_sumo = 0;
    for round in 0..10 {
        let mut child = start(&config, &stopped);
        let process = child.id();
        wait_for(|| !children(process).is_empty() || traces(&stopped).len() == 2);
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let most = (took.as_micros() as u64 / 3).max(1000);
        std::thread::sleep(Duration::from_micros((random >> 33) % most));
        with_sumo += usize::from(!children(process).is_empty());
        let name = ["INT", "TERM", "KILL"][round % 3];
        let begin = Instant::now();
        signal(name, process);
        child.wait().expect("an end");
        // A second for the program, and some for a machine that others work on.
        let took = begin.elapsed();
        assert!(took < Duration::from_millis(2000), "{name}: {took:?}");
        wait_for(|| children(process).is_empty());
        let took = begin.elapsed();
        assert!(took < Duration::from_millis(3000), "{name}: {took:?}");
        for trace in traces(&stopped) {
            assert!(expected.contains(&trace), "{name}: a trace cut short");
        }
    }
    assert!(with_sumo >= 5, "SUMO ran in {with_sumo} rounds only");
    assert!(start(&config, &stopped).wait().expect("an end").success());
    assert!(traces(&stopped) == expected);
    for table in ["runs.parquet", "cycles.parquet"] {
        let [a, b] = [&whole, &stopped].map(|out| read(format!("{out}/{table}")));
        assert!(a == b, "{table}");
    }
    for file in walk(Path::new(&stopped)) {
        assert!(!file.to_string_lossy().ends_with(".part"), "{file:?}");
    }
}

#[test]
fn a_calibration_that_is_stopped_writes_nothing_and_leaves_no_sumo() {
    let directory = Directory::new("stopped-calibration");
    scenario(&directory);
    let text = "name = \"stopped\"\n[source]\nsumocfg = \"city.sumocfg\"\nbegin_s = 60.0\n";
    let file = directory.file("stopped.toml", text);
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_covey"))
            .args(["calibrate", &file, "--seeds", "1"])
            .args(["--warmup", "4", "--measure", "2"])
            .current_dir(directory.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("covey starts")
    };
    for name in ["INT", "TERM"] {
        let child = start();
        let process = child.id();
        wait_for(|| !children(process).is_empty());
        let begin = Instant::now();
        signal(name, process);
        let ended = child.wait_with_output().expect("an end");
        let took = begin.elapsed();
        assert!(took < Duration::from_millis(2000), "{name}: {took:?}");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains("stopped after 0 of 1 seed"), "{said}");
        wait_for(|| children(process).is_empty());
        assert_eq!(read(&file), text.as_bytes());
    }
    let ended = start().wait_with_output().expect("an end");
    assert!(ended.status.success(), "{ended:?}");
    assert!(String::from_utf8_lossy(&read(&file)).contains("[calibrated]"));
}
