//! Recorded trajectories of public data sets become scenarios: small files written for the test in the documented formats, real SUMO.

mod common;

use common::{Directory, covey, read, summary};

/// Two sections of an arterial and a junction between them, driven along by six vehicles, and a street that crosses.
fn ngsim() -> String {
    let mut text = String::from(
        "Vehicle_ID,Frame_ID,Total_Frames,Global_Time,Local_X,Local_Y,Global_X,Global_Y,v_length,v_Width,v_Class,v_Vel,v_Acc,Lane_ID,O_Zone,D_Zone,Int_ID,Section_ID,Direction,Movement,Preceding,Following,Space_Headway,Time_Headway,Location\n",
    );
    for vehicle in 0..6_u32 {
        let lane = 1 + vehicle % 2;
        for frame in 0..160_u32 {
            let y = 3.3 * f64::from(frame) + 40.0 * f64::from(vehicle / 2);
            let (number, junction, section) = match y {
                y if y < 250.0 => (lane, 0, 1),
                y if y < 330.0 => (0, 2, 0),
                _ => (lane, 0, 2),
            };
            text.push_str(&format!(
                "{vehicle},{frame},160,{},0,0,{:.2},{:.2},{},6.4,{},33,0,{number},101,201,{junction},{section},2,1,0,0,0,0,lankershim\n",
                1_118_935_680_200_u64 + u64::from(frame) * 100,
                6_452_400.0 + 12.0 * f64::from(lane),
                1_872_000.0 + y,
                if vehicle == 5 { 40.0 } else { 14.5 },
                if vehicle == 5 { 3 } else { 2 },
            ));
        }
    }
    // Across, within the junction alone.
    for frame in 0..80_u32 {
        text.push_str(&format!(
            "77,{frame},80,{},0,0,{:.2},{:.2},14.5,6.4,2,33,0,0,103,203,2,0,1,1,0,0,0,0,lankershim\n",
            1_118_935_682_200_u64 + u64::from(frame) * 100,
            6_452_280.0 + 3.3 * f64::from(frame),
            1_872_290.0,
        ));
    }
    text
}

#[test]
fn ngsim_becomes_a_scenario_with_recorded_traffic() {
    let directory = Directory::new("ngsim");
    let file = directory.file("trajectories.csv", ngsim());
    let folder = directory.path("lankershim");
    let made = covey(&["import", "--ngsim", &file, "--out", &folder], "");
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.stdout.contains("7 tracks, 15.9 s, "), "{made:?}");
    let share: f64 = made
        .stdout
        .split(", ")
        .find_map(|part| part.strip_suffix(" % of all samples on a lane\n"))
        .expect("a share")
        .parse()
        .expect("a number");
    assert!(share > 85.0, "{made:?}");
    let scenario = format!("{folder}/scenario.toml");
    let out = directory.path("out");
    let call = [
        "run",
        &scenario,
        "--arm",
        "cam-only",
        "--arm",
        "proposed@0.4",
        "--seed",
        "1001",
        "--warmup",
        "4",
        "--measure",
        "4",
        "--set",
        "penetration=1.0",
        "--out",
        &out,
        "--quiet",
    ];
    covey(&call, "").done();
    let result = summary(&out);
    assert_eq!(result["scenario"]["vehicles"], 7.0);
    assert_eq!(result["scenario"]["classes"]["heavy"]["present"], 1.0);
    assert!(result["arms"]["cam-only"]["per_seed"][0]["relevant"].as_u64() > Some(0));
    // A person's edits stay.
    std::fs::write(&scenario, "my own words").expect("an edit");
    covey(&["import", "--ngsim", &file, "--out", &folder], "")
        .refused(&["scenario.toml", "--force"]);
    assert_eq!(read(&scenario), b"my own words");
}

#[test]
fn a_mistake_in_a_recording_is_named_with_file_line_and_field() {
    let directory = Directory::new("ngsim-wrong");
    let folder = directory.path("made");
    let bad = directory.file("bad.csv", ngsim().replacen(",33,", ",fast,", 1));
    covey(&["import", "--ngsim", &bad, "--out", &folder], "")
        .refused(&["bad.csv: line 2: v_vel: found `fast`"]);
    assert!(!std::path::Path::new(&folder).exists());
    let bad = directory.file(
        "bad.xml",
        format!("{CROSSING}</commonRoad>").replacen("<x>-60</x>", "<x>left</x>", 1),
    );
    covey(&["import", "--commonroad", &bad, "--out", &folder], "").refused(&[
        "bad.xml: line 3: ",
        "found `left`",
        "a number",
    ]);
    let bad = directory.file("cut.xml", &CROSSING[..400]);
    covey(&["import", "--commonroad", &bad, "--out", &folder], "").refused(&["cut.xml: line "]);
    covey(
        &[
            "import", "--ngsim", &bad, "--out", &folder, "--from", "3", "--to", "1",
        ],
        "",
    )
    .refused(&["--to", "later"]);
}

/// Two streets that cross, two lanelets each before and after, a car on each, and a person.
const CROSSING: &str = r#"<?xml version="1.0"?>
<commonRoad timeStepSize="0.1" commonRoadVersion="2020a" benchmarkID="ZAM_Test-1_1_T-1">
<lanelet id="1"><leftBound><point><x>-60</x><y>2</y></point><point><x>-8</x><y>2</y></point></leftBound><rightBound><point><x>-60</x><y>-2</y></point><point><x>-8</x><y>-2</y></point></rightBound><successor ref="2"/></lanelet>
<lanelet id="2"><leftBound><point><x>-8</x><y>2</y></point><point><x>8</x><y>2</y></point></leftBound><rightBound><point><x>-8</x><y>-2</y></point><point><x>8</x><y>-2</y></point></rightBound><predecessor ref="1"/><successor ref="3"/></lanelet>
<lanelet id="3"><leftBound><point><x>8</x><y>2</y></point><point><x>60</x><y>2</y></point></leftBound><rightBound><point><x>8</x><y>-2</y></point><point><x>60</x><y>-2</y></point></rightBound><predecessor ref="2"/></lanelet>
<lanelet id="4"><leftBound><point><x>-2</x><y>-60</y></point><point><x>-2</x><y>-8</y></point></leftBound><rightBound><point><x>2</x><y>-60</y></point><point><x>2</x><y>-8</y></point></rightBound><successor ref="5"/></lanelet>
<lanelet id="5"><leftBound><point><x>-2</x><y>-8</y></point><point><x>-2</x><y>8</y></point></leftBound><rightBound><point><x>2</x><y>-8</y></point><point><x>2</x><y>8</y></point></rightBound><predecessor ref="4"/><successor ref="6"/></lanelet>
<lanelet id="6"><leftBound><point><x>-2</x><y>8</y></point><point><x>-2</x><y>60</y></point></leftBound><rightBound><point><x>2</x><y>8</y></point><point><x>2</x><y>60</y></point></rightBound><predecessor ref="5"/></lanelet>
"#;

fn obstacle(
    id: u32,
    kind: &str,
    size: [f64; 2],
    at: impl Fn(f64) -> (f64, f64),
    heading: f64,
    speed: f64,
) -> String {
    let state = |name: &str, step: u32| {
        let (x, y) = at(f64::from(step) * 0.1);
        format!(
            "<{name}><position><point><x>{x}</x><y>{y}</y></point></position><orientation><exact>{heading}</exact></orientation><time><exact>{step}</exact></time><velocity><exact>{speed}</exact></velocity></{name}>\n"
        )
    };
    let states: String = (1..80).map(|step| state("state", step)).collect();
    format!(
        "<dynamicObstacle id=\"{id}\"><type>{kind}</type><shape><rectangle><length>{}</length><width>{}</width></rectangle></shape>{}<trajectory>{states}</trajectory></dynamicObstacle>\n",
        size[0],
        size[1],
        state("initialState", 0)
    )
}

#[test]
fn commonroad_becomes_a_scenario_whose_ways_cross() {
    let directory = Directory::new("commonroad");
    let mut text = CROSSING.to_string();
    text.push_str(&obstacle(
        30,
        "car",
        [4.5, 1.8],
        |t| (-50.0 + 5.0 * t, 0.0),
        0.0,
        5.0,
    ));
    text.push_str(&obstacle(
        31,
        "bus",
        [12.0, 2.5],
        |t| (0.0, -50.0 + 5.0 * t),
        std::f64::consts::FRAC_PI_2,
        5.0,
    ));
    text.push_str(&obstacle(
        32,
        "pedestrian",
        [0.5, 0.5],
        |t| (30.0, -4.0 + t),
        std::f64::consts::FRAC_PI_2,
        1.0,
    ));
    text.push_str("</commonRoad>\n");
    let file = directory.file("ZAM_Test-1_1.xml", text);
    let folder = directory.path("made");
    let made = covey(&["import", "--commonroad", &file, "--out", &folder], "");
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(
        made.stdout.contains("3 tracks, 7.9 s, 4 streets, "),
        "{made:?}"
    );
    let (scenario, out) = (format!("{folder}/scenario.toml"), directory.path("out"));
    let call = [
        "run",
        &scenario,
        "--arm",
        "cam-only",
        "--arm",
        "oracle",
        "--seed",
        "1001",
        "--warmup",
        "1",
        "--measure",
        "5",
        "--set",
        "penetration=1.0",
        "--out",
        &out,
        "--quiet",
    ];
    let table = covey(&call, "").done();
    assert!(
        table.contains("car 1 (1), heavy 1 (1), pedestrian 1 (0)"),
        "{table}"
    );
    let result = summary(&out);
    // Both are on a conflict course at the crossing, each to the other.
    let relevant = result["arms"]["cam-only"]["per_seed"][0]["relevant"].as_u64();
    assert!(relevant >= Some(20), "{result}");
}
