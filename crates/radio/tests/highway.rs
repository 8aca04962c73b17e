//! A short version of `covey validate channel`: three published settings, a few seconds each.

use covey_radio::highway::{Options, published, run};

#[test]
fn delivery_over_distance_is_as_published() {
    let options = Options {
        warmup_s: 2.0,
        measure_s: 2.0,
        ..Options::default()
    };
    let all = published();
    assert_eq!(all.len(), 12);
    assert!(all.iter().all(|one| one.pdr.len() == 21));
    // The sparse settings of three pools; the whole comparison takes minutes.
    for setting in all
        .iter()
        .filter(|one| one.vehicles_per_m == 0.1 && one.subchannels == 4)
    {
        let measured = run(setting, &options).unwrap();
        let difference = measured.difference(setting);
        assert!(difference < 0.025, "{setting:?}: {measured:?}");
        assert!((measured.cbr - setting.cbr).abs() < 0.04, "{measured:?}");
        assert!(
            (measured.cbr_single - setting.cbr).abs() < 0.03,
            "{measured:?}"
        );
        assert!(measured.cbr_single < measured.cbr, "{measured:?}");
        let per_message = f64::from(setting.rate_hz) / 10.0;
        let half_duplex = measured.half_duplex / per_message;
        assert!((0.006..0.009).contains(&half_duplex), "{half_duplex}");
    }
}
