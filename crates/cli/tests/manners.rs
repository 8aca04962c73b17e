//! Files are written where they were asked for, what a person changed is not written over, and what is said is true.

mod common;

use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Directory, covey, read, run_arguments, toy};

/// A short run with a capture.
fn capture<'a>(out: &'a str, file: &'a str, scenario: &'a str) -> Vec<&'a str> {
    vec![
        "run",
        scenario,
        "--arm",
        "cam-only",
        "--warmup",
        "0.4",
        "--measure",
        "0.4",
        "--out",
        out,
        "--pcap",
        file,
    ]
}

/// A scenario that lies on Earth, which captures need.
const CORRIDOR: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scenarios/toy/blind-junction/scenario.toml"
);

#[test]
fn pipes_links_and_standard_output_are_written_through() {
    let directory = Directory::new("through");
    let (plain, out) = (directory.path("plain.pcap"), directory.path("out"));
    covey(
        &[&capture(&out, &plain, CORRIDOR)[..], &["--quiet"]].concat(),
        "",
    )
    .done();
    let bytes = read(&plain);
    // A pipe that somebody reads.
    let pipe = directory.path("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .expect("mkfifo")
            .success()
    );
    let reader = Command::new("cat")
        .arg(&pipe)
        .stdout(Stdio::piped())
        .spawn()
        .expect("cat");
    covey(
        &[&capture(&out, &pipe, CORRIDOR)[..], &["--quiet"]].concat(),
        "",
    )
    .done();
    let heard = reader.wait_with_output().expect("an end").stdout;
    assert!(heard == bytes);
    assert!(
        std::fs::symlink_metadata(&pipe)
            .expect("a pipe")
            .file_type()
            .is_fifo()
    );
    // A link, whose file gets the content.
    let (link, behind) = (
        directory.path("link.pcap"),
        directory.file("behind.pcap", "old"),
    );
    symlink(&behind, &link).expect("a link");
    covey(
        &[&capture(&out, &link, CORRIDOR)[..], &["--quiet"]].concat(),
        "",
    )
    .done();
    assert!(Path::new(&link).is_symlink() && read(&behind) == bytes);
    // And one whose file is not there yet.
    let (link, behind) = (directory.path("new.pcap"), directory.path("made.pcap"));
    symlink("made.pcap", &link).expect("a link");
    covey(
        &[&capture(&out, &link, CORRIDOR)[..], &["--quiet"]].concat(),
        "",
    )
    .done();
    assert!(Path::new(&link).is_symlink() && read(&behind) == bytes);
    // A device, and standard output, from which the tables keep away.
    covey(
        &[&capture(&out, "/dev/null", CORRIDOR)[..], &["--quiet"]].concat(),
        "",
    )
    .done();
    let through = Command::new(env!("CARGO_BIN_EXE_covey"))
        .args(capture(&out, "-", CORRIDOR))
        .output()
        .expect("covey starts");
    assert!(
        through.status.success() && through.stdout == bytes,
        "{:?}",
        through.status
    );
    // What comes out of one program goes into the other.
    let lines = covey(&["messages", "decode", "-"], &bytes).done();
    assert!(lines.lines().count() > 0 && lines.contains("\"type\":\"cam\""));
}

#[test]
fn a_report_that_somebody_changed_is_not_written_over() {
    let directory = Directory::new("edited");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    covey(&run_arguments(&scenario, &out), "").done();
    let page = format!("{out}/report.html");
    let made = read(&page);
    covey(&["report", &out], "").done();
    std::fs::write(&page, "my own words").expect("an edit");
    covey(&["report", &out], "").refused(&["report.html", "changed", "--force"]);
    assert_eq!(read(&page), b"my own words");
    covey(&["report", &out, "--force"], "").done();
    assert!(read(&page) == made);
    std::fs::write(format!("{out}/figures/9-mine.svg"), "<svg/>").expect("a figure");
    covey(&["report", &out], "").refused(&["9-mine.svg", "--force"]);
}

#[test]
fn the_letter_is_quoted_for_its_own_scenario_alone() {
    let directory = Directory::new("quoted");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let table = covey(&run_arguments(&scenario, &out), "").done();
    assert!(!table.contains("letter"), "{table}");
    assert!(table.starts_with("toy: 1 seed, "), "{table}");
}

#[test]
fn names_versions_and_completions_help() {
    let directory = Directory::new("helpful");
    let scenario = toy(&directory);
    covey(&["run", &scenario, "--arm", "propsed@0.4"], "").refused(&["did you mean `proposed@B`"]);
    let version = covey(&["--version"], "").done();
    assert!(
        version.starts_with("covey 0.1.0 (") && version.len() > 18,
        "{version}"
    );
    let script = covey(&["completions", "bash"], "").done();
    assert!(script.contains("complete -F") && script.contains("reproduce"));
    let pages = directory.path("man1");
    covey(&["man", "--out", &pages], "").done();
    let page = String::from_utf8(read(format!("{pages}/covey-run.1"))).expect("text");
    assert!(page.contains("penetration"));
    // Nobody listens on standard error: no panic, the usual code.
    let call = Command::new("bash")
        .args(["-c", "exec \"$0\" \"$@\" 2>&-", env!("CARGO_BIN_EXE_covey")])
        .args(["run", "nowhere.toml"])
        .output()
        .expect("bash");
    assert_eq!(call.status.code(), Some(2));
}

/// What a terminal of 40 columns shows of a call, without what only moves the cursor.
fn on_forty_columns(arguments: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_covey");
    let words: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
    let line = format!("stty rows 24 cols 40; '{program}' {}", words.join(" "));
    let shown = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .output()
        .expect("script");
    assert!(shown.status.success(), "{shown:?}");
    let text = String::from_utf8(shown.stdout).expect("text");
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\x1b' => {
                letters.find(char::is_ascii_alphabetic);
            }
            '\r' => {}
            letter => plain.push(letter),
        }
    }
    plain
}

#[test]
fn lines_fit_a_terminal_of_forty_columns() {
    let directory = Directory::new("narrow");
    let (scenario, out) = (toy(&directory), directory.path("o"));
    let mut run = run_arguments(&scenario, &out);
    run.retain(|word| *word != "--quiet");
    for call in [&["arms"][..], &run, &["clean", &out]] {
        let shown = on_forty_columns(call);
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest > Some(20) && widest <= Some(40), "{shown}");
    }
    // Elsewhere nothing is broken.
    let arms = covey(&["arms"], "").done();
    assert!(arms.lines().any(|line| line.len() > 100));
}

#[test]
fn what_is_asked_for_amiss_is_said() {
    let directory = Directory::new("amiss");
    let (scenario, out) = (toy(&directory), directory.path("out"));
    let pcap = directory.path("x.pcap");
    let call = [
        "run",
        &scenario,
        "--arm",
        "cam-only",
        "--pcap",
        &pcap,
        "--pcap-from",
        "3",
        "--pcap-to",
        "1",
        "--out",
        &out,
    ];
    covey(&call, "").refused(&["--pcap-to", "found 1 s with --pcap-from 3 s"]);
    let late = [&call[..7], &["300", "--out", &out]].concat();
    covey(&late, "").refused(&["--pcap-from", "found 300 s, expected less than 80 s"]);
    assert!(!Path::new(&pcap).exists() && !Path::new(&out).exists());
    let call = ["run", &scenario, "--set", "taget=1", "--out", &out];
    covey(&call, "").refused(&["taget", "did you mean `protocol.target`?"]);
    let twice = "{\"schema\":\"covey.snapshot/1\",\"schema\":\"x\"}";
    covey(&["decide", "-"], twice).refused(&["schema", "given twice"]);
    // A run that was stopped: seeds, and no summary.
    std::fs::create_dir_all(format!("{out}/seeds/abc")).expect("a folder");
    covey(&["report", &out], "").refused(&["not finished", "run the same command again"]);
}
