//! Budgeted maximum coverage with exploration, after C-MASS (arXiv 2407.00412).
//!
//! Scheduling of sensing vehicles as budgeted maximum coverage of objects that the receiver does not have, by the hybrid greedy
//! algorithm, where what a vehicle sees is known from when it was last asked, and the longer that is ago the more asking it
//! anew is hoped to give. The second order of its topology (what two vehicles detect only by joining raw data) has no
//! counterpart here: reports carry objects. It asks for ordinary reports, keeps the hard bounds of the letter's decision,
//! chooses the whole set anew every cycle, and needs no digest.

use std::collections::{BTreeMap, BTreeSet};

use covey_protocol::admission::{Admission, Binding};
use covey_protocol::policy::{Hints, Plan, Policy, Reporters, View};
use covey_protocol::{AgentId, Instant, ObjectId};

use super::choices::{Choice, options_of};

/// What is remembered of a vehicle.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// What it saw when it last reported.
    saw: Vec<ObjectId>,
    /// When that was; none where it has not reported yet.
    at: Option<Instant>,
    /// When it was last asked.
    asked: Option<Instant>,
}

/// Budgeted maximum coverage with exploration.
#[derive(Debug, Clone, Default)]
pub(crate) struct MaximumCoverage {
    seen: BTreeMap<AgentId, Seen>,
}

/// Weight of exploration, in objects: what somebody unexplored for [`MEMORY_S`] is hoped to add.
const EXPLORATION: f64 = 2.0;
/// What was seen longer ago than this, in seconds, no longer counts.
const MEMORY_S: f64 = 2.0;

/// What choosing somebody may give.
struct Prospect<'a> {
    choice: Choice,
    /// Objects that it is known to see.
    saw: &'a [ObjectId],
    /// For what is not known of it.
    exploration: f64,
}

impl Prospect<'_> {
    fn value(&self, covered: &BTreeSet<ObjectId>) -> f64 {
        let new = self.saw.iter().filter(|o| !covered.contains(o)).count();
        new as f64 + self.exploration
    }
}

/// Budgeted maximum coverage: the best per byte while it fits, or the best single one where that covers more (the hybrid
/// greedy algorithm, which has a worst-case guarantee). Places in `prospects`, in the order of choosing.
fn cover(
    prospects: &[Prospect<'_>],
    known: &BTreeSet<ObjectId>,
    fits: impl Fn(f64) -> bool,
) -> Vec<usize> {
    let mut covered = known.clone();
    let mut left: Vec<usize> = (0..prospects.len()).collect();
    let (mut chosen, mut bytes, mut total) = (Vec::new(), 0.0, 0.0);
    while !left.is_empty() {
        let mut best: Option<(f64, f64, usize)> = None;
        for (place, &k) in left.iter().enumerate() {
            let value = prospects[k].value(&covered);
            let ratio = value / prospects[k].choice.bytes.max(1.0);
            if best.is_none_or(|(most, ..)| ratio > most) {
                best = Some((ratio, value, place));
            }
        }
        let Some((_, value, place)) = best else { break };
        let k = left.remove(place);
        if value > 0.0 && fits(bytes + prospects[k].choice.bytes) {
            bytes += prospects[k].choice.bytes;
            total += value;
            covered.extend(prospects[k].saw.iter().copied());
            chosen.push(k);
        }
    }
    let single = (0..prospects.len())
        .filter(|&k| fits(prospects[k].choice.bytes))
        .map(|k| (prospects[k].value(known), k))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    match single {
        Some((value, k)) if value > total => vec![k],
        _ => chosen,
    }
}

impl Policy for MaximumCoverage {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        for report in view.reports {
            let seen = self.seen.entry(report.sender).or_default();
            if seen.at.is_none_or(|at| report.at > at) {
                seen.at = Some(report.at);
                seen.saw = report.objects.to_vec();
            }
        }
        self.seen
            .retain(|id, _| view.scope.binary_search_by_key(id, |s| s.id).is_ok());
        let (members, others) = options_of(view, |_| 0);
        // What speaks for itself, or the receiver sees itself, needs nobody's report.
        let known: BTreeSet<ObjectId> = view
            .objects
            .iter()
            .filter(|object| object.announced || object.direct)
            .map(|object| object.state.id)
            .collect();
        let unknown = Seen::default();
        let age_s = |at: Option<Instant>| at.map_or(MEMORY_S, |at| view.now.since(at).seconds());
        let prospects: Vec<Prospect<'_>> = members
            .into_iter()
            .chain(others)
            .map(|choice| {
                let seen = self.seen.get(&choice.id).unwrap_or(&unknown);
                let fresh = age_s(seen.at) < MEMORY_S;
                // What is known of it grows uncertain, and is nothing after a while; whoever was asked in vain waits.
                let unexplored = (age_s(seen.at.max(seen.asked)) / MEMORY_S).clamp(0.0, 1.0);
                Prospect {
                    choice,
                    saw: if fresh { &seen.saw } else { &[] },
                    exploration: EXPLORATION * unexplored.sqrt(),
                }
            })
            .collect();
        let base = view.problem.broadcast_base_bytes;
        let fits = |bytes: f64| {
            view.rules
                .broken(view.rules.airtime(base + bytes))
                .is_none()
        };
        let places = cover(&prospects, &known, fits);
        let chosen: Vec<Choice> = places.iter().map(|&k| prospects[k].choice).collect();
        for choice in &chosen {
            self.seen.entry(choice.id).or_default().asked = Some(view.now);
        }
        let ids = chosen.iter().map(|choice| choice.id).collect();
        Plan::new(Reporters::Ranking(ids), Binding::Allowance, view.parameters)
    }

    fn hints(&self) -> Hints {
        Hints::COSTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prospect(id: u64, bytes: f64, saw: &[ObjectId], exploration: f64) -> Prospect<'_> {
        Prospect {
            choice: Choice {
                id: AgentId(id),
                bytes,
                draw: 0,
            },
            saw,
            exploration,
        }
    }

    #[test]
    fn what_is_covered_counts_once_and_what_is_known_not_at_all() {
        let ids: Vec<ObjectId> = (0..6).map(ObjectId).collect();
        let prospects = [
            prospect(1, 100.0, &ids[..3], 0.0),
            prospect(2, 100.0, &ids[1..3], 0.0),
            prospect(3, 100.0, &ids[3..5], 0.0),
            prospect(4, 100.0, &ids[5..], 0.0),
        ];
        let known = BTreeSet::from([ids[5]]);
        assert_eq!(cover(&prospects, &known, |bytes| bytes <= 400.0), [0, 2]);
        assert_eq!(cover(&prospects, &known, |bytes| bytes <= 150.0), [0]);
        assert!(cover(&prospects, &known, |_| false).is_empty());
    }

    #[test]
    fn one_that_covers_more_than_all_cheap_ones_is_taken_instead() {
        let ids: Vec<ObjectId> = (0..9).map(ObjectId).collect();
        let prospects = [
            prospect(1, 10.0, &ids[..1], 0.0),
            prospect(2, 100.0, &ids[1..], 0.0),
        ];
        // 0.1 a byte against 0.08: greedy alone would leave no room for the better one.
        let chosen = cover(&prospects, &BTreeSet::new(), |bytes| bytes <= 100.0);
        assert_eq!(chosen, [1]);
    }

    #[test]
    fn the_unexplored_are_asked_before_those_who_see_nothing_new() {
        let ids = [ObjectId(1)];
        let prospects = [
            prospect(1, 100.0, &ids, 0.1),
            prospect(2, 100.0, &[], EXPLORATION),
        ];
        let chosen = cover(&prospects, &BTreeSet::from(ids), |bytes| bytes <= 100.0);
        assert_eq!(chosen, [1]);
    }
}
