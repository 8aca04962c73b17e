//! Somebody's own city as they have it: nothing in its folder is touched, and it can stand wherever a scenario can.

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Directory, covey, read, summary, walk};

const JUNCTION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scenarios/toy/blind-junction/blind-junction"
);

/// A published scenario: its own folder, routes, polygons, and outputs named in every way there is.
fn city(directory: &Directory) -> String {
    let folder = directory.path("city");
    std::fs::create_dir_all(format!("{folder}/results")).expect("a folder");
    let copy = |from: &str, to: &str| {
        std::fs::copy(format!("{JUNCTION}{from}"), format!("{folder}/{to}")).expect("a copy")
    };
    copy(".net.xml", "city.net.xml");
    copy(".poly.xml", "city.poly.xml");
    let polygons = String::from_utf8(read(format!("{folder}/city.poly.xml"))).expect("text");
    let parks = ["a", "b", "c", "d", "e", "f", "a", "b"].iter().enumerate();
    let parks: String = parks
        .map(|(at, name)| format!("<poly id=\"park{at}\" type=\"{name}\" shape=\"0,0 9,0 9,9\"/>"))
        .collect();
    let polygons = polygons.replace("</additional>", &format!("{parks}</additional>"));
    directory.file("city/city.poly.xml", polygons);
    let absolute = directory.path("city/results/absolute.xml");
    directory.file(
        "city/demand.rou.xml",
        r#"<routes>
    <vType id="watched"><param key="device.ssm.file" value="ssm.xml"/></vType>
    <flow id="we" type="watched" from="WC" to="CE" begin="100" end="400" period="2" departSpeed="max"/>
    <flow id="ew" from="EC" to="CW" begin="100" end="400" period="2" departSpeed="max"/>
    <flow id="ns" from="NC" to="CS" begin="100" end="400" period="3" departSpeed="max"/>
</routes>
"#,
    );
    directory.file(
        "city/detectors.add.xml",
        format!(
            r#"<additional>
    <edgeData id="e" file="results/edges.xml" period="10"/>
    <laneData id="l" file="{absolute}" period="10"/>
    <e1Detector id="d" lane="WC_0" pos="10" period="10" file="e1.xml"/>
    <laneAreaDetector id="p" lane="WC_0" pos="1" endPos="20" period="10" file="probe.xml"/>
</additional>
"#
        ),
    );
    directory.file(
        "city/run.sumocfg",
        r#"<configuration>
    <input><net-file value="city.net.xml"/><route-files value="demand.rou.xml"/><additional-files value="city.poly.xml,detectors.add.xml"/></input>
    <output><fcd-output value="results/fcd.xml"/><summary-output value="summary.xml"/></output>
    <report><log value="log.txt"/></report>
    <time><step-length value="0.5"/></time>
</configuration>
"#,
    )
}

/// Every file under a folder and what is in it.
fn content(folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walk(Path::new(folder));
    files.into_iter().map(|f| (f.clone(), read(f))).collect()
}

const SHORT: [&str; 10] = [
    "--arm",
    "cam-only",
    "--arm",
    "proposed@0.4",
    "--warmup",
    "4",
    "--measure",
    "2",
    "--jobs",
    "1",
];

#[test]
fn nothing_is_written_in_a_citys_folder_not_even_where_it_may_not_be() {
    let directory = Directory::new("city");
    let config = city(&directory);
    let before = content(&directory.path("city"));
    let out = directory.path("out");
    let call = [
        &[
            "run",
            "--sumocfg",
            &config,
            "--begin",
            "120",
            "--fill",
            "20",
            "--seed",
            "1001",
        ][..],
        &["--out", &out],
        &SHORT,
    ]
    .concat();
    let said = covey(&call, "");
    assert_eq!(said.code, Some(0), "{said:?}");
    // The file's name says nothing, so the folder's does; what was taken for a building is said.
    assert_eq!(summary(&out)["scenario"]["name"], "city");
    for part in [
        "buildings from 1 polygon file",
        "; 8 polygons of other types left out: 2 `a`, 2 `b`, 1 `c`, 1 `d`, 2 of further types",
    ] {
        assert!(said.stderr.contains(part), "{said:?}");
    }
    assert!(content(&directory.path("city")) == before);
    // Nobody's folder to write in: SUMO and Covey run as somebody else.
    for path in walk(Path::new(&directory.path("city"))) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o444)).expect("a mode");
    }
    for folder in ["city/results", "city"] {
        let mode = PermissionsExt::from_mode(0o555);
        std::fs::set_permissions(directory.path(folder), mode).expect("a mode");
    }
    let elsewhere = std::env::temp_dir().join(format!("covey-nobody-{}", std::process::id()));
    std::fs::create_dir_all(&elsewhere).expect("a folder");
    std::fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o777)).expect("a mode");
    let readable = elsewhere.join("city");
    let copied = Command::new("cp")
        .args(["-rp", &directory.path("city")])
        .arg(&readable)
        .status();
    assert!(copied.expect("cp").success());
    let program = elsewhere.join("covey");
    std::fs::copy(env!("CARGO_BIN_EXE_covey"), &program).expect("the program");
    let sumo = covey_traffic::sumo::Sumo::find().expect("SUMO");
    let result = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&program)
        .args(["run", "--sumocfg"])
        .arg(readable.join("run.sumocfg"))
        .args(["--begin", "120", "--seed", "1001", "--out"])
        .arg(elsewhere.join("out"))
        .args(SHORT)
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", sumo.program.parent().unwrap().display()),
        )
        .current_dir(&elsewhere)
        .output()
        .expect("setpriv");
    let _ = Command::new("rm").arg("-rf").arg(&elsewhere).status();
    let _ = Command::new("chmod")
        .args(["-R", "u+w", &directory.path("city")])
        .status();
    assert!(result.status.success(), "{result:?}");
}

#[test]
fn a_sumo_scenario_is_a_scenario() {
    let directory = Directory::new("as-scenario");
    city(&directory);
    let scenario = directory.file(
        "scenario.toml",
        "name = \"mine\"\n[source]\nsumocfg = \"city/run.sumocfg\"\nbegin_s = 120.0\nfill_s = 20.0\n",
    );
    let out = directory.path("out");
    let run = |more: &[&str]| {
        let call = [
            &["run", &scenario, "--out", &out, "--quiet"][..],
            &SHORT,
            more,
        ]
        .concat();
        covey(&call, "").done();
        summary(&out)
    };
    let plain = run(&["--seeds", "1001..=1002", "--record"]);
    assert_eq!(plain["traffic"], "sumocfg");
    assert!(plain["scenario"]["vehicles"].as_f64().expect("vehicles") > 5.0);
    assert!(Path::new(&format!("{out}/seed-1001.covey")).is_file());
    // Seeds vary demand.
    let runs = |summary: &serde_json::Value| -> Vec<u64> {
        let seeds = summary["arms"]["cam-only"]["per_seed"]
            .as_array()
            .expect("seeds");
        seeds
            .iter()
            .map(|seed| seed["relevant"].as_u64().expect("relevant"))
            .collect()
    };
    let relevant = runs(&plain);
    assert_ne!(relevant[0], relevant[1]);
    // Any key, and the one of the traffic as well.
    let set = run(&[
        "--seed",
        "1001",
        "--set",
        "penetration=0.5",
        "--set",
        "sizes=uper",
    ]);
    assert_eq!(set["readings"]["penetration"], 0.5);
    assert_eq!(set["readings"]["sizes"], "uper");
    let later = run(&["--seed", "1001", "--begin", "151.5"]);
    assert_ne!(runs(&later)[0], relevant[0]);
    // Calibrated, and swept.
    let call = [
        "calibrate",
        &scenario,
        "--dry-run",
        "--seeds",
        "1",
        "--warmup",
        "4",
        "--measure",
        "2",
        "-q",
    ];
    let calibrated = Command::new(env!("CARGO_BIN_EXE_covey"))
        .args(call)
        .current_dir(directory.path(""))
        .output()
        .expect("covey starts");
    assert!(calibrated.status.success(), "{calibrated:?}");
    assert!(String::from_utf8_lossy(&calibrated.stdout).contains("margin_m"));
    sweeps(&directory);
}

/// Plans of the scenario file and of the configuration itself.
fn sweeps(directory: &Directory) {
    for (name, subject) in [
        ("a", "scenario = \"scenario.toml\""),
        (
            "b",
            "sumocfg = \"city/run.sumocfg\"\nset.source.begin_s = 120.0",
        ),
    ] {
        let plan = directory.file(
            &format!("{name}.toml"),
            format!("seeds = [1001]\narms = [\"cam-only\"]\nwarmup_s = 4.0\nmeasure_s = 2.0\nvary.penetration = [0.5, 1.0]\n{subject}\n"),
        );
        let swept = directory.path(name);
        covey(&["sweep", &plan, "--out", &swept, "--quiet"], "").done();
        let json: serde_json::Value =
            serde_json::from_slice(&read(format!("{swept}/sweep.json"))).expect("JSON");
        assert_eq!(
            (&json["traffic"], json["worlds"].as_array().map(Vec::len)),
            (&"sumocfg".into(), Some(2))
        );
    }
}

/// Somebody of every kind.
const EVERYBODY: &str = r#"<routes>
    <vType id="line7" vClass="tram"/>
    <vType id="rider" vClass="bicycle"/>
    <vType id="lorry" vClass="truck"/>
    <flow id="car" from="WC" to="CE" begin="0" end="60" period="2" departSpeed="max"/>
    <flow id="heavy" type="lorry" from="EC" to="CW" begin="0" end="60" period="6"/>
    <flow id="tram" type="line7" from="NC" to="CS" begin="0" end="60" period="15"/>
    <flow id="bicycle" type="rider" from="SC" to="CN" begin="0" end="60" period="5"/>
    <personFlow id="walker" begin="0" end="60" period="4"><walk edges="WC CE"/></personFlow>
</routes>
"#;

#[test]
fn who_has_a_radio_goes_by_class() {
    let directory = Directory::new("classes");
    std::fs::copy(
        format!("{JUNCTION}.net.xml"),
        directory.path("city.net.xml"),
    )
    .expect("a net");
    directory.file("demand.rou.xml", EVERYBODY);
    let config = directory.file(
        "city.sumocfg",
        "<configuration><net-file value=\"city.net.xml\"/><route-files value=\"demand.rou.xml\"/></configuration>",
    );
    let out = directory.path("out");
    let run = |more: &[&str]| {
        let call = [
            &[
                "run",
                "--sumocfg",
                &config,
                "--fill",
                "20",
                "--seed",
                "1001",
                "--quiet",
            ][..],
            &["--set", "penetration=1.0", "--out", &out],
            &SHORT,
            more,
        ]
        .concat();
        let table = covey(&call, "").done();
        (table, summary(&out)["scenario"].clone())
    };
    let (table, plain) = run(&[]);
    let counts = |scenario: &serde_json::Value, class: &str| {
        let count = &scenario["classes"][class];
        (
            count["present"].as_f64().unwrap_or(0.0),
            count["participants"].as_f64().unwrap_or(0.0),
        )
    };
    for class in ["car", "heavy"] {
        let (present, with) = counts(&plain, class);
        assert!(present > 0.0 && with == present, "{plain}");
    }
    for class in ["rail", "bicycle", "pedestrian"] {
        let (present, with) = counts(&plain, class);
        assert!(present > 0.0 && with == 0.0, "{plain}");
    }
    // Persons and trams are counted apart.
    let all: f64 = ["car", "heavy", "bicycle"]
        .map(|class| counts(&plain, class).0)
        .iter()
        .sum();
    assert_eq!(plain["vehicles"].as_f64(), Some(all));
    assert!(
        table.contains("on the road by class (with a radio): car"),
        "{table}"
    );
    // Unless the scenario says otherwise.
    let (_, trams) = run(&[
        "--set",
        "classes.rail.radio=1.0",
        "--set",
        "classes.car.radio=0.0",
    ]);
    assert_eq!(counts(&trams, "car").1, 0.0);
    assert_eq!(counts(&trams, "rail").0, counts(&trams, "rail").1);
    // By type: riders are taken for cars with radios, lorries have none.
    let (_, types) = run(&[
        "--set",
        "types=[{name=\"rid*\", class=\"car\", length_m=2.5}, {name=\"lorry\", radio=0.0}]",
    ]);
    assert_eq!(counts(&types, "bicycle").0, 0.0);
    assert!(counts(&types, "car").1 > counts(&plain, "car").1);
    assert_eq!(counts(&types, "heavy").1, 0.0);
}

#[test]
fn what_does_not_fit_is_said() {
    let directory = Directory::new("misfit");
    let config = city(&directory);
    let out = directory.path("out");
    let run = |more: &[&str]| {
        let call = [
            &["run", "--sumocfg", &config, "--out", &out][..],
            &SHORT,
            more,
        ]
        .concat();
        covey(&call, "")
    };
    // Streets are empty until 100 s.
    run(&[]).refused(&[
        "no vehicle is on the road",
        "from 100 s to about 400 s",
        "--begin",
    ]);
    let routes = directory.path("city/demand.rou.xml");
    run(&["--buildings", &routes]).refused(&["demand.rou.xml", "found no building"]);
    let parks = directory.file(
        "parks.poly.xml",
        "<additional><poly id=\"p\" type=\"park\" shape=\"0,0 9,0 9,9\"/></additional>",
    );
    run(&["--buildings", &parks]).refused(&["parks.poly.xml", "found no building in its polygon"]);
    run(&["--set", "protocol.targt=1"]).refused(&["--set", "targt", "did you mean `target`"]);
    run(&["--set", "protocol.target"]).refused(&["KEY=VALUE"]);
    run(&["--set", "map.net=x"]).refused(&["map.net", "cannot be changed"]);
    run(&["--seeds", "3"]).refused(&["--seeds", "1..=17"]);
    let both = directory.file(
        "both.toml",
        "source.sumocfg = \"a\"\nsource.fcd = \"b\"\nmap.net = \"c\"\n",
    );
    covey(&["run", &both], "").refused(&["both.toml", "both `sumocfg` and `fcd`"]);
    let plan = directory.file("plan.toml", "seeds = [1]\nsumocfg = \"a\"\nnet = \"b\"\n");
    covey(&["sweep", &plan], "").refused(&["plan.toml", "expected one of `scenario`, `sumocfg`"]);
}

#[test]
fn intervals_over_one_recording_say_what_they_cover() {
    let directory = Directory::new("one-recording");
    let mut text = String::from("<fcd-export>\n");
    for step in 0..80 {
        let time = f64::from(step) * 0.1;
        text.push_str(&format!(
            "<timestep time=\"{time:.2}\"><vehicle id=\"a\" x=\"{:.2}\" y=\"-1.6\" angle=\"90\" type=\"car\" speed=\"10\" pos=\"{:.2}\" lane=\"WC_0\"/></timestep>\n",
            20.0 + 10.0 * time,
            20.0 + 10.0 * time,
        ));
    }
    text.push_str("</fcd-export>\n");
    let fcd = directory.file("trace.xml", text);
    let out = directory.path("out");
    let net = format!("{JUNCTION}.net.xml");
    let call = [
        "run",
        "--net",
        &net,
        "--fcd",
        &fcd,
        "--seeds",
        "1..=6",
        "--arm",
        "cam-only",
        "--warmup",
        "1",
        "--measure",
        "2",
        "--out",
        &out,
        "--quiet",
    ];
    let table = covey(&call, "").done();
    assert!(table.contains("one recording on all seeds"), "{table}");
    assert_eq!(summary(&out)["intervals"]["meaningful"], false);
}
