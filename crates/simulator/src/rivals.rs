//! Published rivals, where their papers leave something open: what was read out of them, as parameters.
//!
//! docs/beyond-the-letter.md has the papers' words beside these readings.

use covey_parameters::{choices, choices_by_name, parameters};
use serde::{Deserialize, Serialize};

parameters! {
    /// How published rivals are read.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Rivals {
        /// AutoCast: a head ranks who casts which object.
        autocast: AutoCast = AutoCast::default(), source "arXiv 2112.14947";
        /// Collective perception over several hops.
        multihop: MultiHop = MultiHop::default(), source "arXiv 2404.07761";
        /// SRA-CP: whoever has a risky blind zone asks those who cover it.
        requests: Requests = Requests::default(), source "arXiv 2511.17461";
    }
}

parameters! {
    /// AutoCast (Qiu et al., MobiSys 2022).
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct AutoCast {
        /// What is ranked by reward per byte.
        ranking: Ranking = Ranking::Message, source "Sched.py, mckp_greedy_scheduling_algorithm; docs/beyond-the-letter.md";
        /// Senders from whom an object earns a reward; further ones earn nothing.
        senders_per_object: u32 = 2, unit "senders", range at_least(1.0).at_most(64.0),
            source "multiple-choice knapsack; docs/beyond-the-letter.md";
        /// Receivers farther than this from a sender earn it nothing.
        reach_m: f64 = 150.0, unit "m", range above(0.0).at_most(1_000.0), source "Sched.py, HalfRadioRange; docs/beyond-the-letter.md";
        /// Objects that send beacons are cast, too.
        announced: bool = false, source "docs/beyond-the-letter.md, rivals";
        /// Who was not heard of for so long is asked what it sees, with what the ranking leaves of the budget; none where nobody
        /// is. It stands for the lists of detected objects in AutoCast's beacons.
        survey_s: Option<f64> = Some(1.0), unit "s", range at_least(0.0).at_most(60.0), source "docs/beyond-the-letter.md, rivals";
    }
}

choices! {
    /// What a head ranks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Ranking {
        /// Senders with one object each, by the object's bytes.
        Object = "object",
        /// Senders with all of their objects, by the bytes of the whole message.
        Message = "message",
    }
}

parameters! {
    /// Multi-hop collective perception (Wolff, Xhoxhi, Tautz, IV 2024).
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct MultiHop {
        /// Hops from whoever sensed an object to the last who hears of it; 1: nothing is forwarded.
        max_hops: u32 = 2, unit "hops", range at_least(1.0).at_most(8.0), source "arXiv 2404.07761";
        /// Objects that send beacons are forwarded, too.
        announced: bool = false, source "docs/beyond-the-letter.md, rivals";
        /// How long who stands beside whoever sensed an object waits before it forwards it; who is farther off waits less.
        hold_s: f64 = 0.2, unit "s", range at_least(0.0).at_most(1.0), source "EN 302 636-4-1, contention-based forwarding; docs/beyond-the-letter.md";
        /// From this distance on nobody waits.
        hold_m: f64 = 200.0, unit "m", range above(0.0).at_most(1_000.0), source "EN 302 636-4-1, contention-based forwarding; docs/beyond-the-letter.md";
        /// An object that more than so many messages told of meanwhile is not forwarded.
        most_copies: u32 = 1, unit "messages", range at_least(1.0).at_most(1_000.0), source "TR 103 562 (N_Redundancy); docs/beyond-the-letter.md";
        /// Who is nearer than this to whoever sensed an object does not forward it.
        least_distance_m: f64 = 0.0, unit "m", range at_least(0.0).at_most(1_000.0), source "TR 103 562 (R_Redundancy); docs/beyond-the-letter.md";
        /// Nothing is forwarded where the messages of a cycle take more than this.
        gate: f64 = 1.0, unit "share of capacity", range above(0.0).at_most(10.0), source "docs/beyond-the-letter.md, rivals";
        /// What a sender sees itself is left out where redundancy mitigation would.
        mitigation: bool = false, source "docs/beyond-the-letter.md, rivals";
    }
}

parameters! {
    /// SRA-CP (Liu et al., 2025).
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Requests {
        /// Coverage summaries go with every so many beacons.
        summary_every: u32 = 5, unit "beacons", range at_least(1.0).at_most(100.0), source "docs/beyond-the-letter.md, rivals";
        /// A blind cell on the way matters if it is reached within this time.
        horizon_s: f64 = 5.0, unit "s", range above(0.0).at_most(60.0), source "docs/beyond-the-letter.md, rivals";
        /// Risk of its blind zones, each 1 at hand and 0 at the horizon, from which somebody asks.
        least_risk: f64 = 0.1, unit "cells", range above(0.0).at_most(100.0), source "docs/beyond-the-letter.md, rivals";
        /// Peers that a request names at most.
        most_peers: u32 = 2, unit "peers", range at_least(1.0).at_most(16.0), source "docs/beyond-the-letter.md, rivals";
        /// How long a peer answers a request.
        lease_s: f64 = 1.0, unit "s", range above(0.0).at_most(10.0), source "docs/beyond-the-letter.md, rivals";
        /// Who overhears that a peer was asked does not ask it again, and answers are for everyone near, not for those who asked.
        overheard: bool = true, source "docs/beyond-the-letter.md, rivals";
        /// Objects that send beacons are told of, too.
        announced: bool = false, source "docs/beyond-the-letter.md, rivals";
        /// So many times its share of the budget somebody may take where others leave theirs.
        most_shares: f64 = 20.0, unit "shares", range at_least(1.0).at_most(1_000.0), source "docs/beyond-the-letter.md, rivals";
    }
}

choices_by_name!(Ranking);
