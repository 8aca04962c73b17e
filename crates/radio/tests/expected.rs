//! The channel against published and independently computed values (docs/channel.md).

use covey_radio::{
    BlockErrorCurve, Blockage, BusyRatio, Channel, ChannelParameters, CollisionLaw, CollisionTable,
    LinkKind::{self, Los, Nlos, NlosV},
};

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "found {found}, expected {expected}"
    );
}

fn with(change: impl FnOnce(&mut ChannelParameters)) -> Channel {
    let mut parameters = ChannelParameters::default();
    change(&mut parameters);
    Channel::new(parameters).unwrap()
}

type Budget = (f64, [f64; 2], [f64; 2], [f64; 3]);

/// Distance, path loss LOS and NLOS, SNR LOS and NLOS, mean block error rate of NLOSv with partial
/// and full blockage and of NLOS: computed apart from this crate, from TR 37.885 and R1-160284.
#[rustfmt::skip]
const LINK_BUDGET: [Budget; 13] = [
    (10.0,   [69.50, 81.42],   [58.94, 47.02],  [0.00010, 0.00010, 0.00010]),
    (25.0,   [76.15, 93.36],   [52.29, 35.08],  [0.00010, 0.00010, 0.00010]),
    (50.0,   [81.17, 102.39],  [47.26, 26.05],  [0.00010, 0.00010, 0.00016]),
    (100.0,  [86.20, 111.42],  [42.24, 17.02],  [0.00010, 0.00011, 0.00214]),
    (150.0,  [89.14, 116.70],  [39.30, 11.74],  [0.00010, 0.00013, 0.03137]),
    (200.0,  [91.23, 120.45],  [37.21, 7.99],   [0.00011, 0.00017, 0.14218]),
    (250.0,  [92.85, 123.36],  [35.59, 5.08],   [0.00012, 0.00023, 0.32735]),
    (300.0,  [94.17, 125.73],  [34.27, 2.70],   [0.00013, 0.00033, 0.52594]),
    (350.0,  [95.29, 127.74],  [33.15, 0.70],   [0.00015, 0.00047, 0.69137]),
    (400.0,  [96.25, 129.48],  [32.18, -1.04],  [0.00017, 0.00067, 0.80984]),
    (500.0,  [97.87, 132.39],  [30.56, -3.95],  [0.00024, 0.00129, 0.93456]),
    (750.0,  [100.81, 137.67], [27.62, -9.23],  [0.00132, 0.01197, 0.99627]),
    (1000.0, [102.90, 141.42], [25.54, -12.98], [0.00808, 0.05405, 0.99980]),
];

#[test]
fn link_budget() {
    let channel = Channel::default();
    for (distance, [loss_los, loss_nlos], [snr_los, snr_nlos], _) in LINK_BUDGET {
        let (los, nlos) = (
            channel.mean(distance, Los, 0.64),
            channel.mean(distance, Nlos, 0.64),
        );
        near(los.path_loss_db, loss_los, 0.0051);
        near(nlos.path_loss_db, loss_nlos, 0.0051);
        near(los.snr_db, snr_los, 0.0051);
        near(nlos.snr_db, snr_nlos, 0.0051);
    }
}

#[test]
fn block_errors_averaged_over_fading() {
    let channel = Channel::default();
    for (distance, _, _, [partial, full, nlos]) in LINK_BUDGET {
        let mean = |kind, case| channel.mean_block_error(distance, kind, case);
        near(mean(Nlos, Blockage::Clear), nlos, 1e-4);
        near(mean(NlosV, Blockage::Partial), partial, 1e-4);
        near(mean(NlosV, Blockage::Full), full, 2e-4);
        assert!(distance > 500.0 || mean(Los, Blockage::Clear) < 0.0013);
    }
}

#[test]
fn noise_by_bandwidth() {
    // SNR at a fixed point moves with the noise floor: -101.66, -99.44, -95.63, -95.46 dBm.
    for (blocks, noise) in [
        (12.0, -101.66),
        (20.0, -99.44),
        (48.0, -95.63),
        (50.0, -95.46),
    ] {
        let link = with(|p| p.resource_blocks = blocks).mean(100.0, Los, 0.0);
        near(29.0 - link.path_loss_db - link.snr_db, noise, 0.0051);
    }
}

#[test]
fn block_error_curves_at_their_percentiles() {
    for (curve, points) in [
        (
            BlockErrorCurve::QpskR05,
            [(3.0, 0.5), (5.9, 0.1), (9.11, 0.01)],
        ),
        (
            BlockErrorCurve::QpskR07,
            [(5.33, 0.5), (8.71, 0.1), (13.4, 0.01)],
        ),
        (
            BlockErrorCurve::UrbanLosMcs7,
            [(2.82, 0.5), (4.89, 0.1), (6.9, 0.01)],
        ),
        (
            BlockErrorCurve::CrossingNlosMcs7,
            [(5.12, 0.5), (6.88, 0.1), (8.45, 0.01)],
        ),
    ] {
        let channel = with(|p| p.block_error = curve);
        for (snr, bler) in points {
            // Percentiles are given to 0.01 dB, and the curves fall by up to 0.003 in that.
            near(channel.block_error(snr, Los), bler, 0.0031);
        }
        assert_eq!(channel.block_error(-30.0, NlosV), 1.0);
        assert!(channel.block_error(60.0, NlosV) <= 1e-4);
        assert_eq!(
            channel.block_error(3.0, Nlos),
            0.5,
            "NLOS has its own curve"
        );
    }
    let channel = Channel::default();
    assert_eq!(channel.block_error(20.0, Los), 0.001);
    near(channel.block_error(20.01, Los), 0.0001, 1e-15);
}

#[test]
fn distance_where_noise_takes_a_tenth() {
    let channel = Channel::default();
    let bler = |distance, kind| channel.mean(distance, kind, 0.0).bler;
    assert!(bler(14_000.0, Los) < 0.1 && bler(16_000.0, Los) > 0.1);
    assert!(bler(230.0, Nlos) < 0.1 && bler(240.0, Nlos) > 0.1);
}

#[test]
fn collision_loss_at_the_letters_occupancy() {
    let channel = Channel::default();
    near(channel.collision_loss(0.64, 100.0), 0.042, 0.0005);
    near(channel.collision_loss(0.64, 150.0), 0.058, 0.0005);
    near(channel.collision_loss(0.64, 300.0), 0.214, 0.0005);
    near(channel.half_duplex_loss(10.0), 0.01, 1e-12);
    near(Channel::kept_share(0.64), 1.0, 0.0);
    near(Channel::kept_share(1.99), 0.50, 0.005);
}

#[test]
fn collision_tables_at_their_knots() {
    let at = |table, load, distance| {
        with(|p| p.collision = CollisionLaw::Table(table)).collision_loss(load, distance)
    };
    for (table, loss) in [
        (CollisionTable::S2Pt23, 0.09571),
        (CollisionTable::S2Pt20, 0.11242),
        (CollisionTable::S4Pt23, 0.11466),
        (CollisionTable::S4Pt20, 0.13535),
    ] {
        near(at(table, 0.85, 100.0), loss, 1e-12);
        near(at(table, 0.0, 100.0), 0.0, 0.0);
    }
    near(at(CollisionTable::S2Pt23, 0.2, 50.0), 0.00365, 1e-12);
    near(at(CollisionTable::S2Pt23, 0.7, 300.0), 0.2432, 1e-12);
    // Half way between two knots each way.
    let corners = 0.03735 + 0.04437 + 0.04334 + 0.0515;
    near(
        at(CollisionTable::S2Pt23, 0.625, 112.5),
        corners / 4.0,
        1e-12,
    );
}

#[test]
fn collision_loss_outside_its_table_is_that_at_the_edge() {
    let channel = Channel::default();
    assert_eq!(
        channel.collision_loss(0.6, 0.0),
        channel.collision_loss(0.6, 10.0)
    );
    assert_eq!(
        channel.collision_loss(0.6, 2000.0),
        channel.collision_loss(0.6, 500.0)
    );
    near(
        channel.collision_loss(7.0, 100.0),
        channel.collision_loss(0.85, 100.0),
        1e-12,
    );
    assert_eq!(channel.collision_loss(-1.0, 100.0), 0.0);
    assert_eq!(
        channel.collision_loss(f64::NAN, 100.0),
        channel.collision_loss(1.0, 100.0)
    );
}

#[test]
fn collision_power_law() {
    let law = CollisionLaw::PowerLaw {
        coefficient: 0.5,
        exponent: 2.0,
    };
    let channel = with(|p| p.collision = law);
    near(channel.collision_loss(0.6, 50.0), 0.18, 1e-12);
    assert_eq!(
        channel.collision_loss(0.6, 450.0),
        channel.collision_loss(0.6, 50.0)
    );
    near(channel.collision_loss(3.0, 50.0), 0.5, 1e-12);
}

#[test]
fn busy_ratio_of_overlapping_transmissions() {
    let channel = with(|p| p.busy_ratio = BusyRatio::Overlapping);
    for (load, busy) in [
        (0.0, 0.0),
        (0.2, 0.1944),
        (0.64, 0.565),
        (1.0, 0.75),
        (1.4, 0.85),
    ] {
        near(channel.busy_ratio(load), busy, 0.0005);
    }
    assert_eq!(channel.busy_ratio(2.5), 1.0);
    assert_eq!(Channel::default().busy_ratio(0.64), 0.64);
}

#[test]
fn blockage_cases() {
    // Type 2 vehicles: roof and antenna at 1.6 m. Level is not higher.
    assert_eq!(Blockage::of([1.6, 1.6], 1.6), Blockage::Partial);
    // A body of 1.5 m under antennas of 1.6 m blocks nothing.
    assert_eq!(Blockage::of([1.6, 1.6], 1.5), Blockage::Clear);
    assert_eq!(Blockage::of([1.6, 1.6], 3.0), Blockage::Full);
    assert_eq!(Blockage::of([1.6, 3.0], 3.0), Blockage::Partial);
    assert_eq!(Blockage::of([1.6, 3.5], 3.0), Blockage::Partial);
    let channel = Channel::default();
    assert_eq!(channel.blockage_db(541.0, Blockage::Partial), (5.0, 4.0));
    assert_eq!(channel.blockage_db(100.0, Blockage::Full), (9.0, 4.5));
    assert_eq!(channel.blockage_db(100.0, Blockage::Clear), (0.0, 0.0));
    near(channel.blockage_db(1000.0, Blockage::Partial).0, 9.0, 1e-12);
    // Cut at 0 dB, the means are a little higher.
    near(
        channel.mean_blockage_db(100.0, Blockage::Partial),
        5.2023,
        5e-5,
    );
    near(
        channel.mean_blockage_db(100.0, Blockage::Full),
        9.0382,
        5e-5,
    );
    assert_eq!(channel.mean_blockage_db(100.0, Blockage::Clear), 0.0);
}

#[test]
fn mean_link_is_what_the_letter_would_compute() {
    let link = Channel::default().mean(100.0, NlosV, 0.64);
    near(link.path_loss_db, 86.20 + 5.2023, 0.0051);
    near(link.snr_db, 42.24 - 5.2023, 0.0051);
    near(link.bler, 0.0001, 1e-12);
    near(link.delivery, 0.9999 * (1.0 - link.collision_loss), 1e-12);
    assert!(link.in_range && !Channel::default().mean(301.0, Nlos, 0.64).in_range);
    // Nearer than 3 m counts as 3 m.
    let mean = |distance| Channel::default().mean(distance, Los, 0.64).path_loss_db;
    assert_eq!(mean(0.0), mean(3.0));
}

#[test]
fn every_parameter_stands_in_the_documentation() {
    let document = include_str!("../../../docs/channel.md");
    let fields = format!("{:#?}", ChannelParameters::default());
    let names = fields
        .lines()
        .filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
    for (name, value) in names.filter(|(name, _)| !name.starts_with(' ')) {
        let row = document
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("docs/channel.md has no row for `{name}`"));
        let default = value.trim_end_matches(',').trim_end_matches(".0");
        if default.parse::<f64>().is_ok() {
            assert!(
                row.contains(&format!("| {default} |")),
                "{row} should say {default}"
            );
        }
    }
    for kind in LinkKind::ALL {
        assert!(document.contains(&format!("`{}`", kind.name())));
    }
}
