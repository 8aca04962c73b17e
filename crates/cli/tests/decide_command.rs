//! `covey decide` as a user meets it: the table, the JSON, and every refusal.

mod common;

use serde_json::{Value, json};

use crate::common::{Call, Directory, covey, covey_unread};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/snapshot.json");

fn example() -> Value {
    let text = std::fs::read_to_string(EXAMPLE).expect("the example snapshot");
    serde_json::from_str(&text).expect("the example is JSON")
}

fn decide(snapshot: impl ToString) -> Call {
    covey(&["decide", "--json", "-"], snapshot.to_string())
}

#[test]
fn the_table_of_the_example() {
    let expected = "\
Host 17 at price 0.7; the set as given takes 0.063 of its allowance 0.4 and 4.7 ms of 200 ms.
The twin holds something of 5 cells, 4.0 in all.

agent  role         sees cells  x new  x risk  x in time  value  airtime  x price   score
42     candidate             3  2.933   4.866      4.863  4.863    0.671     0.47   4.393  <- admitted
23     contributor           2  0.866   1.732      1.728  1.728    0.994    0.696   1.033
58     candidate             4   0.06    0.12      0.119  0.119    0.994    0.696  -0.576

42 is admitted: its score 4.393 reaches 0.25 and is the highest that fits (allowance used afterwards: 0.072 of 0.4).
What bound: no candidate is worth 0.25 even for free.
";
    assert_eq!(covey(&["decide", EXAMPLE], "").done(), expected);
}

#[test]
fn the_decision_of_the_example() {
    let decision: Value =
        serde_json::from_str(&covey(&["decide", EXAMPLE, "--json"], "").done()).expect("JSON");
    assert_eq!(decision["schema"], "covey.decision/1");
    assert_eq!(decision["epoch_advance"], 1);
    assert_eq!(decision["changes"][0]["action"], "admit");
    assert_eq!(decision["changes"][0]["id"], 42);
    assert_eq!(decision["changes"][0]["because"], "score");
    let near = |value: &Value, expected: f64| {
        let found = value.as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    };
    // By hand: 2400 + 506 + 140 bytes over 650 kB/s, and over 242 kB/s x 0.2 s.
    near(&decision["airtime"]["seconds"], 3046.0 / 650_000.0);
    near(&decision["airtime"]["fraction"], 3046.0 / 48_400.0);
    // Cell (2, 0): prior 0.6 aged by e^-0.4, contributor 23 not decoded with 0.9.
    let aged = 0.6 * (-0.4f64).exp();
    assert_eq!(decision["map"][2][0], 2);
    near(&decision["map"][2][2], 1.0 - (1.0 - aged) * 0.1);
    // Contributor 23: alone on (2, 0), where the twin would have 0.2 aged; deadline 0.45 s, so one broadcast for sure.
    let y = (0.45 - 3046.0 / 650_000.0) / 0.2;
    let in_time = 1.0 - 0.05f64.powi(2) * (1.0 - 0.95 * (y - 2.0));
    let value = (1.0 - 0.2 * (-0.4f64).exp()) * 2.0 * in_time;
    assert_eq!(decision["scores"][0]["id"], 23);
    near(&decision["scores"][0]["value"], value);
    near(&decision["scores"][0]["airtime"], 646.0 / 650.0);
    near(&decision["scores"][0]["score"], value - 0.7 * 646.0 / 650.0);
}

#[test]
fn standard_input_and_a_file_give_the_same() {
    let text = std::fs::read_to_string(EXAMPLE).expect("the example snapshot");
    for form in [&["decide", "--json"][..], &["decide"][..]] {
        let from_file = covey(&[form, &[EXAMPLE]].concat(), "").done();
        let from_stdin = covey(&[form, &["-"]].concat(), &text).done();
        assert_eq!(from_file, from_stdin);
        assert!(from_file.ends_with('\n'));
    }
}

#[test]
fn tables_of_every_kind_of_change() {
    let table = |change: &dyn Fn(&mut Value)| {
        let mut snapshot = example();
        change(&mut snapshot);
        covey(&["decide", "-"], snapshot.to_string()).done()
    };
    let says = |table: String, what: &str| assert!(table.contains(what), "no {what:?} in\n{table}");
    says(
        table(&|s| s["parameters"]["allowance"] = json!(0.05)),
        "23 is removed: the set had outgrown its allowance of 0.05",
    );
    says(
        table(&|s| s["parameters"]["t_max_s"] = json!(0.004)),
        "23 is removed: the set had outgrown the cycle's 4 ms",
    );
    says(
        table(&|s| s["price"] = json!(100)),
        "23 is removed: its score",
    );
    says(
        table(&|s| s["parameters"]["n_max"] = json!(0)),
        "Nothing changes.",
    );
    says(
        table(&|s| s["agents"].as_array_mut().expect("agents").truncate(1)),
        "There is no candidate and no contributor.",
    );
    says(
        table(&|s| s["parameters"]["factors"] = json!(["risk"])),
        "A factor in brackets",
    );
}

/// Changes one thing in the example and gives the field that the message must name.
type Row = (&'static str, fn(&mut Value));

#[test]
#[expect(clippy::too_many_lines, reason = "a table of refusals")]
fn what_the_contract_refuses_is_refused_by_name() {
    let rows: &[Row] = &[
        // Roles and ids.
        ("agents", |s| s["agents"] = json!([])),
        ("agents", |s| {
            s["agents"].as_array_mut().expect("agents").remove(0);
        }),
        ("agents[1].role", |s| s["agents"][1]["role"] = json!("host")),
        ("agents[3].role", |s| {
            s["agents"][3] = s["agents"][0].clone();
            s["agents"][3]["id"] = json!(99);
        }),
        ("host", |s| s["host"] = json!(23)),
        ("host", |s| s["host"] = json!(1000)),
        ("agents[3].id", |s| s["agents"][3]["id"] = json!(42)),
        ("agents[3].id", |s| s["agents"][3]["id"] = json!(17)),
        ("agents[2].role", |s| {
            s["agents"][2]["role"] = json!("observer");
        }),
        // A cell twice.
        ("prior", |s| s["prior"][1] = json!([0, 0, 0.5])),
        ("risk", |s| s["risk"][7] = json!([3, 0, 1, 0.5])),
        ("agents[1].prior_without", |s| {
            s["agents"][1]["prior_without"][2] = json!([1, 0, 0.9]);
        }),
        // Out of range.
        ("prior[2][2]", |s| s["prior"][2][2] = json!(1.0000001)),
        ("prior[2][2]", |s| s["prior"][2][2] = json!(-0.1)),
        ("agents[1].prior_without[0][2]", |s| {
            s["agents"][1]["prior_without"][0][2] = json!(2);
        }),
        ("agents[1].decoded_fraction", |s| {
            s["agents"][1]["decoded_fraction"] = json!(1.1);
        }),
        ("agents[2].decoded_fraction", |s| {
            s["agents"][2]["decoded_fraction"] = json!(-0.1);
        }),
        ("agents[1].report_bytes", |s| {
            s["agents"][1]["report_bytes"] = json!(-1);
        }),
        ("agents[2].report_bytes", |s| {
            s["agents"][2]["report_bytes"] = json!(-1e-9);
        }),
        ("agents[1].broadcast_bytes", |s| {
            s["agents"][1]["broadcast_bytes"] = json!(-1);
        }),
        ("agents[3].broadcast_bytes", |s| {
            s["agents"][3]["broadcast_bytes"] = json!(-1);
        }),
        ("risk[3][2]", |s| s["risk"][3][2] = json!(-2)),
        ("risk[3][3]", |s| s["risk"][3][3] = json!(-0.2)),
        ("price", |s| s["price"] = json!(-0.7)),
        ("parameters.kappa_per_s", |s| {
            s["parameters"]["kappa_per_s"] = json!(-2);
        }),
        ("parameters.t_max_s", |s| {
            s["parameters"]["t_max_s"] = json!(-0.2);
        }),
        ("parameters.allowance", |s| {
            s["parameters"]["allowance"] = json!(-0.4);
        }),
        ("parameters.n_max", |s| s["parameters"]["n_max"] = json!(-1)),
        ("parameters.n_max", |s| {
            s["parameters"]["n_max"] = json!(0.5);
        }),
        ("parameters.broadcast_base_bytes", |s| {
            s["parameters"]["broadcast_base_bytes"] = json!(-1);
        }),
        ("parameters.broadcast_delivery", |s| {
            s["parameters"]["broadcast_delivery"] = json!(1.5);
        }),
        ("parameters.rate_bytes_per_s", |s| {
            s["parameters"]["rate_bytes_per_s"] = json!(0);
        }),
        ("parameters.capacity_bytes_per_s", |s| {
            s["parameters"]["capacity_bytes_per_s"] = json!(0);
        }),
        ("parameters.cycle_s", |s| {
            s["parameters"]["cycle_s"] = json!(0);
        }),
        ("parameters.cycle_s", |s| {
            s["parameters"]["cycle_s"] = json!(-0.2);
        }),
        ("parameters.airtime_unit_s", |s| {
            s["parameters"]["airtime_unit_s"] = json!(0.0);
        }),
        ("parameters.eta_rem", |s| {
            s["parameters"]["eta_rem"] = json!(0.26);
        }),
        // Unknown names.
        ("schema", |s| s["schema"] = json!("covey.snapshot/2")),
        ("schema", |s| s["schema"] = json!(1)),
        ("parameters.factors[1]", |s| {
            s["parameters"]["factors"][1] = json!("speed");
        }),
        ("parameters.factors", |s| {
            s["parameters"]["factors"] = json!("risk");
        }),
        // Another kind of value.
        ("parameters", |s| s["parameters"] = json!([])),
        ("agents", |s| s["agents"] = json!({"id": 17})),
        ("agents[2]", |s| s["agents"][2] = json!(42)),
        ("agents[2].id", |s| s["agents"][2]["id"] = json!("42")),
        ("agents[2].id", |s| s["agents"][2]["id"] = json!(-42)),
        ("agents[1].decoded", |s| {
            s["agents"][1]["decoded"] = json!("yes");
        }),
        ("agents[2].cells", |s| s["agents"][2]["cells"] = json!(3)),
        ("agents[2].cells[1]", |s| {
            s["agents"][2]["cells"][1] = json!([4]);
        }),
        ("agents[2].cells[1]", |s| {
            s["agents"][2]["cells"][1] = json!([4, 1, 0]);
        }),
        ("agents[2].cells[1][0]", |s| {
            s["agents"][2]["cells"][1][0] = json!(2_147_483_648i64);
        }),
        ("agents[2].cells[1][1]", |s| {
            s["agents"][2]["cells"][1][1] = json!(0.5);
        }),
        ("prior[0]", |s| s["prior"][0] = json!([0, 0])),
        ("risk[0]", |s| s["risk"][0] = json!([0, 0, 1])),
        ("overheard[0]", |s| s["overheard"][0] = json!([6, 0, 1])),
        ("price", |s| s["price"] = json!("0.7")),
        ("price", |s| s["price"] = json!(null)),
    ];
    for (field, change) in rows {
        let mut snapshot = example();
        change(&mut snapshot);
        assert_ne!(snapshot, example(), "the row for {field} changes nothing");
        decide(&snapshot).refused(&["standard input", &format!(" {field}: ")]);
    }
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    type Row = (&'static str, &'static str, fn(&mut Value));
    let rows: &[Row] = &[
        ("comment", "host", |s| {
            s["comment"] = json!({"of": ["another", "program"]});
        }),
        ("parameters.factor", "factors", |s| {
            s["parameters"]["factor"] = json!(["risk"]);
        }),
        ("agents[0].cell", "cells", |s| {
            s["agents"][0]["cell"] = json!([]);
        }),
        ("agents[2].report_byte", "report_bytes", |s| {
            s["agents"][2]["report_byte"] = json!(13.9);
        }),
    ];
    for (field, nearest, change) in rows {
        let mut snapshot = example();
        change(&mut snapshot);
        let said = [&format!(" {field}: unknown key"), &format!("\"{nearest}\"")];
        decide(&snapshot).refused(&["standard input", said[0], said[1]]);
    }
}

#[test]
fn keys_given_twice_are_refused() {
    let text = std::fs::read_to_string(EXAMPLE).expect("the example snapshot");
    for (key, field) in [
        ("\"price\":0.7", "price"),
        ("\"n_max\":1", "parameters.n_max"),
        ("\"decoded\":false", "agents[1].decoded"),
    ] {
        let changed = text.replacen(key, &format!("{key},{key}"), 1);
        assert_ne!(changed, text);
        decide(&changed).refused(&["standard input", &format!(" {field}: given twice")]);
    }
}

#[test]
fn every_missing_field_is_named() {
    // What may be left out is listed; all else must be there.
    let optional = ["parameters.factors", "agents[1].prior_without"];
    let mut places = vec![(String::new(), String::new())];
    places.push(("/parameters".into(), "parameters.".into()));
    for nth in 0..4 {
        places.push((format!("/agents/{nth}"), format!("agents[{nth}].")));
    }
    let mut missing = 0;
    for (pointer, path) in places {
        let fields = example().pointer(&pointer).expect("an object").clone();
        for field in fields.as_object().expect("an object").keys() {
            let name = format!("{path}{field}");
            let mut snapshot = example();
            let object = snapshot.pointer_mut(&pointer).expect("an object");
            object.as_object_mut().expect("an object").remove(field);
            if optional.contains(&name.as_str()) {
                decide(&snapshot).done();
            } else {
                decide(&snapshot).refused(&["standard input", &format!(" {name}: "), "missing"]);
                missing += 1;
            }
        }
    }
    assert!(missing > 30, "only {missing} fields");
}

#[test]
fn numbers_too_large_together_are_refused() {
    let text = std::fs::read_to_string(EXAMPLE).expect("the example snapshot");
    for (changes, named) in [
        (
            &[("[4,1,1.5", "[4,1,1e308"), ("[4,2,1.5", "[4,2,1e308")][..],
            "agent 42",
        ),
        (
            &[
                ("242000.0", "1e-300"),
                ("\"cycle_s\":0.2", "\"cycle_s\":1e-300"),
            ],
            "airtime.fraction",
        ),
        (&[("650000.0", "1e-300"), ("0.001", "1e-300")], "agent"),
    ] {
        let changed = changes.iter().fold(text.clone(), |text, (from, to)| {
            assert!(text.contains(from));
            text.replace(from, to)
        });
        decide(&changed).refused(&["standard input", named, "finite"]);
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let text = std::fs::read_to_string(EXAMPLE).expect("the example snapshot");
    for bad in [
        "1e999",
        "-1e999",
        "NaN",
        "Infinity",
        "-Infinity",
        "0x10",
        "+1",
        "01",
        "1.",
        ".5",
    ] {
        for good in [
            "\"price\":0.7",
            "\"cycle_s\":0.2",
            "\"report_bytes\":506",
            "[0,0,3,0.35",
        ] {
            let (head, _) = good.rsplit_once([':', ',']).expect("a number at the end");
            let separator = &good[head.len()..=head.len()];
            let changed = text.replace(good, &format!("{head}{separator}{bad}"));
            assert_ne!(changed, text);
            decide(&changed).refused(&["standard input", "line"]);
        }
    }
}

#[test]
fn what_is_allowed_is_not_refused() {
    let rows: &[fn(&mut Value)] = &[
        // Cells of an agent given twice count once: see the next test.
        |s| s["agents"][2]["cells"][1] = json!([3, 0]),
        |s| s["parameters"]["eta_rem"] = json!(0.25),
        |s| s["parameters"]["n_max"] = json!(u64::MAX),
        |s| s["parameters"]["factors"] = json!([]),
        |s| s["parameters"]["kappa_per_s"] = json!(0),
        |s| s["parameters"]["t_max_s"] = json!(0),
        |s| s["parameters"]["allowance"] = json!(0),
        |s| s["parameters"]["broadcast_base_bytes"] = json!(0.5),
        |s| s["parameters"]["broadcast_delivery"] = json!(0),
        |s| s["price"] = json!(0),
        |s| s["risk"] = json!([]),
        |s| s["prior"] = json!([]),
        |s| s["overheard"] = json!([[6, 0], [6, 0]]),
        |s| s["agents"][1]["report_bytes"] = json!(0),
        |s| s["agents"][1]["prior_without"] = json!([]),
        |s| s["agents"][0]["cells"] = json!([[i32::MIN, i32::MAX]]),
        |s| s["agents"][0]["cells"] = json!([]),
        |s| {
            s["host"] = json!(u64::MAX);
            s["agents"][0]["id"] = json!(u64::MAX);
        },
    ];
    for (nth, change) in rows.iter().enumerate() {
        let mut snapshot = example();
        change(&mut snapshot);
        assert_ne!(snapshot, example(), "row {nth} changes nothing");
        let decision: Value = serde_json::from_str(&decide(&snapshot).done()).expect("JSON");
        assert_eq!(decision["schema"], "covey.decision/1", "row {nth}");
    }
}

#[test]
fn cells_of_an_agent_given_twice_count_once() {
    let mut twice = example();
    for nth in 0..4 {
        let cells = twice["agents"][nth]["cells"].as_array_mut().expect("cells");
        cells.extend(cells.clone());
        cells.reverse();
    }
    assert_eq!(decide(&twice).done(), decide(example()).done());
}

#[test]
fn texts_that_are_no_snapshot_are_refused() {
    let deep = "[".repeat(200_000);
    let deep_fields = "{\"parameters\":".repeat(50_000);
    let example = example().to_string();
    let texts: &[(&str, String)] = &[
        ("not JSON", String::new()),
        ("not JSON", " \n".into()),
        ("not JSON", "{".into()),
        ("not JSON", deep),
        ("not JSON", deep_fields),
        ("not JSON", format!("{example}x")),
        ("not JSON", format!("{example}{example}")),
        ("not JSON", example[..example.len() / 2].to_string()),
        ("not JSON", format!("\u{feff}{example}")),
        ("not JSON", "{'schema':'covey.snapshot/1'}".into()),
        ("snapshot", "[]".into()),
        ("snapshot", "null".into()),
        ("snapshot", "17".into()),
        ("snapshot", "\"covey.snapshot/1\"".into()),
        ("schema", "{}".into()),
        ("schema", "{\"schema\":\"\"}".into()),
    ];
    for (names, text) in texts {
        decide(text).refused(&["standard input", names]);
        // The table must not get further than the JSON.
        covey(&["decide", "-"], text).refused(&["standard input", names]);
    }
    covey(&["decide", "-"], b"{\"schema\":\"\xff\"}").refused(&["standard input", "UTF-8"]);
    covey(&["decide", "-"], [0u8; 64]).refused(&["standard input"]);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let directory = Directory::new("files_that_cannot_be_read");
    let missing = directory.path("missing.json");
    covey(&["decide", &missing], "").refused(&[&missing, "cannot be read"]);
    let itself = directory.path("");
    covey(&["decide", &itself], "").refused(&["files_that_cannot_be_read", "cannot be read"]);
    let broken = directory.file("broken.json", "{\n\"schema\": oops}");
    covey(&["decide", &broken], "").refused(&[&broken, "line 2"]);
    let latin = directory.file("latin1.json", b"{\"schema\":\"caf\xe9\"}");
    covey(&["decide", &latin], "").refused(&[&latin, "UTF-8"]);
    let empty = directory.file("empty.json", "");
    covey(&["decide", &empty], "").refused(&[&empty, "not JSON"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let snapshot = example().to_string();
    for arguments in [&["decide", "-"][..], &["decide", "--json", "-"][..]] {
        assert_eq!(covey_unread(arguments, &snapshot).code, Some(0));
    }
}

#[test]
fn a_large_snapshot_is_decided() {
    let mut snapshot = example();
    let agents = snapshot["agents"].as_array_mut().expect("agents");
    for id in 100..700 {
        let cells: Vec<(i32, i32)> = (0..40).map(|at| (id + at % 8, at / 8)).collect();
        agents.push(json!({
            "id": id, "role": if id % 2 == 0 { "contributor" } else { "candidate" }, "cells": cells,
            "decoded": id % 4 == 0, "decoded_fraction": 0.5, "report_bytes": 300, "broadcast_bytes": 100,
        }));
    }
    let decision: Value = serde_json::from_str(&decide(&snapshot).done()).expect("JSON");
    assert_eq!(decision["scores"].as_array().map(Vec::len), Some(603));
    // 300 contributors of 400 bytes are far over the allowance of 19,360 bytes: nearly all of them must go.
    let gone = decision["changes"]
        .as_array()
        .map(Vec::len)
        .expect("changes");
    assert!((255..302).contains(&gone), "{gone} changes");
    assert!(decision["airtime_after"]["fraction"].as_f64() <= Some(0.4));
}
