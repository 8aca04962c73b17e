//! A small net and scenario made with the real SUMO.
#![allow(dead_code, reason = "each file of tests uses a part")]

use covey_traffic::sumo::Sumo;
use std::fs;
use std::path::Path;

/// The installed SUMO; a test that needs it fails without it.
pub(crate) fn sumo() -> Sumo {
    Sumo::find().unwrap_or_else(|error| panic!("this test needs the real SUMO: {error}"))
}

/// Runs one of SUMO's programs in `folder`.
pub(crate) fn run(sumo: &Sumo, tool: &str, folder: &Path, arguments: &[&str]) {
    let output = sumo
        .command(tool)
        .unwrap()
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{tool} {arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Makes `net` (plain or, by its name, gzipped): a signalised crossing of two roads with pavements, a tram line beside it.
pub(crate) fn crossing(sumo: &Sumo, folder: &Path, net: &str) {
    fs::write(
        folder.join("plain.nod.xml"),
        r#"<nodes>
    <node id="c" x="0" y="0" type="traffic_light"/>
    <node id="n" x="0" y="200"/> <node id="s" x="0" y="-200"/>
    <node id="e" x="200" y="0"/> <node id="w" x="-200" y="0"/>
    <node id="tw" x="-200" y="-40"/> <node id="te" x="-20" y="-40"/>
</nodes>"#,
    )
    .unwrap();
    let mut edges = String::from("<edges>\n");
    for arm in ["n", "e", "s", "w"] {
        for (id, from, to) in [(format!("{arm}c"), arm, "c"), (format!("c{arm}"), "c", arm)] {
            edges += &format!(
                "<edge id=\"{id}\" from=\"{from}\" to=\"{to}\" numLanes=\"2\" speed=\"13.9\" sidewalkWidth=\"2\"/>\n"
            );
        }
    }
    edges += "<edge id=\"tram\" from=\"tw\" to=\"te\" numLanes=\"1\" speed=\"13.9\" allow=\"tram\"/>\n</edges>";
    fs::write(folder.join("plain.edg.xml"), edges).unwrap();
    run(
        sumo,
        "netconvert",
        folder,
        &[
            "-n",
            "plain.nod.xml",
            "-e",
            "plain.edg.xml",
            "--crossings.guess",
            "true",
            "-o",
            net,
        ],
    );
}

/// Cars, a bus with a passenger, a bicycle, a tram and somebody on foot, all from `begin` on.
pub(crate) fn demand(begin: u32) -> String {
    let at = |seconds: u32| begin + seconds;
    format!(
        r#"<routes>
    <vType id="lorry-like" vClass="truck" length="11.5" width="2.5" height="3.3"/>
    <vType id="bike" vClass="bicycle"/>
    <vType id="line5" vClass="tram" maxSpeed="8"/>
    <vType id="plain" vClass="passenger" speedFactor="1"/>
    <route id="across" edges="wc ce"/>
    <route id="turning" edges="wc cn"/>
    <vehicle id="a" type="plain" route="across" depart="{}"/>
    <vehicle id="t" type="line5" depart="{}"><route edges="tram"/></vehicle>
    <vehicle id="b" type="lorry-like" route="turning" depart="{}"/>
    <vehicle id="late.slow" type="bike" route="across" depart="{}"/>
    <person id="p" depart="{}"><walk edges="wc ce"/></person>
    <flow id="f" type="plain" from="sc" to="cn" begin="{}" end="{}" number="4"/>
</routes>"#,
        at(0),
        at(0),
        at(2),
        at(3),
        at(3),
        at(4),
        at(12)
    )
}
