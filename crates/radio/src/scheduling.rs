//! Every constant of the scheduled sidelink, in one place.

use covey_parameters::{OutOfRange, choices, parameters};

use crate::pool::{Pool, PoolChoice, PoolPreset};

choices! {
    /// How the channel is modelled.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ChannelModel {
        /// By load: bytes offered to a tile against its capacity, collisions by a published table.
        Load = "load",
        /// Event by event: sensing-based semi-persistent scheduling, power sums, every slot.
        Sps = "sps",
    }
}

choices! {
    /// Whether messages of a class keep their resource.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Reservation {
        /// Semi-persistent: the resource is reserved for the message after it, and announced.
        Reserve = "reserve",
        /// Every message chooses by sensing, and reserves nothing.
        OneShot = "one-shot",
    }
}

choices! {
    /// Limits of channel occupancy by the busy ratio.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CongestionControl {
        /// None.
        Off = "off",
        /// TS 103 574 table 1: a message that would pass its limit is not sent.
        Ts103574 = "ts103574",
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(ChannelModel, Reservation, CongestionControl);

parameters! {
    /// The scheduled sidelink: used where the channel's model is `sps`.
    ///
    /// A slot is the time unit of the pool, 1 ms (an LTE subframe). Nothing here is LTE's alone: without `average_rssi` the choice is
    /// that of NR mode 2.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(
        feature = "serde",
        derive(serde::Serialize, serde::Deserialize),
        serde(default, deny_unknown_fields)
    )]
    pub struct SidelinkParameters, checked by Self::agree {
        /// Subchannels, their resource blocks, and the modulation and coding scheme: a preset, or numbers.
        pool: PoolChoice = PoolChoice::Preset(PoolPreset::Letter), source "letter, table I; EN 303 613 by way of LTEV2Vsim issue 1";
        /// Power of a transmission leaks into the other subchannels of its slot.
        in_band_emission: bool = false, source "TS 36.101 by the formula of WiLabV2Xsim";
        /// How long the past is sensed.
        sensing_ms: u32 = 1_000, unit "ms", range at_least(100.0).at_most(1_000.0), source "TS 36.213 14.1.1.6";
        /// Earliest slot that a message may take, after it is handed over.
        t1_ms: u32 = 1, unit "ms", range at_least(1.0).at_most(4.0), source "TS 36.213 14.1.1.6 (T1 at most 4)";
        /// Latest slot that a message may take, where its latency bound is not shorter.
        t2_ms: u32 = 100, unit "ms", range at_least(20.0).at_most(100.0), source "TS 36.213 14.1.1.6 (T2 from 20 to 100)";
        /// Reservations received with a higher reference power exclude their resource.
        rsrp_threshold_dbm: f64 = -110.0, unit "dBm", range at_least(-128.0).at_most(0.0),
            source "TS 36.331 (SL-ThresPSSCH-RSRP); Molina-Masegosa and Gozálvez 2017";
        /// By which the threshold rises while too few candidates are left.
        rsrp_step_db: f64 = 3.0, unit "dB", range at_least(0.4).at_most(30.0), source "TS 36.213 14.1.1.6";
        /// Candidates that have to be left, and of which one is taken.
        candidate_share: f64 = 0.2, unit "share of all", range above(0.0).at_most(1.0), source "TS 36.213 14.1.1.6";
        /// Of what is left, those of the lowest average power over the sensed past are taken: LTE. Without it, any: NR.
        average_rssi: bool = true, source "TS 36.213 14.1.1.6; TS 38.214 8.1.4";
        /// Fewest uses of a resource before another may be chosen, at a period of 100 ms and more; at shorter periods more, in
        /// proportion.
        counter_min: u32 = 5, unit "messages", range at_least(1.0).at_most(100.0), source "TS 36.321 5.14.1.1";
        /// Most uses.
        counter_max: u32 = 15, unit "messages", range at_least(1.0).at_most(100.0), source "TS 36.321 5.14.1.1";
        /// Chance to keep a resource when its counter has run out.
        keep_probability: f64 = 0.0, unit "probability", range at_least(0.0).at_most(0.8),
            source "TS 36.331 (probResourceKeep-r14: 0 to 0.8); Molina-Masegosa and Gozálvez 2017";
        /// Reserved slots in a row that may pass unused before the reservation lapses.
        reselect_after: u32 = 1, unit "slots", range at_least(1.0).at_most(9.0), source "TS 36.331 (sl-ReselectAfter-r14)";
        /// Every block is sent twice, the second time within 15 ms.
        retransmission: bool = false, source "TS 36.213 14.1.1.6 (blind retransmission)";
        /// Whether reports keep their resource. Beacons always do.
        reports: Reservation = Reservation::Reserve, source "design";
        /// Whether broadcasts keep their resource.
        broadcasts: Reservation = Reservation::Reserve, source "design";
        /// A beacon is sent within this time, or not at all.
        beacon_latency_ms: u32 = 100, unit "ms", range at_least(20.0).at_most(1_000.0), source "TS 22.185 (100 ms)";
        /// So is a report: a slot of the protocol's cycle, so that it arrives before hosts decide.
        report_latency_ms: u32 = 50, unit "ms", range at_least(20.0).at_most(1_000.0), source "design: the protocol's slot";
        /// So is a broadcast: what is left of the cycle after the decision.
        broadcast_latency_ms: u32 = 50, unit "ms", range at_least(20.0).at_most(1_000.0), source "design: the protocol's cycle";
        /// Power in a subchannel above which a station counts it as busy.
        busy_threshold_dbm: f64 = -94.0, unit "dBm", range at_least(-130.0).at_most(0.0), source "TS 103 574; TS 36.214 5.1.30";
        /// Limits of channel occupancy by the busy ratio.
        congestion_control: CongestionControl = CongestionControl::Off, source "TS 103 574 table 1";
        /// Priority of beacons, 1 the highest (PPPP).
        beacon_priority: u32 = 5, range at_least(1.0).at_most(8.0), source "SAE J3161/1 for basic safety messages";
        /// Priority of reports.
        report_priority: u32 = 5, range at_least(1.0).at_most(8.0), source "design";
        /// Priority of broadcasts.
        broadcast_priority: u32 = 5, range at_least(1.0).at_most(8.0), source "design";
    }
}

impl SidelinkParameters {
    /// The rules between parameters.
    fn agree(&self) -> Result<(), OutOfRange> {
        let check = |field, found: f64, fine, expected: &str| match fine {
            true => Ok(()),
            false => Err(OutOfRange::new(field, found, expected)),
        };
        let latest = [
            ("t2_ms", self.t2_ms),
            ("beacon_latency_ms", self.beacon_latency_ms),
            ("report_latency_ms", self.report_latency_ms),
            ("broadcast_latency_ms", self.broadcast_latency_ms),
        ];
        for (field, found) in latest {
            check(field, f64::from(found), found > self.t1_ms, "above t1_ms")?;
        }
        let counters = self.counter_min <= self.counter_max;
        check(
            "counter_max",
            f64::from(self.counter_max),
            counters,
            "at least counter_min",
        )?;
        if self.in_band_emission {
            let pool = Pool::new(&self.pool, 1.0)?;
            let known = pool.emission().is_some();
            let expected = "a pool of 2, 4, 5 or 10 subchannels with 25, 12, 10 or 5 blocks each, for which in-band \
                            emission is tabulated; or in_band_emission = false";
            check(
                "pool.subchannels",
                pool.subchannels() as f64,
                known,
                expected,
            )?;
        }
        Ok(())
    }
}
