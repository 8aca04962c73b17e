//! Real nodes, as processes and in real time. They need the machine to themselves (.config/nextest.toml).

#![cfg(feature = "node")]
#![allow(
    clippy::too_many_lines,
    reason = "a story is told from its beginning to its end"
)]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::covey;

fn junction() -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = top.join("scenarios/toy/blind-junction/scenario.toml");
    file.canonicalize().unwrap().display().to_string()
}

/// A drive of six nodes at the blind junction.
fn drive(arguments: &[&str]) -> Value {
    let file = junction();
    let mut all = vec!["drive", file.as_str(), "--nodes", "6", "--json", "--quiet"];
    all.extend(arguments);
    let text = covey(&all, "").done();
    serde_json::from_str(&text).unwrap()
}

fn number(report: &Value, pointer: &str) -> f64 {
    let value = report.pointer(pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no {pointer} in {report:#}"))
}

#[test]
fn six_nodes_do_what_the_simulator_does() {
    let report = drive(&["--measure", "20", "--seed", "4"]);
    let apart = number(&report, "/nodes/deficit") - number(&report, "/simulator/deficit");
    assert!(apart.abs() <= 0.005, "{report:#}");
    assert!(number(&report, "/same_host") >= 0.97, "{report:#}");
    assert!(number(&report, "/same_reports") >= 0.9, "{report:#}");
    assert!(number(&report, "/nodes/reports") > 50.0, "{report:#}");
    let load = number(&report, "/nodes/load") / number(&report, "/simulator/load");
    assert!((0.8..1.25).contains(&load), "{report:#}");
    assert!(
        number(&report, "/resident_kb") < 64.0 * 1024.0,
        "{report:#}"
    );
    assert!(number(&report, "/stopped_s") < 1.0, "{report:#}");
}

#[test]
fn losses_a_partition_and_a_flood_do_not_stop_the_service() {
    let report = drive(&[
        "--measure",
        "20",
        "--seed",
        "4",
        "--loss",
        "0.2",
        "--partition",
        "6..10",
        "--flood",
        "10000@13..17",
        "--signed",
    ]);
    // Of two hosts of the halves one is left.
    let halves = &report["partitions"][0];
    assert!(halves["hosts"].as_array().unwrap().len() >= 2, "{halves:#}");
    assert!(number(halves, "/settled_after_s") <= 1.4, "{halves:#}");
    assert!(number(&report, "/flooded") > 30_000.0, "{report:#}");
    assert!(number(&report, "/longest_pause_s") <= 1.4, "{report:#}");
    assert!(number(&report, "/nodes/broadcasts") >= 90.0, "{report:#}");
    for counts in report["counts"].as_object().unwrap().values() {
        assert!(number(counts, "/flooded") > 10_000.0, "{counts:#}");
        assert!(number(counts, "/beacons_heard") > 300.0, "{counts:#}");
        assert_eq!(number(counts, "/wrongly_signed"), 0.0, "{counts:#}");
    }
}

#[test]
fn ten_hosts_are_killed_and_ten_follow_within_1_4_s() {
    let times: Vec<String> = (0..10)
        .map(|k| format!("{:.1}", 4.0 + 2.3 * f64::from(k)))
        .collect();
    // Started again later than the others take to follow: who is back within a second is waited for, if it is the nearest.
    let mut arguments = vec!["--measure", "24", "--seed", "8", "--revive", "1.6"];
    for time in &times {
        arguments.extend(["--kill-host", time]);
    }
    let report = drive(&arguments);
    let kills = report["kills"].as_array().unwrap();
    assert_eq!(kills.len(), 10, "{report:#}");
    for kill in kills {
        assert!(number(kill, "/after_s") <= 1.4, "{kills:#?}");
    }
}

/// A folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

struct Node {
    child: Child,
    lines: BufReader<std::process::ChildStderr>,
}

impl Node {
    fn start(config: &Path, set: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_covey"));
        command.arg("node").arg(config);
        for one in set {
            command.args(["--set", one]);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        Self { child, lines }
    }

    /// The next line of the log that tells of `event`.
    fn wait_for(&mut self, event: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(
                self.lines.read_line(&mut line).unwrap() > 0,
                "the log ended before {event}"
            );
            let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            if line["event"] == event {
                return line;
            }
        }
    }

    fn stop(mut self) -> Duration {
        let begin = Instant::now();
        let stopped = Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(stopped.success());
        self.wait_for("stopped");
        assert!(self.child.wait().unwrap().success());
        begin.elapsed()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(port: u64, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port as u16)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_node_is_told_by_its_vehicle_and_tells_what_it_knows() {
    let folder = folder("node-socket");
    let config = folder.join("node.toml");
    let socket = folder.join("vehicle.sock");
    let port = 20_000 + std::process::id() % 20_000;
    std::fs::write(
        &config,
        format!(
            "station_id = 7\nscenario = {:?}\nstatus_port = 0\n[radio]\ngroup = \"239.118.122.97:{port}\"\nlocal = \"127.0.0.1\"\n[vehicle]\nsocket = \"vehicle.sock\"\n",
            junction()
        ),
    )
    .unwrap();
    let begin = Instant::now();
    let mut first = Node::start(&config, &[]);
    let started = first.wait_for("started");
    assert!(
        begin.elapsed() < Duration::from_secs(1),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(
        (&started["station"], &started["congestion"]),
        (&7.into(), &"own counts".into())
    );
    // The other gets its place from NMEA: 0.00002 degrees are two metres from where the map, which is nowhere, lies.
    let nmea = folder.join("track.nmea");
    let lines: String = (0..8)
        .map(|s| format!("$GPRMC,1200{s:02},A,0000.0012,N,00000.0006,E,0.0,0.0,010126,,\n"))
        .collect();
    std::fs::write(&nmea, lines).unwrap();
    let mut second = Node::start(
        &config,
        &[
            "station_id=8",
            "vehicle.socket=\"other.sock\"",
            "vehicle.nmea=\"track.nmea\"",
        ],
    );
    second.wait_for("started");
    let mut vehicle = UnixStream::connect(&socket).unwrap();
    let mut answers = BufReader::new(vehicle.try_clone().unwrap());
    let mut line = String::new();
    writeln!(vehicle, r#"{{"type":"state","spd":1}}"#).unwrap();
    answers.read_line(&mut line).unwrap();
    assert!(line.contains("error") && line.contains("spd"), "{line}");
    // Nearer the middle of the tile than the other, it hosts.
    for tenth in 0..35 {
        writeln!(
            vehicle,
            r#"{{"type":"state","x_m":250.5,"y_m":250.5,"heading_rad":0,"speed_m_s":0}}"#
        )
        .unwrap();
        writeln!(vehicle, r#"{{"type":"sensed","objects":[{{"id":3,"east_m":20,"north_m":0,"size_m":[0.5,0.5,1.8]}}]}}"#).unwrap();
        if tenth == 0 {
            writeln!(vehicle, r#"{{"type":"watch"}}"#).unwrap();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    writeln!(vehicle, r#"{{"type":"ask"}}"#).unwrap();
    let known = loop {
        line.clear();
        assert!(answers.read_line(&mut line).unwrap() > 0);
        let answer: Value = serde_json::from_str(&line).unwrap();
        if answer["type"] == "known" {
            break answer;
        }
        assert_eq!(answer["type"], "event", "{answer}");
    };
    assert_eq!(known["hosts"], serde_json::json!([0, 0]), "{known}");
    let ids: Vec<&str> = known["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"8") && ids.contains(&"7:3"), "{ids:?}");
    let port = started["status_port"].as_u64().unwrap();
    let metrics = get(port, "/metrics");
    assert!(
        metrics.contains("\ncovey_host 1\n")
            && metrics.contains("covey_occupancy_source{by=\"own counts\"} 1"),
        "{metrics}"
    );
    let heard = metrics
        .lines()
        .find_map(|line| line.strip_prefix("covey_beacons_heard_total "));
    assert!(heard.unwrap().parse::<u64>().unwrap() > 10, "{metrics}");
    assert!(get(port, "/").contains("<h1>Station 7</h1>"));
    // Who forgets to give it another number is told.
    writeln!(
        vehicle,
        r#"{{"type":"state","x_m":250.5,"y_m":250.5,"speed_m_s":0}}"#
    )
    .unwrap();
    let mut namesake = Node::start(
        &config,
        &[
            "vehicle.socket=\"third.sock\"",
            "vehicle.nmea=\"track.nmea\"",
        ],
    );
    let told = namesake.wait_for("namesake");
    assert_eq!(told["station"], 7, "{told}");
    namesake.stop();
    assert!(first.stop() < Duration::from_secs(1));
    assert!(!socket.exists(), "its socket goes with it");
    let begin = Instant::now();
    let mut again = Node::start(&config, &[]);
    again.wait_for("started");
    assert!(
        begin.elapsed() < Duration::from_secs(1),
        "{:?}",
        begin.elapsed()
    );
    again.stop();
    second.stop();
}

#[test]
fn what_is_wrong_with_a_configuration_is_said() {
    let folder = folder("node-errors");
    let config = folder.join("node.toml");
    std::fs::write(&config, "station_id = 7\nscenaro = \"x\"\n").unwrap();
    let call = covey(&["node", &config.display().to_string()], "");
    assert_eq!(call.code, Some(2));
    assert!(
        call.stderr
            .contains("node.toml: line 2: unknown field `scenaro`: did you mean `scenario`?"),
        "{}",
        call.stderr
    );
    let scenario = format!("scenario={}", junction());
    let good = covey(
        &[
            "node",
            "--check",
            "--set",
            "station_id=7",
            "--set",
            &scenario,
        ],
        "",
    )
    .done();
    assert_eq!(good, "The configuration is good.\n");
    let call = covey(
        &[
            "node",
            "--check",
            "--set",
            "station_id=7",
            "--set",
            &scenario,
            "--set",
            "arm=cam-only",
        ],
        "",
    );
    assert!(
        call.code == Some(2) && call.stderr.contains("expected an arm with hosts"),
        "{}",
        call.stderr
    );
    let call = covey(
        &[
            "node",
            "--set",
            "station_id=7",
            "--set",
            &scenario,
            "--set",
            "radio.link=ethernet",
            "--set",
            "radio.interface=nowhere0",
        ],
        "",
    );
    assert!(
        call.code == Some(1)
            && call
                .stderr
                .contains("found no interface `nowhere0`, expected one of"),
        "{}",
        call.stderr
    );
    // File, key, what was found and what helps: of a busy port, an address of nobody, a file that is not there.
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = format!("status_port={}", held.local_addr().unwrap().port());
    std::fs::write(&config, "station_id = 7\n").unwrap();
    for (set, code, expected) in [
        (
            busy.as_str(),
            1,
            "in use (os error 98); choose another port",
        ),
        ("radio.local=203.0.113.9", 1, "radio.local: 203.0.113.9: "),
        ("user=nobody-of-that-name", 1, "expected the name of a user"),
        ("vehicle.replay=none.jsonl", 2, "vehicle.replay: "),
        ("vehicle.replay=.", 2, "expected a file of JSON lines"),
        ("vehicle.socket=/nowhere/x.sock", 1, "make its folder first"),
        ("scenario=none.toml", 2, "scenario: "),
        ("security.change_s=300", 2, "security.folder: found nothing"),
    ] {
        let file = config.display().to_string();
        let call = covey(&["node", &file, "--set", &scenario, "--set", set], "");
        assert!(
            call.code == Some(code)
                && call.stderr.contains("node.toml: ")
                && call.stderr.contains(expected),
            "{set}: {:?} {}",
            call.code,
            call.stderr
        );
    }
    let call = covey(&["drive", &junction(), "--nodes", "60"], "");
    assert!(
        call.code == Some(2) && call.stderr.contains("--nodes: found 60, expected at most"),
        "{}",
        call.stderr
    );
    let call = covey(&["drive", &junction(), "--loss", "2"], "");
    assert!(
        call.code == Some(2) && call.stderr.contains("--loss: found 2"),
        "{}",
        call.stderr
    );
}

#[test]
fn keys_are_made_shown_and_not_written_over() {
    let folder = folder("pki");
    let pki = folder.join("pki").display().to_string();
    covey(&["pki", "init", &pki], "").done();
    let tickets = folder.join("tickets").display().to_string();
    let made = covey(
        &["pki", "tickets", &pki, "--count", "3", "--out", &tickets],
        "",
    )
    .done();
    let made: Vec<&str> = made.lines().collect();
    assert_eq!(made.len(), 3);
    let shown = covey(&["pki", "show", made[0]], "").done();
    assert!(
        shown.starts_with("ticket ") && shown.contains("signs: CAM, CPM"),
        "{shown}"
    );
    let again = covey(&["pki", "init", &pki], "");
    assert!(
        again.code == Some(2) && again.stderr.contains("root.key"),
        "{}",
        again.stderr
    );
    let scenario = format!("scenario={}", junction());
    let keys = [
        format!("security.folder={pki}"),
        format!("security.tickets={tickets}"),
    ];
    covey(
        &[
            "node", "--check", "--set", &scenario, "--set", &keys[0], "--set", &keys[1],
        ],
        "",
    )
    .done();
    // A ticket of somebody else is refused.
    let other = folder.join("other").display().to_string();
    covey(&["pki", "init", &other], "").done();
    let keys = [
        format!("security.folder={other}"),
        format!("security.tickets={tickets}"),
    ];
    let call = covey(
        &[
            "node", "--check", "--set", &scenario, "--set", &keys[0], "--set", &keys[1],
        ],
        "",
    );
    assert!(
        call.code == Some(2) && call.stderr.contains("its issuer"),
        "{}",
        call.stderr
    );
}
