//! Signed frames among stations, in a time of their own: what is believed, what is asked for, what foreign programs read.

mod air;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use air::{Air, SECOND, security};
use covey_its::pcap::{CaptureTime, Writer};
use covey_node::secure::certificate::{Known, Role, issue, new_key};
use covey_node::secure::pki::{make_authorities, make_tickets, read_pair, read_security};
use covey_node::secure::{Refusal, envelope};
use covey_protocol::Duration;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}\n`cargo xtask setup` installs what is missing.")
    });
    assert!(
        output.status.success(),
        "{}{}\nIs it installed? `cargo xtask setup` does that.",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Two stations that sign, until they have sent so many frames.
fn capture(path: &Path, frames: usize) -> (usize, usize) {
    let mut air = Air::new(2, true);
    air.step_until(|air| air.sent.len() >= frames);
    let (mut cams, mut cpms) = (0, 0);
    let mut writer = Writer::new(BufWriter::new(File::create(path).unwrap())).unwrap();
    for (at, frame) in &air.sent {
        let at = CaptureTime(covey_node::clock::unix_micros(*at));
        writer.write(at, frame).unwrap();
        let opened = envelope::open(frame).unwrap();
        match opened.header.aid {
            36 => cams += 1,
            639 => cpms += 1,
            other => panic!("{other}"),
        }
    }
    writer.finish().unwrap();
    for station in &air.stations {
        let tally = station.tally();
        assert!(tally.beacons_heard > 100, "{tally:?}");
        assert_eq!(
            tally.wrongly_signed + tally.replayed + tally.unsigned,
            0,
            "{tally:?}"
        );
    }
    (cams, cpms)
}

#[test]
fn ten_thousand_signed_frames_are_verified_by_openssl_and_named_by_wireshark() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("signed.pcap");
    let (cams, cpms) = capture(&path, 10_000);
    assert!(cams > 5_000 && cpms > 500, "{cams} CAMs, {cpms} CPMs");
    let all = cams + cpms;
    // Every field in every frame, of the envelope and of the message in it; then what is wrong with any.
    let fields = [
        "ieee1609dot2.protocolVersion",
        "ieee1609dot2.psid",
        "ieee1609dot2.generationTime",
        "ieee1609dot2.signer",
        "ieee1609dot2.sSig",
        "geonw.src_pos.tst",
        "btpb.dstport",
        "its.stationId",
    ];
    let named = fields.join(" && ");
    let filters = [
        named.as_str(),
        "btpb.dstport == 2001 && cam.generationDeltaTime && cam.vehicleWidth",
        "btpb.dstport == 2009 && cpm.referenceTime && cpm.containerId",
        "_ws.malformed",
        // Warnings and errors.
        "_ws.expert.severity >= 0x600000",
    ];
    let counted = output_of(
        Command::new("node")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/count.cjs"))
            .arg(top().join(".npm"))
            .arg(&path)
            .args(filters),
    );
    assert_eq!(counted.trim(), format!("{all} {all} {cams} {cpms} 0 0"));
    let verified = output_of(
        Command::new(top().join(".venv/bin/python"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify.py"))
            .arg(&path),
    );
    assert_eq!(
        verified.trim(),
        format!("{all} verified, 0 wrong, 0 unknown")
    );
}

#[test]
fn what_is_not_to_be_believed_is_counted_and_dropped() {
    let mut air = Air::new(2, true);
    air.run(2 * SECOND);
    let (at, frame) = air
        .sent
        .iter()
        .rev()
        .find(|(_, f)| envelope::open(f).unwrap().header.aid == 36)
        .unwrap()
        .clone();
    let mut tries = [security(9), security(9)];
    let now = at.micros();
    let [ours, theirs] = &mut tries;
    // A frame of a stranger of the same authority that was never heard: its certificate is asked for.
    let digest = air.sent.iter().map(|(_, f)| f).find(|f| {
        matches!(
            envelope::open(f).unwrap().signer,
            envelope::Signer::Digest(_)
        )
    });
    assert_eq!(ours.open(now, digest.unwrap()), Err(Refusal::UnknownSigner));
    let asked = envelope::open(&ours.seal(now, 36, &air::plain(5)).unwrap()).unwrap();
    assert_eq!(asked.header.asks.len(), 1);
    // Unsigned, and broken.
    assert_eq!(ours.open(now, &air::plain(5)), Err(Refusal::Unsigned));
    assert_eq!(ours.open(now, &frame[..60]), Err(Refusal::Unreadable));
    let sealed = theirs.seal(now, 36, &air::plain(5)).unwrap();
    assert!(ours.open(now, &sealed).is_ok());
    // Every changed byte of the packet is noticed.
    for changed in 18..sealed.len() {
        let mut forged = sealed.clone();
        forged[changed] ^= 0x10;
        assert!(ours.open(now, &forged).is_err(), "byte {changed}");
    }
    // Late, early, and of another application than it says.
    for apart in [-3_000_000, 3_000_000] {
        assert_eq!(ours.open(now + apart, &sealed), Err(Refusal::Replayed));
    }
    let as_cpm = theirs.seal(now, 639, &air::plain(5)).unwrap();
    assert_eq!(ours.open(now, &as_cpm), Err(Refusal::NotPermitted));
    let as_denm = theirs.seal(now, 37, &air::plain(5)).unwrap();
    assert_eq!(ours.open(now, &as_denm), Err(Refusal::NotPermitted));
    // After a week its ticket is none.
    let later = now + 8 * 24 * 3_600_000_000;
    let old = theirs.seal(later, 36, &air::plain(5)).unwrap();
    assert_eq!(ours.open(later, &old), Err(Refusal::Expired));
    // A station counts them.
    let station = &mut air.stations[0];
    let before = *station.tally();
    let soon = at + Duration::from_millis(20);
    station.hear(soon, &air::plain(5));
    let mut forged = sealed.clone();
    *forged.last_mut().unwrap() ^= 1;
    station.hear(soon, &forged);
    station.hear(at + Duration::from_millis(2_500), &sealed);
    let tally = station.tally();
    assert_eq!(
        (tally.unsigned, tally.wrongly_signed, tally.replayed),
        (
            before.unsigned + 1,
            before.wrongly_signed + 1,
            before.replayed + 1
        ),
        "{tally:?}"
    );
}

#[test]
fn certificates_go_once_a_second_and_when_somebody_asks() {
    let mut air = Air::new(2, true);
    // Not when the next certificate is due anyway.
    air.run(5_400);
    let address = air.stations[0].address();
    let cams: Vec<_> = air
        .sent
        .iter()
        .filter(|(_, frame)| frame[6..12] == address)
        .map(|(at, frame)| (*at, envelope::open(frame).unwrap()))
        .filter(|(_, opened)| opened.header.aid == 36)
        .collect();
    let certificates = cams
        .iter()
        .filter(|(_, o)| matches!(o.signer, envelope::Signer::Certificate(_)));
    let certificates = certificates.count();
    assert!(
        cams.len() >= 45 && (5..=7).contains(&certificates),
        "{certificates} of {}",
        cams.len()
    );
    // A newcomer that missed it asks, and knows all within a fifth of a second.
    air.add(security(77));
    air.run(Duration::from_millis(300));
    let newcomer = air.stations.last().unwrap().tally();
    assert!(
        newcomer.unknown_signer > 0 && newcomer.certificates_asked > 0,
        "{newcomer:?}"
    );
    assert!(newcomer.beacons_heard >= 2, "{newcomer:?}");
    assert!(
        air.stations[..2]
            .iter()
            .any(|s| s.tally().certificates_given > 0)
    );
}

#[test]
fn an_authority_that_is_not_known_is_asked_for() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("authorities-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let one = folder.join("one");
    make_authorities(&one).unwrap();
    // A second authority of the same root.
    let (root, root_key) = read_pair(&one.join("root.cert")).unwrap();
    let key = new_key().unwrap();
    let start = u32::try_from(root.valid_us.0 / 1_000_000).unwrap();
    let other = issue(
        Role::Authority,
        "other",
        key.verifying_key(),
        start,
        1_000,
        (Some(&root), &root_key),
    )
    .unwrap();
    let two = folder.join("two");
    std::fs::create_dir_all(&two).unwrap();
    std::fs::copy(one.join("root.cert"), two.join("root.cert")).unwrap();
    std::fs::write(two.join("authority.cert"), &other.bytes).unwrap();
    let digits: String = key
        .to_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    std::fs::write(two.join("authority.key"), digits).unwrap();
    for pki in [&one, &two] {
        make_tickets(pki, &pki.join("tickets"), 1, 24, 0).unwrap();
    }
    let mut a = read_security(&one, &one.join("tickets")).unwrap();
    let mut b = read_security(&two, &two.join("tickets")).unwrap();
    // In turn: b's first message cannot be checked, a asks for the authority, b gives it, a believes.
    let now = covey_node::clock::its_micros(covey_node::clock::wall_micros());
    let first = b.seal(now, 36, &air::plain(2)).unwrap();
    assert_eq!(a.open(now, &first), Err(Refusal::UnknownSigner));
    let question = a.seal(now + 100_000, 36, &air::plain(1)).unwrap();
    assert_eq!(envelope::open(&question).unwrap().header.asks.len(), 1);
    assert_eq!(
        b.open(now + 100_000, &question),
        Err(Refusal::UnknownSigner)
    );
    let answer = b.seal(now + 200_000, 36, &air::plain(2)).unwrap();
    assert!(envelope::open(&answer).unwrap().header.gives.is_some());
    // What is given is learned before the message itself can be believed.
    let _ = a.open(now + 200_000, &answer);
    assert!(a.open(now + 200_000, &first).is_ok());
    let foreign = Known::read(&root.bytes).unwrap();
    assert!(
        a.trust(foreign).is_err(),
        "a root is no authority below itself"
    );
}

#[test]
fn a_pseudonym_change_is_a_new_station_that_goes_on_in_its_office() {
    let mut air = Air::new(3, true);
    air.run(4 * SECOND);
    let hosts = |air: &Air| -> Vec<usize> {
        let in_office = |&k: &usize| air.stations[k].participant().host().is_some();
        (0..air.stations.len()).filter(in_office).collect()
    };
    let host = hosts(&air)[0];
    // Whoever does not host changes at once, and so does a host whose patience is over.
    for (number, patience_over) in [((host + 1) % 3, false), (host, true)] {
        let now = air.now;
        let before = air.stations[number].id();
        assert!(
            !air.stations[host].change_pseudonym(now, false),
            "a host keeps its name"
        );
        assert!(air.stations[number].change_pseudonym(now, patience_over));
        assert_ne!(air.stations[number].id(), before);
        // A broadcast every cycle, all by the same station.
        for _ in 0..10 {
            let broadcasts = air.stations[host].tally().broadcasts_sent;
            air.run(200);
            assert_eq!(
                air.stations[host].tally().broadcasts_sent,
                broadcasts + 1,
                "{}",
                air.now.since(now).seconds()
            );
            assert_eq!(hosts(&air), [host]);
        }
        // Nobody knows the old name any more, and everybody the new one.
        let after = air.stations[number].id();
        let others = (0..3).filter(|&k| k != number);
        for station in others.map(|k| &air.stations[k]) {
            let listener = station.participant().listener();
            assert!(listener.known(before.into()).is_none());
            assert!(listener.known(after.into()).is_some());
            assert_eq!(station.tally().wrongly_signed, 0);
        }
    }
}
