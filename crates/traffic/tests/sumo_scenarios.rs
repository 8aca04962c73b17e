//! The user's own scenarios, run with the real SUMO.

mod common;
#[path = "common/sumo_net.rs"]
mod sumo_net;

use common::{folder, frames, overwrite};
use covey_traffic::Recording;
use covey_traffic::recorded::{FcdOptions, FloatingCarData};
use covey_traffic::sumo::{RunOptions, Search, Sumo, SumoConfig, SumoError, record, record_cached};
use covey_world::scene::BodyKind;
use covey_world::xml::Limits;
use covey_world::{Frame, Map, MapOptions, Network};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use sumo_net::{crossing, demand, run, sumo};

fn network(path: &Path) -> Network {
    Network::read(path, Limits::default()).unwrap().0
}

#[test]
fn all_formats_that_sumo_writes_give_the_same_frames() {
    let folder = folder("all_formats");
    let sumo = sumo();
    crossing(&sumo, &folder, "net.net.xml");
    fs::write(folder.join("demand.rou.xml"), demand(0)).unwrap();
    let network = network(&folder.join("net.net.xml"));
    let mut all: Vec<Vec<Frame>> = Vec::new();
    for name in ["fcd.xml", "fcd.xml.gz", "fcd.csv", "fcd.parquet"] {
        run(
            &sumo,
            "sumo",
            &folder,
            &[
                "-n",
                "net.net.xml",
                "-r",
                "demand.rou.xml",
                "--fcd-output",
                name,
                "--end",
                "20",
                "--step-length",
                "0.2",
                "--seed",
                "7",
                "--no-step-log",
                "true",
                "--precision",
                "6",
            ],
        );
        let options = FcdOptions {
            begin_us: Some(0),
            ..FcdOptions::default()
        };
        let source = FloatingCarData::open(&folder.join(name), &network, options).unwrap();
        all.push(frames(source).unwrap());
    }
    let [xml, packed, csv, parquet] = &all[..] else {
        panic!("four formats");
    };
    assert_eq!(xml.len(), 20 * 20 - 3, "from 0 to 19.8 s");
    assert!(xml.iter().map(|f| f.vehicles.len()).max().unwrap() >= 7);
    assert_eq!(xml, packed);
    assert_eq!(xml, csv);
    // Parquet holds numbers, not their first six digits, and some in single precision.
    assert_eq!(xml.len(), parquet.len());
    for (a, b) in xml.iter().zip(parquet) {
        assert_eq!(a.time_us, b.time_us);
        assert_eq!(a.vehicles.len(), b.vehicles.len());
        for (a, b) in a.vehicles.iter().zip(&b.vehicles) {
            assert_eq!((a.id, a.lane, a.body), (b.id, b.lane, b.body));
            assert!(a.position.distance(b.position) < 2e-4);
            assert!((a.heading - b.heading).abs() < 1e-5);
            assert!((a.speed - b.speed).abs() < 1e-5);
            assert!((a.lane_position - b.lane_position).abs() < 1e-4);
        }
    }
}

/// A scenario as people publish them: several folders, gzipped files, odd separators, outputs, a port to wait at.
fn published(sumo: &Sumo, folder: &Path, step: &str, extra: &str) -> PathBuf {
    fs::create_dir_all(folder.join("data")).unwrap();
    fs::create_dir_all(folder.join("cfg")).unwrap();
    crossing(sumo, &folder.join("data"), "net.net.xml.gz");
    fs::write(folder.join("data/demand.rou.xml"), demand(3600)).unwrap();
    fs::write(
        folder.join("data/types.add.xml"),
        "<additional><include href=\"more.poly.xml\"/><vType id=\"unused\" vClass=\"coach\"/></additional>",
    )
    .unwrap();
    fs::write(folder.join("data/with space.add.xml"), "<additional/>").unwrap();
    let polygon = |id: &str, x: f64| {
        format!(
            "<additional><poly id=\"{id}\" type=\"building.yes\" color=\"1,0,0\" fill=\"1\" layer=\"-1\" shape=\"{x},20 {},20 {},40 {x},40\"/></additional>",
            x + 20.0,
            x + 20.0
        )
    };
    fs::write(folder.join("data/more.poly.xml"), polygon("h1", 20.0)).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, polygon("h2", -60.0).as_bytes()).unwrap();
    fs::write(
        folder.join("data/houses.poly.xml.gz"),
        packed.finish().unwrap(),
    )
    .unwrap();
    let file = folder.join("cfg/run.sumocfg");
    fs::write(
        &file,
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<configuration xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
    <input>
        <net-file>../data/net.net.xml.gz</net-file>
        <route-files v="../data/demand.rou.xml"/>
        <additional-files value="../data/types.add.xml ../data/houses.poly.xml.gz, ../data/with space.add.xml,"/>
    </input>
    <output>
        <tripinfo-output value="trips.xml"/>
        <fcd-output value="fcd.xml"/>
    </output>
    <time>
        <begin value="3600"/>
        <end value="7200"/>
        {step}
    </time>
    <processing><lateral-resolution value="0.8"/><ignore-route-errors value="true"/></processing>
    <report><verbose value="true"/><duration-log.statistics value="true"/></report>
    <gui_only><gui-settings-file value="no-such-view.xml"/></gui_only>
    <traci_server><remote-port value="54321"/></traci_server>
    <random_number><seed value="5"/><random value="true"/></random_number>
    <summary value="summary.xml"/>
    {extra}
</configuration>"#
        ),
    )
    .unwrap();
    file
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    ["data", "cfg"]
        .iter()
        .flat_map(|sub| fs::read_dir(folder.join(sub)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect()
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one run of SUMO, which takes long, and all that holds of it"
)]
fn a_published_scenario_is_taken_as_it_is() {
    let folder = folder("published");
    let sumo = sumo();
    let file = published(&sumo, &folder, "<step-length value=\"0.1\"/>", "");
    let before = files(&folder);
    let config = SumoConfig::read(&file).unwrap();
    assert_eq!(
        (config.begin_s, config.end_s, config.step_s),
        (3600.0, Some(7200.0), 0.1)
    );
    assert_eq!(config.additional.len(), 3);
    let polygons: Vec<_> = config
        .polygons
        .iter()
        .map(|p| p.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(polygons, ["more.poly.xml", "houses.poly.xml.gz"]);
    for option in [
        "tripinfo-output",
        "remote-port",
        "random",
        "summary",
        "verbose",
    ] {
        assert!(config.left_out.iter().any(|o| o == option), "{option}");
    }
    let (map, _) = Map::read(&config.net, &config.polygons, &MapOptions::default()).unwrap();
    assert_eq!(map.buildings.len(), 2);

    let options = RunOptions {
        duration_s: 12.0,
        look_ahead_s: 60.0,
        ..RunOptions::default()
    };
    let recording = record(&sumo, &config, &map.network, &options).unwrap();
    assert_eq!(recording.steps(), 240);
    assert!(
        recording
            .origin
            .starts_with(&format!("SUMO {}, ", sumo.version))
    );
    let last = recording.frame(239).unwrap();
    let of = |kind: BodyKind| -> Vec<_> {
        last.vehicles
            .iter()
            .filter(|v| v.body.kind == kind)
            .collect()
    };
    let heavy = [of(BodyKind::Heavy), of(BodyKind::Rail)].concat();
    assert_eq!(heavy.len(), 2, "the tram and the lorry");
    assert!(heavy.iter().any(|v| v.body.length == 22.0));
    assert!(
        heavy
            .iter()
            .any(|v| v.body.length == 11.5 && v.body.height == 3.3)
    );
    let two_wheels = [of(BodyKind::TwoWheeler), of(BodyKind::Bicycle)];
    assert_eq!(two_wheels.concat().len(), 1);
    assert_eq!(of(BodyKind::Pedestrian).len(), 1);
    assert!(of(BodyKind::Car).len() >= 3);
    let names: BTreeSet<_> = last
        .vehicles
        .iter()
        .map(|v| recording.name(v.id).unwrap())
        .collect();
    assert!(names.contains("late.slow") && names.contains("f.0") && names.contains("p"));
    // Bodies are where their lanes are.
    for v in last.vehicles.iter().filter(|v| v.lane.is_some()) {
        let lane = &map.network.lanes[v.lane.unwrap().index()];
        assert!(
            lane.shape.project(v.position).1.abs() < 4.0,
            "{}",
            lane.name
        );
    }
    // The car that came first has been seen to cross.
    let first = recording.frame(100).unwrap();
    let a = first
        .vehicles
        .iter()
        .find(|v| recording.name(v.id) == Some("a"))
        .unwrap();
    let next = &map.network.connections[a.next.unwrap().index()];
    assert_eq!(
        map.network.edges[map.network.lanes[next.to.index()].edge.index()].name,
        "ce"
    );
    assert_eq!(
        files(&folder),
        before,
        "nothing is written into the scenario's folders"
    );

    // The same again from the cache; other seeds are other recordings.
    let kept = folder.join("kept/here");
    let again = record_cached(&sumo, &config, &map.network, &options, &kept).unwrap();
    assert_eq!(again, recording, "the same inputs give the same traffic");
    assert_eq!(
        record_cached(&sumo, &config, &map.network, &options, &kept).unwrap(),
        recording
    );
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 1);
    let other = RunOptions {
        seed: 2,
        ..options.clone()
    };
    let other = record_cached(&sumo, &config, &map.network, &other, &kept).unwrap();
    assert_ne!(other, recording);
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 2);
    // A damaged file is made anew.
    for entry in fs::read_dir(&kept).unwrap() {
        fs::write(entry.unwrap().path(), b"COVEYTRC").unwrap();
    }
    assert_eq!(
        record_cached(&sumo, &config, &map.network, &options, &kept).unwrap(),
        recording
    );
}

#[test]
fn other_steps_and_begins_are_interpolated() {
    let folder = folder("other_steps");
    let sumo = sumo();
    // SUMO's own default of one second.
    let file = published(&sumo, &folder, "", "");
    let config = SumoConfig::read(&file).unwrap();
    assert_eq!(config.step_s, 1.0);
    let network = network(&config.net);
    let options = RunOptions {
        duration_s: 8.0,
        ..RunOptions::default()
    };
    let whole = record(&sumo, &config, &network, &options).unwrap();
    assert_eq!(whole.steps(), 160);
    let position = |recording: &Recording, step: usize| {
        let frame = recording.frame(step).unwrap();
        let a = frame
            .vehicles
            .iter()
            .find(|v| recording.name(v.id) == Some("a"));
        a.unwrap().position.x
    };
    let (from, to) = (position(&whole, 60), position(&whole, 80));
    assert!(to - from > 5.0, "it moves");
    assert!((position(&whole, 70) - (from + to) / 2.0).abs() < 1e-6);
    // From later on, the same traffic.
    let late = RunOptions {
        begin_s: Some(3602.525),
        duration_s: 4.0,
        ..options.clone()
    };
    let late = record(&sumo, &config, &network, &late).unwrap();
    let middle = (position(&whole, 50) + position(&whole, 51)) / 2.0;
    assert!((position(&late, 0) - middle).abs() < 1e-6);
    // With a step of our own.
    let fine = RunOptions {
        step_s: Some(0.05),
        duration_s: 3.0,
        ..options
    };
    assert_eq!(record(&sumo, &config, &network, &fine).unwrap().steps(), 60);
}

#[test]
fn what_is_wrong_is_said() {
    let folder = folder("wrong");
    let sumo = sumo();
    let text = |result: Result<Recording, SumoError>| result.unwrap_err().to_string();
    let file = published(&sumo, &folder, "", "<no-such-option value=\"1\"/>");
    let config = SumoConfig::read(&file).unwrap();
    let network = network(&config.net);
    let options = RunOptions::default();
    let said = text(record(&sumo, &config, &network, &options));
    assert!(
        said.contains("failed (exit status: 1)") && said.contains("no-such-option"),
        "{said}"
    );

    // A net that is not the scenario's.
    let file = published(&sumo, &folder, "", "");
    let config = SumoConfig::read(&file).unwrap();
    let said = text(record(&sumo, &config, &common::corner(), &options));
    assert!(said.contains("which the net does not have"), "{said}");

    let read = |content: &str| {
        fs::write(folder.join("cfg/bad.sumocfg"), content).unwrap();
        SumoConfig::read(&folder.join("cfg/bad.sumocfg"))
            .unwrap_err()
            .to_string()
    };
    let said = read("<configuration>\n<input><net-file value=\"a.net.xml\"/>\n");
    assert!(said.ends_with("bad.sumocfg, line 3: the file breaks off, expected </configuration> or </sumoConfiguration>"), "{said}");
    let said = read("<configuration>\n<begin value=\"soon\"/></configuration>");
    assert!(
        said.ends_with("line 2: `begin` is `soon`, expected a number of seconds"),
        "{said}"
    );
    let said = read("<configuration/>");
    assert!(
        said.ends_with("no net is named; expected <net-file value=\"....net.xml\"/>"),
        "{said}"
    );
    let said = read("<net></net>");
    assert!(
        said.ends_with("line 1: found <net>, expected <configuration> or <sumoConfiguration>"),
        "{said}"
    );
    let said =
        read("<configuration><n value=\"a.net.xml\"/><r value=\"gone.rou.xml\"/></configuration>");
    assert!(said.contains("gone.rou.xml: cannot be read"), "{said}");
    let whole = fs::read_to_string(folder.join("cfg/run.sumocfg")).unwrap();
    for end in 0..whole.len() {
        overwrite(&folder.join("cfg/cut.sumocfg"), &whole.as_bytes()[..end]);
        SumoConfig::read(&folder.join("cfg/cut.sumocfg")).unwrap_err();
    }
}

#[test]
fn a_missing_sumo_is_named_with_the_way_to_get_it() {
    let folder = folder("no_sumo");
    let search = Search {
        path: Some(folder.clone().into_os_string()),
        home: Some(folder.join("home")),
        folder: None,
    };
    let said = Sumo::find_in(search).unwrap_err().to_string();
    let expected = format!(
        "SUMO's `sumo` was not found on PATH, in SUMO_HOME ({}) or in a .venv here or above; to get it: python3 -m venv .venv && .venv/bin/pip install eclipse-sumo",
        folder.join("home").display()
    );
    assert_eq!(said, expected);
}
