//! Recordings as the viewer meets them: whole, damaged, and foreign.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use covey_protocol::demand::select::{Pick, Selection};
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_simulator::recording::{Kind, Reader, Recorder, RecordingError, Role, files_in};
use covey_simulator::{Arm, Nobody, Prepared, RunOptions, Scenario, simulate};
use covey_synthetic::Plan;
use covey_traffic::builtin::Builtin;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn made_up(name: &str, vehicles: u32, seconds: u32) -> PathBuf {
    let file = folder(name).join("run.covey");
    let plan = Plan {
        vehicles,
        seconds,
        arms: vec!["proposed@0.4".into(), "cpm-rmr".into(), "demand@0.2".into()],
    };
    covey_synthetic::write(&file, &plan).unwrap();
    file
}

#[test]
fn a_recording_is_read_chunk_by_chunk() {
    let file = made_up("chunks", 60, 5);
    let mut reader = Reader::open(&file).unwrap();
    let manifest = reader.manifest().clone();
    assert_eq!((manifest.steps, manifest.cycles), (100, 25));
    assert_eq!(manifest.vehicles.len(), 60);
    assert_eq!(reader.chunks(), [0, 1, 2]);
    let mut steps = 0;
    for chunk in reader.chunks() {
        let motion = reader.steps(chunk).unwrap();
        let relevance = reader.relevance(chunk).unwrap();
        for (number, arm) in manifest.header.arms.iter().enumerate() {
            let cycles = reader.arm_cycles(number as u16, chunk).unwrap();
            assert_eq!(cycles.len(), relevance.len());
            for (cycle, relevant) in cycles.iter().zip(&relevance) {
                assert_eq!(cycle.cycle, relevant.cycle);
                assert_eq!(cycle.knowledge.len(), relevant.pairs.len());
                let at = motion
                    .iter()
                    .find(|s| s.step == cycle.cycle * 4 + 3)
                    .unwrap();
                assert_eq!(cycle.roles.len(), at.vehicles.len());
                // Whoever the table of tiles calls a host has that role.
                for tile in &cycle.tiles {
                    assert_eq!(tile.host.is_some(), arm.hosted);
                    if let Some(host) = tile.host {
                        let place = at.vehicles.iter().position(|v| u64::from(v.id) == host);
                        assert_eq!(cycle.roles[place.unwrap()], Role::Host);
                    }
                }
                let missed: u64 = cycle.tiles.iter().map(|tile| tile.deficit.missed).sum();
                let curve = reader.curve(number as u16).unwrap();
                assert_eq!(curve.missed[cycle.cycle as usize], missed);
            }
        }
        steps += motion.len();
    }
    assert_eq!(steps, 100);
}

#[test]
fn deciding_again_on_a_recorded_snapshot_gives_the_recorded_changes() {
    let mut reader = Reader::open(&made_up("decisions", 120, 6)).unwrap();
    let mut changes = 0;
    for chunk in reader.chunks() {
        for (cycle, host) in reader.deciders(0, chunk).unwrap() {
            let decision = reader.decision(0, cycle, host).unwrap().unwrap();
            let again = decision.snapshot.decide();
            assert_eq!(again.binding, decision.binding.name());
            let found: Vec<_> = again
                .changes
                .iter()
                .map(|c| (c.action, c.id, c.score))
                .collect();
            let recorded: Vec<_> = decision
                .changes
                .iter()
                .map(|c| (c.action.name(), c.id.0, c.score))
                .collect();
            assert_eq!(found, recorded);
            changes += found.len();
        }
    }
    assert!(changes > 5, "{changes}");
    assert!(reader.deciders(1, 0).unwrap().is_empty());
    assert!(reader.decision(0, 3, 1_000_000).unwrap().is_none());
}

#[test]
fn silent_objects_that_matter_have_the_place_where_they_are() {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios/toy/blind-junction/scenario.toml");
    let mut scenario = Scenario::read(&scenario).unwrap();
    scenario.penetration = 0.5;
    let prepared = Prepared::new(&scenario).unwrap();
    let arms: Vec<Arm> = vec!["demand@0.2".parse().unwrap()];
    let file = folder("tracks").join("run.covey");
    let headers = arms.iter().map(Arm::header).collect();
    let mut recorder = Recorder::create(&file, &prepared, headers, 1003, 6.0)
        .unwrap()
        .of_revision("here");
    let mut traffic = Builtin::new(&prepared.map.network, &scenario.traffic, 1003).unwrap();
    let options = RunOptions {
        warmup_s: 6.0,
        measure_s: 6.0,
        threads: 1,
    };
    simulate(
        &prepared,
        &mut traffic,
        &arms,
        1003,
        &options,
        &mut recorder,
    )
    .unwrap();
    recorder.finish().unwrap();
    let mut reader = Reader::open(&file).unwrap();
    let header = reader.manifest().header.clone();
    assert_eq!(header.revision, "here");
    assert_eq!(header.readings["penetration"], 0.5);
    assert_eq!(header.arms[0].paint, "violet");
    let (mut silent, mut near) = (0, 0);
    for chunk in reader.chunks() {
        let steps = reader.steps(chunk).unwrap();
        for (cycle, host) in reader.deciders(0, chunk).unwrap() {
            let decision = reader.demand(0, cycle, host).unwrap().unwrap();
            let at = steps.iter().find(|s| s.step == cycle * 4 + 3).unwrap();
            // The grid of this junction lies as its map, 250 m off.
            for track in &decision.tracks {
                let object = &decision.snapshot.problem.objects[track.object as usize];
                let off = |v: &covey_simulator::recording::Placed| {
                    let dx = f64::from(track.x_cm - 25_000 - v.x_cm);
                    let dy = f64::from(track.y_cm - 25_000 - v.y_cm);
                    dx.hypot(dy) / 100.0
                };
                let nearest = at.vehicles.iter().map(off).fold(f64::INFINITY, f64::min);
                silent += u32::from(object.silent);
                near += u32::from(object.silent && nearest < 3.0);
                assert!(track.length_cm >= 300 && track.width_cm >= 100, "{track:?}");
            }
            let known = decision.tracks.len();
            assert_eq!(known, decision.snapshot.problem.objects.len());
        }
    }
    assert!(silent > 20, "{silent}");
    assert!(near * 10 >= silent * 9, "{near} of {silent}");
}

#[test]
fn same_inputs_same_bytes() {
    let bytes = |name| std::fs::read(made_up(name, 40, 3)).unwrap();
    assert!(bytes("same-a") == bytes("same-b"));
}

#[test]
fn what_is_no_recording_is_explained() {
    let folder = folder("foreign");
    let error = files_in(&folder).unwrap_err().to_string();
    assert!(error.contains("--record"), "{error}");
    let text = folder.join("x.covey");
    std::fs::write(&text, "hello, this is no recording").unwrap();
    let error = Reader::open(&text).unwrap_err();
    assert!(
        matches!(error, RecordingError::NotARecording { .. }),
        "{error}"
    );
    assert!(Reader::open(&folder.join("gone.covey")).is_err());
}

#[test]
fn damage_is_found_and_nothing_panics() {
    let file = made_up("damage", 20, 2);
    let whole = std::fs::read(&file).unwrap();
    let read_all = |bytes: Vec<u8>| -> Result<(), RecordingError> {
        let mut reader = Reader::new(Path::new("x.covey"), Cursor::new(bytes))?;
        reader.world()?;
        for arm in 0..3 {
            reader.block(Kind::Tiles, arm, 0)?;
            reader.curve(arm)?;
        }
        for chunk in reader.chunks() {
            reader.steps(chunk)?;
            reader.relevance(chunk)?;
            for arm in 0..3 {
                reader.arm_cycles(arm, chunk)?;
                reader.seen(arm, chunk)?;
                for (cycle, host) in reader.deciders(arm, chunk)? {
                    reader.decision(arm, cycle, host)?;
                    reader.demand(arm, cycle, host)?;
                }
            }
        }
        Ok(())
    };
    read_all(whole.clone()).unwrap();
    for cut in [0, 7, 11, 30, whole.len() / 2, whole.len() - 1] {
        assert!(read_all(whole[..cut].to_vec()).is_err(), "cut at {cut}");
    }
    for at in (0..whole.len()).step_by(37) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let error = read_all(bytes).unwrap_err().to_string();
        assert!(error.contains("x.covey"), "{error}");
    }
    let mut reader = Reader::open(&file).unwrap();
    assert_eq!(reader.block(Kind::Motion, 0, 9).unwrap(), None);
}

/// Records the toy junction; the outcome of the run, and the file.
fn junction(name: &str, arms: &[&str]) -> (covey_simulator::SeedOutcome, PathBuf) {
    let toy = "../../scenarios/toy/blind-junction/scenario.toml";
    let scenario = Scenario::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(toy)).unwrap();
    let prepared = Prepared::new(&scenario).unwrap();
    let arms: Vec<Arm> = arms.iter().map(|arm| arm.parse().unwrap()).collect();
    let mut traffic = Builtin::new(&prepared.map.network, &scenario.traffic, 3).unwrap();
    let options = RunOptions {
        warmup_s: 2.0,
        measure_s: 6.0,
        ..RunOptions::default()
    };
    let file = folder(name).join("run.covey");
    let headers = arms.iter().map(Arm::header).collect();
    let mut recorder = Recorder::create(&file, &prepared, headers, 3, options.warmup_s).unwrap();
    let outcome = simulate(&prepared, &mut traffic, &arms, 3, &options, &mut recorder).unwrap();
    recorder.finish().unwrap();
    (outcome, file)
}

#[test]
fn a_recorded_run_tells_what_the_run_told() {
    let names = ["proposed@0.4", "cpm-rmr", "random-redraw@0.4", "cam-only"];
    let (outcome, file) = junction("run", &names);
    let mut reader = Reader::open(&file).unwrap();
    let manifest = reader.manifest().clone();
    assert_eq!(
        (manifest.steps, manifest.first_cycle, manifest.cycles),
        (120, 10, 30)
    );
    for (number, arm) in outcome.arms.iter().enumerate() {
        assert_eq!(manifest.header.arms[number].name, arm.arm);
        let curve = reader.curve(number as u16).unwrap();
        assert_eq!(curve.missed.iter().sum::<u64>(), arm.deficit.missed);
        assert_eq!(curve.relevant.iter().sum::<u64>(), arm.deficit.relevant);
        // What is known of each pair adds up to the same.
        let (mut pairs, mut missed, mut rows) = (0, 0, Vec::new());
        for chunk in reader.chunks() {
            for cycle in reader.arm_cycles(number as u16, chunk).unwrap() {
                pairs += cycle.knowledge.len() as u64;
                missed += cycle.knowledge.iter().filter(|k| k.missed).count() as u64;
                rows.extend(cycle.tiles);
            }
        }
        assert_eq!((pairs, missed), (arm.deficit.relevant, arm.deficit.missed));
        assert_eq!(rows, outcome.cycles[number]);
    }
    assert!(outcome.arms[0].deficit.relevant > 0);
}

#[test]
fn hosts_of_a_run_decide_as_covey_decide_does() {
    let (_, file) = junction("run-decisions", &["proposed@0.4", "conditional@0.4"]);
    let mut reader = Reader::open(&file).unwrap();
    let mut changes = 0;
    for arm in 0..2 {
        for chunk in reader.chunks() {
            for (cycle, host) in reader.deciders(arm, chunk).unwrap() {
                let decision = reader.decision(arm, cycle, host).unwrap().unwrap();
                // By way of JSON, as a person would who saves the snapshot.
                let snapshot =
                    covey_protocol::snapshot::Snapshot::parse(&decision.snapshot.to_json());
                assert_eq!(snapshot.as_ref(), Ok(&decision.snapshot));
                let again = decision.snapshot.decide();
                let found: Vec<_> = again
                    .changes
                    .iter()
                    .map(|c| (c.action, c.id, c.because))
                    .collect();
                let recorded = decision.changes.iter();
                let recorded: Vec<_> = recorded
                    .map(|c| (c.action.name(), c.id.0, c.because.name()))
                    .collect();
                assert_eq!(found, recorded, "cycle {cycle}, host {host}");
                assert_eq!(
                    again.binding,
                    decision.binding.name(),
                    "cycle {cycle}, host {host}"
                );
                changes += found.len();
            }
        }
    }
    assert!(changes > 3, "{changes}");
}

#[test]
fn hosts_that_choose_by_demand_pick_what_covey_decide_picks() {
    let names = ["demand@0.2", "demand-random@0.2", "proposed@0.4"];
    let (_, file) = junction("run-demands", &names);
    let mut reader = Reader::open(&file).unwrap();
    let (mut picked, mut drawn) = (0, 0);
    for chunk in reader.chunks() {
        for (cycle, host) in reader.deciders(0, chunk).unwrap() {
            assert_eq!(reader.decision(0, cycle, host).unwrap(), None);
            let demand = reader.demand(0, cycle, host).unwrap().unwrap();
            assert_eq!(demand.snapshot.host.0, host);
            // By way of JSON, as a person would who saves the snapshot.
            let text = demand.snapshot.to_json();
            let saved = DemandSnapshot::parse(&text).unwrap();
            assert_eq!(saved, demand.snapshot);
            assert_eq!(picks_of(&saved), demand.picks, "cycle {cycle}, host {host}");
            picked += demand.picks.len();
        }
        for (cycle, host) in reader.deciders(1, chunk).unwrap() {
            let demand = reader.demand(1, cycle, host).unwrap().unwrap();
            drawn += usize::from(picks_of(&demand.snapshot) != demand.picks);
        }
    }
    assert!(picked > 30, "{picked}");
    assert!(drawn > 0, "random picks are recorded as they were drawn");
    let cycle = reader.manifest().first_cycle;
    assert_eq!(reader.demand(2, cycle, 0).unwrap(), None);
}

fn picks_of(snapshot: &DemandSnapshot) -> Vec<Pick> {
    let chosen = Selection::choose(&snapshot.problem);
    chosen.picks.iter().map(|picked| picked.pick).collect()
}

#[test]
fn recording_changes_nothing_and_repeats() {
    let names = ["proposed@0.4", "demand@0.2", "nearest@0.4"];
    let (first, a) = junction("repeat-a", &names);
    let (second, b) = junction("repeat-b", &names);
    assert_eq!(first.arms, second.arms);
    let toy = "../../scenarios/toy/blind-junction/scenario.toml";
    let scenario = Scenario::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(toy)).unwrap();
    let prepared = Prepared::new(&scenario).unwrap();
    let mut traffic = Builtin::new(&prepared.map.network, &scenario.traffic, 3).unwrap();
    let options = RunOptions {
        warmup_s: 2.0,
        measure_s: 6.0,
        ..RunOptions::default()
    };
    let arms = names.map(|name| name.parse().unwrap());
    let unwatched = simulate(&prepared, &mut traffic, &arms, 3, &options, &mut Nobody).unwrap();
    assert_eq!(first.arms, unwatched.arms);
    assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap());
}
