//! The server as a stranger meets it: over a socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use covey_simulator::recording::Reader;
use covey_synthetic::Plan;
use covey_viewer::{Library, Live, Server, write_mcap};

fn made_up(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let plan = Plan {
        vehicles: 40,
        seconds: 3,
        arms: vec!["proposed@0.4".into(), "cpm-rmr".into(), "demand@0.2".into()],
    };
    covey_synthetic::write(&folder.join("run.covey"), &plan).unwrap();
    std::fs::write(folder.join("secret.txt"), "not for you").unwrap();
    folder
}

/// A served folder and the port.
fn serve(name: &str) -> u16 {
    let library = Library::open(&made_up(name)).unwrap();
    let server = Server::bind(0, library).unwrap();
    let url = server.url();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    std::thread::spawn(move || server.run());
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    port.parse().unwrap()
}

/// Sends bytes and gives the answer: head as text, and body.
fn send(port: u16, bytes: &[u8]) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n");
    let (head, body) = answer.split_at(end.map_or(answer.len(), |end| end + 4));
    (String::from_utf8_lossy(head).into_owned(), body.to_vec())
}

fn get(port: u16, path: &str) -> (String, Vec<u8>) {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    send(port, request.as_bytes())
}

#[test]
fn the_page_and_the_recording_are_served_with_a_policy() {
    let port = serve("served");
    for path in [
        "/",
        "/app.js",
        "/app.css",
        "/icon.svg",
        "/api/recordings",
        "/api/0/manifest",
        "/api/0/world",
        "/api/0/motion/0",
        "/api/0/relevance/1",
        "/api/0/arm/1/0",
        "/api/0/tiles/0",
        "/api/0/curve/2",
    ] {
        let (head, body) = get(port, path);
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}");
        assert!(
            head.contains("Content-Security-Policy: default-src 'none'"),
            "{head}"
        );
        assert!(
            head.contains(&format!("Content-Length: {}\r\n", body.len())),
            "{head}"
        );
    }
    let (_, page) = get(port, "/");
    let page = String::from_utf8(page).unwrap();
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "the page loads something from elsewhere"
    );
}

#[test]
fn a_decision_is_explained_and_its_snapshot_can_be_saved() {
    let port = serve("explained");
    let (_, body) = get(port, "/api/0/arm/0/0");
    assert!(!body.is_empty());
    let mut reader = Reader::open(&made_up("explained-file").join("run.covey")).unwrap();
    let (cycle, host) = reader.deciders(0, 0).unwrap()[3];
    let (head, body) = get(port, &format!("/api/0/decision/0/{cycle}/{host}"));
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(answer["decision"]["schema"], "covey.decision/1");
    assert_eq!(answer["decision"]["host"], host);
    let (head, body) = get(port, &format!("/api/0/snapshot/0/{cycle}/{host}"));
    assert!(head.contains("Content-Disposition: attachment"), "{head}");
    let saved: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(saved, answer["snapshot"]);
    assert_eq!(saved["schema"], "covey.snapshot/1");
}

#[test]
fn a_choice_by_demand_is_explained_and_its_snapshot_can_be_saved() {
    let port = serve("demanded");
    let mut reader = Reader::open(&made_up("demanded-file").join("run.covey")).unwrap();
    let (cycle, host) = reader.deciders(2, 0).unwrap()[3];
    let (head, body) = get(port, &format!("/api/0/decision/2/{cycle}/{host}"));
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(answer["by"], "demand");
    assert_eq!(answer["decision"]["schema"], "covey.demand-decision/1");
    assert_eq!(answer["decision"]["host"], host);
    let name = |pick: &serde_json::Value| (pick["pick"].to_string(), pick["id"].to_string());
    let list = |picks: &serde_json::Value| -> Vec<_> {
        picks.as_array().unwrap().iter().map(name).collect()
    };
    let picks = list(&answer["decision"]["picks"]);
    assert!(picks.len() > 2, "{picks:?}");
    assert_eq!(picks, list(&answer["recorded"]["picks"]));
    let (_, body) = get(port, &format!("/api/0/snapshot/2/{cycle}/{host}"));
    let saved: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(saved, answer["snapshot"]);
    assert_eq!(saved["schema"], "covey.demand-snapshot/1");
}

#[test]
fn nothing_else_can_be_reached() {
    let port = serve("closed");
    for path in [
        "/secret.txt",
        "/../secret.txt",
        "/api/0/../secret.txt",
        "/api/0/motion/..%2f..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "//etc/passwd",
        "/api/1/manifest",
        "/api/0/motion/99",
        "/api/0/motion/-1",
        "/api/0/decision/0/0/99999",
        "/api/99999999999999999999/manifest",
        "/api",
        "/run.covey",
    ] {
        let (head, body) = get(port, path);
        assert!(head.starts_with("HTTP/1.1 404 "), "{path}: {head}");
        assert!(!String::from_utf8_lossy(&body).contains("not for you"));
    }
    let strange = format!("GET / HTTP/1.0\r\nHost: elsewhere.example:{port}\r\n\r\n");
    let (head, _) = send(port, strange.as_bytes());
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
}

#[test]
fn garbage_is_refused_and_the_next_one_is_served() {
    let port = serve("garbage");
    let (head, _) = send(port, b"POST / HTTP/1.1\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 405 ") && head.contains("Allow: GET"),
        "{head}"
    );
    let (head, _) = send(
        port,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    );
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    let (head, _) = send(port, &[b'A'; 100_000]);
    assert!(head.is_empty() || head.starts_with("HTTP/1.1 4"), "{head}");
    let (head, _) = get(port, "/");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
}

/// Reads the file with Foxglove's own libraries: for Python (topics, messages, indexes) and for its page (every message
/// against the published schemas).
#[test]
fn a_recording_becomes_an_mcap_file_that_foxglove_reads() {
    let folder = made_up("mcap");
    let mut reader = Reader::open(&folder.join("run.covey")).unwrap();
    let out = folder.join("run.mcap");
    let count = write_mcap(&mut reader, std::fs::File::create(&out).unwrap()).unwrap();
    // The map once, and per arm and cycle the vehicles and the numbers.
    assert_eq!(count, 1 + 3 * 2 * 15);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = std::process::Command::new(here.join("../../.venv/bin/python"))
        .arg(here.join("tests/mcap/read.py"))
        .arg(&out)
        .output()
        .expect("`cargo xtask test setup` installs the library");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "/cpm-rmr/cycle covey.Cycle 15 15\n\
         /cpm-rmr/vehicles foxglove.SceneUpdate 15 15\n\
         /demand@0.2/cycle covey.Cycle 15 15\n\
         /demand@0.2/vehicles foxglove.SceneUpdate 15 15\n\
         /map foxglove.SceneUpdate 1 1\n\
         /proposed@0.4/cycle covey.Cycle 15 15\n\
         /proposed@0.4/vehicles foxglove.SceneUpdate 15 15\n"
    );
    let output = std::process::Command::new("node")
        .arg(here.join("../../web/e2e/foxglove.mjs"))
        .arg(&out)
        .output()
        .expect("`cargo xtask test setup` says what is missing");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "/cpm-rmr/cycle covey.Cycle 15\n\
         /cpm-rmr/vehicles foxglove.SceneUpdate 15\n\
         /demand@0.2/cycle covey.Cycle 15\n\
         /demand@0.2/vehicles foxglove.SceneUpdate 15\n\
         /map foxglove.SceneUpdate 1\n\
         /proposed@0.4/cycle covey.Cycle 15\n\
         /proposed@0.4/vehicles foxglove.SceneUpdate 15\n"
    );
}

#[test]
fn a_host_decides_again_with_another_number() {
    let port = serve("again");
    let mut reader = Reader::open(&made_up("again-file").join("run.covey")).unwrap();
    let json = |path: &str| -> serde_json::Value {
        let (head, body) = get(port, path);
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}");
        serde_json::from_slice(&body).unwrap()
    };
    let (cycle, host) = reader.deciders(0, 0).unwrap()[3];
    let dear = json(&format!("/api/0/again/0/{cycle}/{host}/price/1000"));
    assert_eq!(dear["decision"]["price"], 1000.0);
    let changes = dear["decision"]["changes"].as_array().unwrap();
    assert!(
        changes.iter().all(|c| c["action"] != "admit"),
        "{changes:?}"
    );
    let mut recorded = reader.decision(0, cycle, host).unwrap().unwrap();
    recorded.snapshot.price = 1000.0;
    let same = serde_json::to_value(recorded.snapshot.decide()).unwrap();
    assert_eq!(same, dear["decision"]);
    let (cycle, host) = reader.deciders(2, 0).unwrap()[3];
    let poor = json(&format!("/api/0/again/2/{cycle}/{host}/budget/0"));
    assert_eq!(poor["decision"]["picks"].as_array().unwrap().len(), 0);
    // What makes no sense is said.
    for (what, value) in [("price", "-1"), ("price", "nan"), ("prize", "1")] {
        let (head, _) = get(
            port,
            &format!("/api/0/again/0/{cycle}/{host}/{what}/{value}"),
        );
        assert!(head.starts_with("HTTP/1.1 422 "), "{what} {value}: {head}");
    }
    let (head, _) = get(port, &format!("/api/0/again/2/{cycle}/{host}/price/1"));
    assert!(head.starts_with("HTTP/1.1 422 "), "{head}");
}

#[test]
fn who_could_have_told_and_where_objects_are_believed_to_be() {
    let port = serve("seen");
    let mut reader = Reader::open(&made_up("seen-file").join("run.covey")).unwrap();
    let (head, body) = get(port, "/api/0/seen/0/0");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let seen: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let mut pairs = 0;
    for cycle in reader.arm_cycles(0, 0).unwrap() {
        let told = seen[cycle.cycle.to_string()].as_object().unwrap();
        let missed: Vec<String> = (0..cycle.knowledge.len())
            .filter(|&at| cycle.knowledge[at].missed)
            .map(|at| at.to_string())
            .collect();
        assert_eq!(told.len(), missed.len());
        assert!(missed.iter().all(|pair| told.contains_key(pair)));
        pairs += missed.len();
    }
    assert!(pairs > 0, "something is missed");
    let (cycle, host) = reader.deciders(2, 0).unwrap()[3];
    let (_, body) = get(port, &format!("/api/0/decision/2/{cycle}/{host}"));
    let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let ids = |list: &serde_json::Value| -> Vec<u64> {
        let list = list.as_array().unwrap().iter();
        list.map(|one| one["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(ids(&answer["tracks"]), ids(&answer["snapshot"]["objects"]));
    let candidates = ids(&answer["snapshot"]["candidates"]);
    let list: Vec<String> = candidates.iter().take(3).map(u64::to_string).collect();
    let (head, body) = get(
        port,
        &format!("/api/0/alone/2/{cycle}/{host}/{}", list.join(",")),
    );
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let alone: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(ids(&alone), candidates[..list.len()]);
}

#[test]
fn slow_clients_cannot_keep_others_out() {
    let port = serve("slow");
    let mut slow = Vec::new();
    for _ in 0..64 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"GET / HT").unwrap();
        slow.push(stream);
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    for _ in 0..3 {
        let (head, body) = get(port, "/api/recordings");
        assert!(
            head.starts_with("HTTP/1.1 200 ") && !body.is_empty(),
            "{head}"
        );
    }
    drop(slow);
}

#[test]
fn the_playground_is_served_with_a_policy_of_its_own() {
    let server = Server::bind(0, Library::empty()).unwrap();
    let url = server.url();
    std::thread::spawn(move || server.run());
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    let port: u16 = port.parse().unwrap();
    for (path, kind) in [
        ("", "text/html"),
        ("playground.js", "text/javascript"),
        ("worker.js", "text/javascript"),
        ("playground.css", "text/css"),
        ("playground.wasm", "application/wasm"),
    ] {
        let (head, body) = get(port, &format!("/playground/{path}"));
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}");
        assert!(head.contains(&format!("Content-Type: {kind}")), "{head}");
        assert!(head.contains("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"));
        assert!(head.contains("frame-ancestors 'none'"), "{head}");
        assert!(!body.is_empty());
    }
    // The viewer's own page may run nothing of the kind, and there is nothing else.
    let (head, _) = get(port, "/");
    assert!(!head.contains("wasm"), "{head}");
    let (head, body) = get(port, "/api/recordings");
    assert!(head.starts_with("HTTP/1.1 200 ") && body == b"[]", "{head}");
    for path in [
        "/playground",
        "/playground/source.txt",
        "/playground/../api/live",
    ] {
        let (head, _) = get(port, path);
        assert!(head.starts_with("HTTP/1.1 404 "), "{path}: {head}");
    }
    let foreign = "GET /playground/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    let (head, _) = send(port, foreign.as_bytes());
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
}

/// Asks as the page does.
fn ask(port: u16, path: &str) -> (String, serde_json::Value) {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Covey: page\r\nConnection: close\r\n\r\n"
    );
    let (head, body) = send(port, request.as_bytes());
    (head, serde_json::from_slice(&body).unwrap_or_default())
}

#[test]
fn a_run_is_followed_and_held() {
    let file = made_up("live").join("seed-1.covey");
    let live = Live::default();
    let server = Server::bind(0, Library::live(&live, &file)).unwrap();
    let url = server.url();
    std::thread::spawn(move || server.run());
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    let port: u16 = port.parse().unwrap();
    let (_, list) = ask(port, "/api/recordings");
    assert_eq!(
        (&list[0]["live"], &list[0]["name"]),
        (&true.into(), &"seed-1".into())
    );
    let (head, _) = get(port, "/api/0/manifest");
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    // Nobody but the page says how fast it goes.
    let (head, _) = get(port, "/api/live/pause");
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
    let (_, state) = ask(port, "/api/live");
    assert_eq!(
        (&state["paused"], &state["cycles"]),
        (&false.into(), &0.into())
    );
    let (head, _) = ask(port, "/api/live/speed/fast");
    assert!(head.starts_with("HTTP/1.1 422 "), "{head}");
    let (_, state) = ask(port, "/api/live/pause");
    assert_eq!(state["paused"], true);
    let (_, state) = ask(port, "/api/live/go");
    assert_eq!(state["paused"], false);
    // What a run leaves is there at once, chunk by chunk, and stays when it has ended.
    let plan = Plan {
        vehicles: 40,
        seconds: 7,
        arms: vec!["proposed@0.4".into(), "demand@0.2".into()],
    };
    let mut seen = Vec::new();
    covey_synthetic::write_watched(&file, &plan, live.growth(), &mut |_| {
        let (_, state) = ask(port, "/api/live");
        let cycles = state["cycles"].as_u64().unwrap();
        if cycles > 0 && seen.last() != Some(&cycles) {
            seen.push(cycles);
            let (_, manifest) = ask(port, "/api/0/manifest");
            assert_eq!(manifest["cycles"], cycles);
            let (_, curve) = ask(port, "/api/0/curve/1");
            assert_eq!(curve["missed"].as_array().unwrap().len() as u64, cycles);
            let (head, body) = get(port, "/api/0/motion/0");
            assert!(head.starts_with("HTTP/1.1 200 ") && !body.is_empty());
        }
    })
    .unwrap();
    assert!(seen.len() >= 2 && seen.is_sorted(), "{seen:?}");
    live.end();
    let (_, state) = ask(port, "/api/live");
    assert_eq!(state["done"], true);
    let finished = Reader::open(&file).unwrap();
    assert_eq!(state["cycles"], finished.manifest().cycles);
    let (head, _) = get(port, "/api/0/tiles/0");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
}
