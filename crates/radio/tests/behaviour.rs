//! What simulations rely on: order, monotonicity, statistics, and no panic on any input.

use covey_draws::{Draws, Purpose};
use covey_radio::{
    Blockage, Channel, ChannelParameters, FadingDraws, LANES, LaneReception, LaneRow, LinkGeometry,
    LinkKind, LinkState, PairFading, PairLink, Reception,
};
use proptest::prelude::*;

fn geometry(x_m: f64, state: LinkState) -> LinkGeometry {
    LinkGeometry {
        offset_m: [x_m, 0.0],
        antennas_m: [1.6, 1.6],
        state,
    }
}

const CAR: LinkState = LinkState::NlosV {
    blocker_height_m: 1.6,
};
const LORRY: LinkState = LinkState::NlosV {
    blocker_height_m: 3.0,
};

/// A link's first update in the run with this seed.
fn first(channel: &Channel, seed: u64, geometry: &LinkGeometry) -> PairLink {
    channel.update(
        &mut PairFading::default(),
        &FadingDraws::new(seed, 0),
        [0, 1],
        geometry,
    )
}

fn noiseless(change: impl FnOnce(&mut ChannelParameters)) -> Channel {
    let mut parameters = ChannelParameters {
        shadowing_los_db: 0.0,
        shadowing_nlosv_db: 0.0,
        shadowing_nlos_db: 0.0,
        ..Default::default()
    };
    change(&mut parameters);
    Channel::new(parameters).unwrap()
}

#[test]
fn simulated_block_errors_meet_their_mean() {
    let channel = Channel::default();
    for (x_m, state) in [
        (200.0, LinkState::Nlos),
        (280.0, LinkState::Nlos),
        (380.0, LORRY),
    ] {
        let seeds = 20_000;
        let sum: f64 = (0..seeds)
            .map(|seed| f64::from(first(&channel, seed, &geometry(x_m, state)).success))
            .sum();
        let expected = channel.mean_block_error(x_m, state.kind(), Blockage::Full);
        let found = 1.0 - sum / seeds as f64;
        assert!(
            (found - expected).abs() < 0.01,
            "{x_m} m: {found} for {expected}"
        );
    }
}

/// The decibels lost on a link, read back from its block errors: the channel is made so weak that
/// the link sits on the steep part of the curve.
fn excess_db(seed: u64, state: LinkState) -> f64 {
    let channel = noiseless(|p| p.tx_power_dbm = 23.0 - 31.0);
    let curve = [
        (11.24, 0.001),
        (4.0, 0.3),
        (2.0, 0.7),
        (0.0, 0.9),
        (-2.0, 1.0),
    ];
    let bler = 1.0 - f64::from(first(&channel, seed, &geometry(100.0, state)).success);
    let after = curve
        .iter()
        .position(|(_, y)| *y >= bler - 1e-6)
        .unwrap()
        .max(1);
    let ((x0, y0), (x1, y1)) = (curve[after - 1], curve[after]);
    11.24 - (x0 + (bler - y0) / (y1 - y0) * (x1 - x0))
}

#[test]
fn blockage_is_normal_in_decibels_and_never_a_gain() {
    // Median of max(0, N(9, 4.5)) is 9: on the straight stretch from 0.3 to 0.7 (7.24 to 9.24 dB)
    // the inversion is exact, and a median needs no more than the right side of it.
    let mut full: Vec<f64> = (0..4001).map(|seed| excess_db(seed, LORRY)).collect();
    full.sort_by(f64::total_cmp);
    assert!((full[2000] - 9.0).abs() < 0.3, "median {}", full[2000]);
    // A share Phi(-5/4) = 0.1056 of partial blockages is cut to nothing: as good as line of sight.
    let channel = noiseless(|p| p.tx_power_dbm = 23.0 - 31.0);
    let clear = first(&channel, 0, &geometry(100.0, LinkState::Los)).success;
    let partial: Vec<f32> = (0..4000)
        .map(|seed| first(&channel, seed, &geometry(100.0, CAR)).success)
        .collect();
    assert!(partial.iter().all(|success| *success <= clear));
    let uncut = partial.iter().filter(|success| **success == clear).count() as f64 / 4000.0;
    assert!((uncut - 0.1056).abs() < 0.02, "share {uncut}");
    // A blocker lower than both antennas is none.
    let low = LinkState::NlosV {
        blocker_height_m: 1.5,
    };
    assert_eq!(first(&channel, 0, &geometry(100.0, low)).success, clear);
}

#[test]
fn blockage_lasts_for_its_episode() {
    let channel = noiseless(|p| p.tx_power_dbm = 23.0 - 31.0);
    let mut fading = PairFading::default();
    let mut at = |step, state| {
        let draws = FadingDraws::new(5, step);
        channel
            .update(&mut fading, &draws, [0, 1], &geometry(100.0, state))
            .success
    };
    let [one, two] = [at(0, LORRY), at(1, LORRY)];
    assert_eq!(one, two, "same episode");
    at(2, LinkState::Los);
    let three = at(3, LORRY);
    assert_ne!(one, three, "a new episode after a break");
    let partial = at(4, CAR);
    assert_ne!(three, partial);
    assert_ne!(at(5, LORRY), three, "a new episode after another case");
}

#[test]
fn fading_does_not_depend_on_order_or_direction() {
    let channel = Channel::default();
    let states = [LinkState::Nlos, CAR, LORRY, LinkState::Los];
    let pairs: Vec<[u32; 2]> = (0..30).map(|n| [n, n + 7]).collect();
    let run = |reversed: bool| {
        let mut fading = vec![PairFading::default(); pairs.len()];
        let mut links = vec![PairLink::LOST; pairs.len()];
        for step in 0..20 {
            let draws = FadingDraws::new(1, step);
            let mut order: Vec<usize> = (0..pairs.len()).collect();
            if reversed {
                order.reverse();
            }
            for n in order {
                let [a, b] = pairs[n];
                let sign = if reversed { -1.0 } else { 1.0 };
                let state = states[(n + step as usize / 5) % states.len()];
                let geometry = geometry(sign * (150.0 + n as f64 + step as f64), state);
                let pair = if reversed { [b, a] } else { [a, b] };
                links[n] = channel.update(&mut fading[n], &draws, pair, &geometry);
            }
        }
        links
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn range_and_sensitivity_cut() {
    let channel = noiseless(|_| {});
    for (state, range_m) in [
        (LinkState::Los, 500.0),
        (CAR, 400.0),
        (LinkState::Nlos, 300.0),
    ] {
        assert!(first(&channel, 0, &geometry(range_m, state)).success > 0.0);
        assert_eq!(
            first(&channel, 0, &geometry(range_m + 0.1, state)).success,
            0.0
        );
    }
    // -90.4 dBm is met at 185 m NLOS.
    let channel = noiseless(|p| p.sensitivity_dbm = Some(-90.4));
    assert!(first(&channel, 0, &geometry(183.0, LinkState::Nlos)).success > 0.9);
    assert_eq!(
        first(&channel, 0, &geometry(187.0, LinkState::Nlos)).success,
        0.0
    );
}

#[test]
fn what_is_not_a_number_is_lost() {
    let channel = Channel::default();
    let row = channel.row(f64::NAN);
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300];
    for x in odd {
        for load in odd {
            for kind in LinkKind::ALL {
                let delivery = channel.mean(x, *kind, load).delivery;
                assert!(delivery.is_nan() || (0.0..=1.0).contains(&delivery));
            }
        }
        for blocker_height_m in odd {
            let mut fading = PairFading::default();
            for (step, x) in [50.0, x, 50.0].into_iter().enumerate() {
                let draws = FadingDraws::new(1, step as u64);
                let geometry = geometry(x, LinkState::NlosV { blocker_height_m });
                let link = channel.update(&mut fading, &draws, [0, 1], &geometry);
                assert_eq!(link.success > 0.0, x.abs() < 400.0, "{geometry:?}");
                assert!(link.delivery(&row, f32::NAN).is_nan(), "u < NaN is false");
            }
        }
        assert!(x.is_nan() || (0.0..=1.0).contains(&Channel::kept_share(x)));
        assert!((0.0..=1.0).contains(&channel.busy_ratio(x)));
    }
    assert!(Channel::kept_share(f64::NAN).is_nan(), "u < NaN is false");
}

#[test]
fn lanes_agree_with_single_policies() {
    let channel = Channel::default();
    let receivers: Vec<u32> = (0..200).collect();
    let tile_of: Vec<u32> = receivers.iter().map(|n| n % 3).collect();
    let links: Vec<PairLink> = receivers
        .iter()
        .map(|&n| {
            let geometry = geometry(2.0 + 2.5 * f64::from(n), LinkState::Nlos);
            let draws = FadingDraws::new(2, 0);
            channel.update(&mut PairFading::default(), &draws, [n, 999], &geometry)
        })
        .collect();
    let row = |tile: usize, lane: usize| channel.row(0.1 * lane as f64 + 0.2 * tile as f64);
    let listening = |lane: usize| 1.0 - 0.01 * lane as f32;
    let lane_rows: Vec<LaneRow> = (0..3)
        .map(|tile| {
            let mut rows = LaneRow::DEAF;
            (0..LANES).for_each(|lane| rows.set(lane, &row(tile, lane)));
            rows
        })
        .collect();
    let lane_listening = vec![std::array::from_fn(listening); receivers.len()];
    let many = |lanes| LaneReception {
        rows: &lane_rows,
        tile_of: &tile_of,
        listening: &lane_listening,
        lanes,
    };
    let mut units = vec![0.0; receivers.len()];
    Draws::new(9, Purpose::Reception, 0, 4).fill_units(999, &receivers, &mut units);
    let mut masks = vec![0; receivers.len()];
    many(LANES).draw(&receivers, &links, &units, &mut masks);
    for lanes in 1..LANES {
        let mut first = vec![0; receivers.len()];
        many(lanes).draw(&receivers, &links, &units, &mut first);
        let used = (1u16 << lanes) - 1;
        let agrees = |(first, all): (&u16, &u16)| first & used == all & used;
        assert!(first.iter().zip(&masks).all(agrees), "{lanes}");
    }
    let mut total = 0;
    for lane in 0..LANES {
        let rows: Vec<_> = (0..3).map(|tile| row(tile, lane)).collect();
        let listening = vec![listening(lane); receivers.len()];
        let one = Reception {
            rows: &rows,
            tile_of: &tile_of,
            listening: &listening,
        };
        let mut received = vec![false; receivers.len()];
        one.draw(&receivers, &links, &units, &mut received);
        for (mask, received) in masks.iter().zip(&received) {
            assert_eq!(mask >> lane & 1 == 1, *received);
        }
        total += received.iter().filter(|received| **received).count();
    }
    assert!((500..3000).contains(&total), "both outcomes occur: {total}");
}

fn kinds() -> impl Strategy<Value = LinkKind> {
    proptest::sample::select(LinkKind::ALL)
}

proptest! {
    #[test]
    fn delivery_falls_with_distance(kind in kinds(), d in 0.0..1500.0, more in 0.0..500.0, load in 0.0..2.0) {
        let channel = Channel::default();
        let [here, there] = [d, d + more].map(|d| channel.mean(d, kind, load));
        prop_assert!(there.delivery <= here.delivery + 1e-12);
        prop_assert!(there.path_loss_db >= here.path_loss_db);
        prop_assert!((0.0..=1.0).contains(&here.delivery));
    }

    #[test]
    fn delivery_falls_with_load(kind in kinds(), d in 0.0..600.0, load in 0.0..2.0, more in 0.0..1.0) {
        let channel = Channel::default();
        let [idle, busy] = [load, load + more].map(|load| channel.mean(d, kind, load).delivery);
        prop_assert!(busy <= idle + 1e-12);
        prop_assert!(Channel::kept_share(load + more) <= Channel::kept_share(load));
    }

    #[test]
    fn more_load_never_turns_a_loss_into_a_success(
        d in 0.0..500.0, load in 0.0..2.0, more in 0.0..1.0, listening in 0.0..1.0f32, seed: u64,
    ) {
        let channel = Channel::default();
        let link = first(&channel, seed, &geometry(d, LinkState::Los));
        let unit = Draws::new(seed, Purpose::Reception, 0, 0).at(0, 1).unit();
        let [idle, busy] = [load, load + more].map(|l| link.delivery(&channel.row(l), listening));
        prop_assert!(busy <= idle);
        prop_assert!(unit >= busy || unit < idle);
    }

    #[test]
    fn fast_path_meets_the_mean(d in 0.0..300.0, load in 0.0..1.2) {
        let channel = noiseless(|_| {});
        let fast = first(&channel, 0, &geometry(d, LinkState::Nlos)).delivery(&channel.row(load), 1.0);
        let mean = channel.mean(d, LinkKind::Nlos, load).delivery;
        prop_assert!((f64::from(fast) - mean).abs() < 1e-6);
    }
}
