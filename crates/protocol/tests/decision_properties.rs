//! What holds for every decision, whatever the host knows.

use covey_protocol::AgentId;
use covey_protocol::admission::{
    Action, Admission, AdmissionCandidate, AdmissionContributor, AdmissionProblem, Because, Change,
    Decision, Factors, Rules, Score,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Rounding, on sums of a few numbers about 1 and a scale for the rest.
const SLACK: f64 = 1e-11;

/// A problem that owns its parts, so that it can be changed and asked again.
#[derive(Debug, Clone)]
struct Situation {
    rules: Rules,
    price: f64,
    base: f64,
    delivery: f64,
    prior: Vec<f64>,
    rho: Vec<f64>,
    deadline_s: Vec<f64>,
    host_cells: Vec<u32>,
    overheard: Vec<u32>,
    contributors: Vec<Agent>,
    candidates: Vec<Agent>,
}

#[derive(Debug, Clone, PartialEq)]
struct Agent {
    id: u64,
    cells: Vec<u32>,
    decoded: bool,
    fraction: f64,
    report: f64,
    broadcast: f64,
    /// The leave-one-out map, on all cells.
    without: Option<Vec<f64>>,
}

/// What one decision said.
struct Answer {
    decision: Decision,
    map: Vec<f64>,
    scores: Vec<Score>,
}

impl Agent {
    fn bytes(&self) -> f64 {
        self.report + self.broadcast
    }
}

impl Situation {
    fn decide(&self) -> Answer {
        self.decide_and(|_, _| ()).0
    }

    /// Decides, and asks something more of the same [`Admission`].
    fn decide_and<T>(
        &self,
        more: impl Fn(&mut Admission, &[AdmissionContributor<'_>]) -> T,
    ) -> (Answer, T) {
        let own: Vec<Option<Vec<f64>>> = self
            .contributors
            .iter()
            .map(|agent| {
                let map = agent.without.as_ref()?;
                Some(agent.cells.iter().map(|&cell| map[cell as usize]).collect())
            })
            .collect();
        let contributors: Vec<AdmissionContributor<'_>> = self
            .contributors
            .iter()
            .zip(&own)
            .map(|(agent, own)| AdmissionContributor {
                id: AgentId(agent.id),
                cells: &agent.cells,
                decoded: agent.decoded,
                decoded_fraction: agent.fraction,
                report_bytes: agent.report,
                broadcast_bytes: agent.broadcast,
                prior_without: own.as_deref(),
            })
            .collect();
        let candidates: Vec<AdmissionCandidate<'_>> = self
            .candidates
            .iter()
            .map(|agent| AdmissionCandidate {
                id: AgentId(agent.id),
                cells: &agent.cells,
                decoded_fraction: agent.fraction,
                report_bytes: agent.report,
                broadcast_bytes: agent.broadcast,
            })
            .collect();
        let problem = AdmissionProblem {
            price: self.price,
            broadcast_base_bytes: self.base,
            broadcast_delivery: self.delivery,
            prior: &self.prior,
            rho: &self.rho,
            deadline_s: &self.deadline_s,
            host_cells: &self.host_cells,
            overheard: &self.overheard,
            contributors: &contributors,
            candidates: &candidates,
        };
        let mut admission = Admission::new();
        let decision = admission.decide(&self.rules, &problem);
        let answer = Answer {
            decision,
            map: admission.map().to_vec(),
            scores: admission.scores().to_vec(),
        };
        let more = more(&mut admission, &contributors);
        (answer, more)
    }

    /// The set after the changes: who contributes, who listens.
    fn apply(&mut self, decision: &Decision) {
        for change in &decision.changes {
            let (from, to) = match change.action {
                Action::Admit => (&mut self.candidates, &mut self.contributors),
                Action::Remove => (&mut self.contributors, &mut self.candidates),
            };
            let at = from
                .iter()
                .position(|agent| agent.id == change.id.0)
                .expect("a change names an agent of the right role");
            let mut agent = from.remove(at);
            agent.without = None;
            to.push(agent);
            to.sort_by_key(|agent| agent.id);
        }
    }

    /// One cycle as a host lives it: the map becomes the prior, every contributor's leave-one-out map goes on, and a
    /// newcomer's begins with the map at its admission.
    fn cycle(&mut self) -> Decision {
        let rules = self.rules;
        let maps: Vec<Vec<f64>> = self
            .contributors
            .iter()
            .map(|agent| agent.without.clone().unwrap_or_else(|| self.prior.clone()))
            .collect();
        let (answer, maps) = self.decide_and(|admission, contributors| {
            let mut maps = maps.clone();
            for (contributor, map) in contributors.iter().zip(&mut maps) {
                admission.age_map_without(&rules, contributor, map);
            }
            maps
        });
        for (agent, map) in self.contributors.iter_mut().zip(maps) {
            agent.without = Some(map);
        }
        self.prior = answer.map;
        self.apply(&answer.decision);
        for agent in &mut self.contributors {
            agent.without.get_or_insert_with(|| self.prior.clone());
        }
        answer.decision
    }

    /// The size of the numbers in a score.
    fn scale(&self) -> f64 {
        1.0 + self.rho.iter().sum::<f64>() + self.price * 100.0
    }
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 4 => 0.0..1.0f64]
}

fn rules() -> impl Strategy<Value = Rules> {
    let etas = prop_oneof![
        Just((0.25, -0.25)),
        (0.0..1.0f64, 0.0..1.0f64).prop_map(|(add, gap)| (add, add - gap - 0.01)),
    ];
    (
        prop_oneof![Just(0.05), Just(0.2), Just(10.0)],
        prop_oneof![Just(2.0), 0.5..20.0f64],
        etas,
        0..4u32,
        prop_oneof![Just(0.05), Just(0.4), Just(10.0)],
        (any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |(t_max_s, kappa_per_s, (eta_add, eta_rem), n_max, allowance, factors)| Rules {
                cycle_s: 0.2,
                t_max_s,
                kappa_per_s,
                eta_add,
                eta_rem,
                n_max,
                allowance,
                rate_bytes_per_s: 65_000.0,
                capacity_bytes_per_s: 24_200.0,
                airtime_unit_s: 0.01,
                factors: Factors {
                    novelty: factors.0,
                    risk: factors.1,
                    timeliness: factors.2,
                },
            },
        )
}

fn agent(cells: u32) -> impl Strategy<Value = Agent> {
    (
        vec(0..cells, 0..10),
        any::<bool>(),
        share(),
        0..900u32,
        0..300u32,
        prop_oneof![Just(None), vec(share(), cells as usize).prop_map(Some)],
    )
        .prop_map(
            |(mut cells, decoded, fraction, report, broadcast, without)| {
                cells.sort_unstable();
                cells.dedup();
                Agent {
                    id: 0,
                    cells,
                    decoded,
                    fraction,
                    report: f64::from(report),
                    broadcast: f64::from(broadcast),
                    without,
                }
            },
        )
}

fn situation() -> impl Strategy<Value = Situation> {
    (1..16u32).prop_flat_map(|cells| {
        let every = cells as usize;
        let rho = prop_oneof![Just(0.0), 0.0..5.0f64];
        let deadline = prop_oneof![Just(0.0), Just(0.2), 0.0..1.0f64];
        (
            rules(),
            (
                prop_oneof![Just(0.0), 0.0..8.0f64],
                prop_oneof![Just(0.0), Just(240.0), Just(2400.0)],
                share(),
            ),
            (vec(share(), every), vec(rho, every), vec(deadline, every)),
            (vec(0..cells, 0..3), vec(0..cells, 0..3)),
            vec(agent(cells), 0..7),
            vec(agent(cells), 0..9),
            any::<u64>(),
        )
            .prop_map(
                |(rules, (price, base, delivery), maps, seen, contributors, candidates, seed)| {
                    let mut situation = Situation {
                        rules,
                        price,
                        base,
                        delivery,
                        prior: maps.0,
                        rho: maps.1,
                        deadline_s: maps.2,
                        host_cells: once_each(seen.0),
                        overheard: once_each(seen.1),
                        contributors,
                        candidates,
                    };
                    // Ids in an order that has nothing to do with roles.
                    let agents = situation
                        .contributors
                        .iter_mut()
                        .chain(&mut situation.candidates);
                    for (nth, agent) in agents.enumerate() {
                        agent.id = AgentId(seed.wrapping_add(nth as u64)).mixed() >> 8;
                    }
                    situation.contributors.sort_by_key(|agent| agent.id);
                    situation.candidates.sort_by_key(|agent| agent.id);
                    situation
                },
            )
    })
}

fn once_each(mut cells: Vec<u32>) -> Vec<u32> {
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Every agent's second score is at most its first.
fn never_higher(
    situation: &Situation,
    before: &Answer,
    after: &Answer,
) -> Result<(), TestCaseError> {
    for (a, b) in before.scores.iter().zip(&after.scores) {
        prop_assert_eq!(a.id, b.id);
        prop_assert!(
            b.score <= a.score + SLACK * situation.scale(),
            "{} rose from {} to {}",
            a.id,
            a.score,
            b.score
        );
    }
    Ok(())
}

/// Runs cycles on the same inputs until nothing changes any more, and gives the changes on the way.
///
/// Constant are the agents' cells, sizes, decoded flags and fractions, the risk, the host's view, what is overheard and
/// the price; the maps go on as a host keeps them.
fn come_to_rest(mut situation: Situation) -> Result<Vec<(usize, Change)>, String> {
    let mut history = Vec::new();
    let mut still = 0;
    for cycle in 0..2000 {
        let changes = situation.cycle().changes;
        still = if changes.is_empty() { still + 1 } else { 0 };
        history.extend(changes.into_iter().map(|change| (cycle, change)));
        // What is left of a change in the maps after that many cycles moves no score.
        if still == 300 {
            return Ok(history);
        }
    }
    let last = &history[history.len().saturating_sub(12)..];
    Err(format!("{} changes, the last: {last:#?}", history.len()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_map_is_a_confidence_and_no_value_is_negative(situation in situation()) {
        let answer = situation.decide();
        for &m in &answer.map {
            prop_assert!((0.0..=1.0).contains(&m), "{m}");
        }
        for score in &answer.scores {
            prop_assert!(score.value >= -SLACK * situation.scale(), "{score:?}");
            prop_assert!(score.airtime >= 0.0 && score.score.is_finite(), "{score:?}");
        }
    }

    #[test]
    fn the_map_grows_with_evidence(
        situation in situation(), newcomer in agent(1), kind in 0..6u8, at in any::<Index>(),
    ) {
        let before = situation.decide();
        let mut more = situation.clone();
        let cell = at.index(more.prior.len());
        match kind {
            0 => more.host_cells = once_each([&more.host_cells[..], &[cell as u32]].concat()),
            1 => more.overheard = once_each([&more.overheard[..], &[cell as u32]].concat()),
            2 => more.prior[cell] = (more.prior[cell] + newcomer.fraction).min(1.0),
            3 => {
                let cells = once_each(vec![cell as u32, 0]);
                more.contributors.push(Agent { id: u64::MAX, cells, without: None, ..newcomer });
            }
            _ if more.contributors.is_empty() => {}
            4 => {
                let nth = at.index(more.contributors.len());
                more.contributors[nth].decoded = true;
            }
            _ => {
                let nth = at.index(more.contributors.len());
                let member = &mut more.contributors[nth];
                member.fraction = member.fraction.max(newcomer.fraction);
                member.cells = once_each([&member.cells[..], &[cell as u32]].concat());
            }
        }
        let after = more.decide();
        for (cell, (b, a)) in before.map.iter().zip(&after.map).enumerate() {
            prop_assert!(*a >= b - SLACK, "cell {cell} fell from {b} to {a}");
        }
    }

    #[test]
    fn who_is_called_what_does_not_matter_to_the_map(situation in situation()) {
        // The contributors change their ids among themselves, and with them their order.
        let mut renamed = situation.clone();
        let ids: Vec<u64> = situation.contributors.iter().map(|agent| agent.id).collect();
        for (agent, id) in renamed.contributors.iter_mut().zip(ids.iter().rev()) {
            agent.id = *id;
        }
        renamed.contributors.reverse();
        let (before, after) = (situation.decide(), renamed.decide());
        for (b, a) in before.map.iter().zip(&after.map) {
            prop_assert!((a - b).abs() <= SLACK, "{b} and {a}");
        }
        let members = ids.len();
        for (b, a) in before.scores[..members].iter().zip(after.scores[..members].iter().rev()) {
            prop_assert!((a.score - b.score).abs() <= SLACK * situation.scale(), "{b:?} and {a:?}");
        }
    }

    #[test]
    fn scores_fall_with_the_price(situation in situation(), rise in 0.01..10.0f64) {
        let before = situation.decide();
        let mut dearer = situation.clone();
        dearer.price += rise;
        let after = dearer.decide();
        never_higher(&dearer, &before, &after)?;
        for (b, a) in before.scores.iter().zip(&after.scores) {
            prop_assert_eq!(a.value, b.value);
            prop_assert!(a.score < b.score || a.airtime == 0.0, "{b:?} and {a:?}");
        }
    }

    #[test]
    fn scores_fall_with_the_length_of_the_cycle(
        situation in situation(), more in 1..5000u32, whose in any::<Index>(), kind in 0..3u8,
    ) {
        let before = situation.decide();
        let mut longer = situation.clone();
        match kind {
            1 if !longer.contributors.is_empty() => {
                let at = whose.index(longer.contributors.len());
                longer.contributors[at].report += f64::from(more);
            }
            2 if !longer.candidates.is_empty() => {
                let at = whose.index(longer.candidates.len());
                longer.candidates[at].broadcast += f64::from(more);
            }
            _ => longer.base += f64::from(more),
        }
        never_higher(&longer, &before, &longer.decide())?;
    }

    #[test]
    fn scores_fall_with_what_the_twin_holds(situation in situation(), at in any::<Index>(), m in share()) {
        let before = situation.decide();
        let mut known = situation.clone();
        let cell = at.index(known.prior.len());
        known.prior[cell] = known.prior[cell].max(m);
        for agent in &mut known.contributors {
            if let Some(map) = &mut agent.without {
                map[cell] = map[cell].max(m);
            }
        }
        never_higher(&known, &before, &known.decide())?;
    }

    #[test]
    fn a_map_without_someone_holds_no_more_than_the_map(situation in situation()) {
        let mut situation = situation;
        for agent in &mut situation.contributors {
            agent.without = None;
        }
        situation.rules.n_max = 0;
        situation.rules.allowance = f64::MAX;
        situation.rules.t_max_s = f64::MAX;
        for _ in 0..4 {
            situation.cycle();
            for agent in &situation.contributors {
                for (without, with) in agent.without.iter().flatten().zip(&situation.prior) {
                    prop_assert!((0.0..=1.0).contains(without), "{without}");
                    prop_assert!(*without <= with + SLACK, "{without} of {with}");
                }
            }
        }
    }

    #[test]
    fn bounds_and_quota_hold_after_a_cycle(situation in situation()) {
        let rules = situation.rules;
        let Answer { decision, .. } = situation.decide();
        let mut after = situation.clone();
        after.apply(&decision);
        let sum = |agents: &[Agent]| agents.iter().map(Agent::bytes).sum::<f64>() + situation.base;
        let bytes = sum(&after.contributors);
        let (seconds, fraction) = (
            bytes / rules.rate_bytes_per_s,
            bytes / (rules.capacity_bytes_per_s * rules.cycle_s),
        );
        prop_assert!((decision.airtime_after.seconds - seconds).abs() <= SLACK);
        prop_assert!((decision.airtime_after.fraction - fraction).abs() <= SLACK);
        prop_assert!(
            after.contributors.is_empty()
                || (decision.airtime_after.fraction <= rules.allowance
                    && decision.airtime_after.seconds <= rules.t_max_s),
            "{:?} with {} contributors", decision.airtime_after, after.contributors.len()
        );
        let shed = decision.changes.iter().filter(|change| change.because != Because::Score);
        let shed = shed.count();
        if shed > 0 {
            prop_assert_eq!(shed, decision.changes.len(), "nothing else changes in that cycle");
            prop_assert!(decision.changes.iter().all(|change| change.action == Action::Remove));
            prop_assert!(
                decision.airtime.fraction > rules.allowance || decision.airtime.seconds > rules.t_max_s
            );
        } else {
            prop_assert!(decision.changes.len() <= rules.n_max as usize);
        }
    }

    #[test]
    fn at_price_0_nobody_is_removed_by_score(situation in situation()) {
        let mut situation = situation;
        situation.price = 0.0;
        situation.rules.eta_rem = situation.rules.eta_rem.min(-0.01);
        for _ in 0..5 {
            for change in situation.cycle().changes {
                prop_assert!(
                    change.action == Action::Admit || change.because != Because::Score, "{change:?}"
                );
            }
        }
    }

    #[test]
    fn like_candidates_are_admitted_by_id(situation in situation(), twin in any::<Index>()) {
        prop_assume!(!situation.candidates.is_empty());
        let mut situation = situation;
        situation.rules.n_max = 1;
        let mut copy = situation.candidates[twin.index(situation.candidates.len())].clone();
        let original = copy.id;
        copy.id = u64::MAX;
        situation.candidates.push(copy);
        let Answer { decision, scores, .. } = situation.decide();
        let score = |id: u64| scores.iter().find(|s| s.id.0 == id).map(|s| s.score);
        prop_assert_eq!(score(original), score(u64::MAX));
        prop_assert!(decision.changes.iter().all(|change| change.id.0 != u64::MAX || change.action == Action::Remove));
    }

    #[test]
    fn with_constant_inputs_the_set_comes_to_rest(mut situation in situation()) {
        // On either side of zero, as the letter's: above it, two who see the same take turns for ever.
        situation.rules.eta_rem = situation.rules.eta_rem.min(-situation.rules.eta_add);
        come_to_rest(situation).map_err(TestCaseError::fail)?;
    }
}
