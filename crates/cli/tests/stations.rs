//! Stations beside the road and kinds of stations, as a user has them: files, options, captures.

mod common;

use common::{Directory, covey, read, summary, toy};

const STATIONS: &str = r#"<additional>
    <poi id="gantry" type="rsu" x="0.5" y="0.5"><param key="height" value="5"/></poi>
    <poi id="kiosk" type="shop" x="9" y="9"/>
</additional>
"#;

/// Everybody has a radio, and half of them are buses.
const SETTING: [&str; 13] = [
    "--arm",
    "proposed@0.4",
    "--warmup",
    "2",
    "--measure",
    "1",
    "--quiet",
    "--set",
    "penetration=1.0",
    "--set",
    "classes.heavy.station_type=bus",
    "--set",
    "traffic.heavy_share=0.5",
];

#[test]
fn a_station_from_a_file_hosts_and_its_messages_say_what_it_is() {
    let directory = Directory::new("roadside");
    let scenario = toy(&directory);
    let stations = directory.file("rsu.add.xml", STATIONS);
    let (out, capture) = (directory.path("out"), directory.path("run.pcap"));
    let call = [
        "run",
        &scenario,
        "--out",
        &out,
        "--pcap",
        &capture,
        "--stations",
        &stations,
        "--set",
        "grid.origin_x_m=-250",
        "--set",
        "grid.origin_y_m=-250",
    ];
    let table = covey(&[&call[..], &SETTING].concat(), "").done();
    assert!(table.contains("roadside 1 (1)"), "{table}");
    let first = summary(&out);
    assert_eq!(first["scenario"]["classes"]["roadside"]["present"], 1.0);
    let lines = covey(&["messages", "decode", &capture], "").done();
    let mut kinds = std::collections::BTreeSet::new();
    let mut fused = 0;
    for line in lines.lines() {
        let message: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if message["type"] == "cam" {
            kinds.insert(message["station_type"].as_u64().expect("a number"));
        }
        // The first station's number.
        if message["station_id"] == 1 << 20 && message["type"] == "cpm" {
            fused += 1;
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [5, 6, 15]);
    assert!(fused > 0, "{lines}");
    // The same in a scenario file.
    let mut text = String::from_utf8(read(&scenario)).expect("text");
    text.insert_str(
        text.find("[traffic]").expect("a section"),
        "stations = [\"rsu.add.xml\"]\n",
    );
    text.push_str("[grid]\norigin_x_m = -250\norigin_y_m = -250\n");
    let with_file = directory.file("with.toml", text);
    let again = directory.path("again");
    let call = ["run", &with_file, "--out", &again];
    covey(&[&call[..], &SETTING].concat(), "").done();
    assert_eq!(summary(&again)["arms"], first["arms"]);
}

#[test]
fn a_file_without_stations_is_refused() {
    let directory = Directory::new("no-stations");
    let scenario = toy(&directory);
    let shops = directory.file(
        "shops.add.xml",
        "<additional><poi id=\"a\" type=\"shop\" x=\"1\" y=\"1\"/></additional>",
    );
    covey(&["run", &scenario, "--stations", &shops], "").refused(&[
        "shops.add.xml",
        "found no station",
        "rsu",
    ]);
    covey(&["run", &scenario, "--set", "stations=[{x_m=1.0}]"], "")
        .refused(&["--set", "stations", "y_m"]);
}
