//! The choice itself: which reports and which repeated objects help most, within a byte budget.
//!
//! A [`DemandProblem`] says who needs what, who could tell it, and what that costs. Its value function, the expected number of
//! needs that somebody fulfils, is monotone and submodular: every pick shrinks what is still uncovered, so a pick is never
//! worth more later than now. [`Selection::choose`] takes the pick of the highest gain per byte again and again while it
//! fits (cost-benefit greedy), and evaluates lazily: a pick whose last known gain per byte is still the highest after it was
//! computed anew is the best of all, whatever the others' old figures hide.
//!
//! Ties go to candidates before objects and then to the lower number.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::grid::Position;
use crate::ids::{AgentId, ObjectId};
use crate::link::LinkQuality;

/// What there is to choose from, by the end of a cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandProblem {
    /// Bytes for the broadcast of this cycle and the reports of the next.
    pub budget_bytes: f64,
    /// Bytes spent in any case: the broadcast without entries, and withdrawals.
    pub base_bytes: f64,
    /// Bytes of a report without objects and of its entry in the contributor list.
    pub report_bytes: f64,
    /// Bytes of an object in a report or broadcast.
    pub object_bytes: f64,
    /// Bytes of an object's entry in the list of requests.
    pub requested_bytes: f64,
    /// Summed need from which contributors report an object.
    pub threshold: f64,
    /// A pick is worth at least this.
    pub least_gain: f64,
    /// Objects that beacon are reported only at the host's request; a request must be worth so many times the gain per byte
    /// of the last pick. None: contributors judge by themselves.
    pub request_factor: Option<f64>,
    /// Where the host is.
    pub host: Position,
    /// How well messages get through, by distance.
    pub links: LinkQuality,
    /// Where the listeners are.
    pub listeners: Vec<DemandListener>,
    /// The objects, by ascending id.
    pub objects: Vec<Object>,
    /// Who needs what, by object, then listener.
    pub needs: Vec<Need>,
    /// Who could report, by ascending id.
    pub candidates: Vec<DemandCandidate>,
}

/// A member of the service scope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DemandListener {
    /// Its station id; lists are in this order.
    pub id: AgentId,
    /// Where it is, or is taken to be by now.
    pub position: Position,
}

/// An object that somebody needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Object {
    /// As the host numbers it; lists are in this order.
    pub id: ObjectId,
    /// No beacon of it is heard.
    pub silent: bool,
    /// Bytes that listing it in the broadcast would add; none where the host cannot list it or need not.
    pub repeat_bytes: Option<f64>,
}

/// A listener's need of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Number of the listener.
    pub listener: u32,
    /// Number of the object.
    pub object: u32,
    /// Chance that the listener lacks it at the end of this cycle, if the broadcast does not tell it.
    pub now: f64,
    /// Chance that it lacks it at the end of the next cycle, if nobody reports it.
    pub next: f64,
}

/// Somebody who could report.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandCandidate {
    /// Its station id; lists are in this order.
    pub id: AgentId,
    /// Where it is, or is taken to be by now.
    pub position: Position,
    /// Chance that it learns that it is asked.
    pub command: f64,
    /// What asking it is worth apart from what it is known to see.
    pub bonus: f64,
    /// Bytes that its report is expected to have beyond what the host foresees of it.
    pub extra_bytes: f64,
    /// Objects by number, ascending, and the chance that it sees each.
    pub views: Vec<(u32, f64)>,
}

/// Something that can be picked, by its number in the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pick {
    /// The candidate of this number reports in the next cycle.
    Report(u32),
    /// The broadcast lists the object of this number.
    Repeat(u32),
    /// Contributors that see the object of this number report it although it beacons.
    Request(u32),
}

/// A pick with what it was worth when it was picked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Picked {
    /// The report, entry or request picked.
    pub pick: Pick,
    /// Expected number of needs fulfilled, and the bonus.
    pub gain: f64,
    /// Bytes that it is expected to add.
    pub bytes: f64,
}

/// A choice and its reasons.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selection {
    /// In the order of picking.
    pub picks: Vec<Picked>,
    /// Expected bytes of the whole: broadcast and reports.
    pub bytes: f64,
    /// Expected number of needs that stay open: at the end of this cycle, and of the next.
    pub open: [f64; 2],
    /// Something worth picking did not fit.
    pub cut: bool,
}

/// Something that can be picked, flattened: needs that it fulfils, each with a chance.
struct Item {
    pick: Pick,
    bytes: f64,
    bonus: f64,
    effects: core::ops::Range<usize>,
}

/// The whole choice, flattened.
struct Table {
    items: Vec<Item>,
    /// Need (those of now, then those of next) and chance.
    effects: Vec<(u32, f64)>,
    /// What is still uncovered, need by need.
    left: Vec<f64>,
    /// Where the needs of each object begin, and the end of the last.
    begins: Vec<usize>,
}

impl Table {
    fn new(problem: &DemandProblem, work: &mut u32) -> Self {
        let count = problem.needs.len();
        let mut left: Vec<f64> = problem.needs.iter().map(|n| n.now).collect();
        left.extend(problem.needs.iter().map(|n| n.next));
        let mut table = Self {
            items: Vec::with_capacity(problem.candidates.len() + problem.objects.len()),
            effects: Vec::new(),
            left,
            begins: problem.begins(),
        };
        let content = problem.content();
        for (k, candidate) in (0u32..).zip(&problem.candidates) {
            let begin = table.effects.len();
            let mut bytes = problem.report_bytes + candidate.extra_bytes;
            for &(object, chance) in &candidate.views {
                if content[object as usize] {
                    bytes += problem.object_bytes * chance;
                    table.add_report(problem, count, candidate, object, chance);
                }
            }
            spend(work, 4 + 4 * (table.effects.len() - begin));
            if *work == 0 {
                break;
            }
            table.items.push(Item {
                pick: Pick::Report(k),
                bytes,
                bonus: candidate.bonus,
                effects: begin..table.effects.len(),
            });
        }
        for (k, object) in (0u32..).zip(&problem.objects) {
            let Some(bytes) = object.repeat_bytes else {
                continue;
            };
            let begin = table.effects.len();
            for at in table.needs_of(k) {
                let listener = &problem.listeners[problem.needs[at].listener as usize];
                let chance = problem.links.between(problem.host, listener.position);
                table.effects.push((at as u32, chance));
            }
            table.items.push(Item {
                pick: Pick::Repeat(k),
                bytes,
                bonus: 0.0,
                effects: begin..table.effects.len(),
            });
        }
        table
    }

    /// What a report of `object` by `candidate` does for the needs of the next cycle.
    fn add_report(
        &mut self,
        problem: &DemandProblem,
        count: usize,
        candidate: &DemandCandidate,
        object: u32,
        chance: f64,
    ) {
        for at in self.needs_of(object) {
            let listener = &problem.listeners[problem.needs[at].listener as usize];
            // Nobody tells itself anything.
            if listener.id != candidate.id {
                let heard = problem.links.between(candidate.position, listener.position);
                let effect = chance * candidate.command * heard;
                self.effects.push(((count + at) as u32, effect));
            }
        }
    }

    /// Where the needs of an object lie among all.
    fn needs_of(&self, object: u32) -> core::ops::Range<usize> {
        self.begins[object as usize]..self.begins[object as usize + 1]
    }

    fn gain(&self, item: &Item) -> f64 {
        let effects = &self.effects[item.effects.clone()];
        let covered = effects
            .iter()
            .map(|&(need, chance)| self.left[need as usize] * chance);
        item.bonus + covered.sum::<f64>()
    }

    /// The objects that beacon and whose request may be worth its bytes, whoever sees them: all that is still uncovered of
    /// their needs suffices for the least gain, and for `ratio_from` a byte.
    fn worth_a_look(&self, problem: &DemandProblem, ratio_from: f64) -> Vec<bool> {
        let count = problem.needs.len();
        let worth = |(k, object): (u32, &Object)| {
            let needs = self.needs_of(k);
            let all: f64 = self.left[count + needs.start..count + needs.end]
                .iter()
                .sum();
            // Sums and quotients of rounded numbers order as those of the numbers do.
            !object.silent
                && all >= problem.least_gain
                && ratio(all, problem.requested_bytes) >= ratio_from
        };
        (0u32..).zip(&problem.objects).map(worth).collect()
    }

    fn take(&mut self, effects: core::ops::Range<usize>) {
        for &(need, chance) in &self.effects[effects] {
            self.left[need as usize] *= 1.0 - chance;
        }
    }
}

/// An item in the queue, by its gain per byte as last computed.
#[derive(PartialEq)]
struct Queued {
    ratio: f64,
    gain: f64,
    item: usize,
    /// How many picks had been made when it was computed.
    round: usize,
}

impl Eq for Queued {}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ratio
            .total_cmp(&other.ratio)
            .then(other.item.cmp(&self.item))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl DemandProblem {
    /// Where the needs of each object begin in `needs`, and the end of the last.
    fn begins(&self) -> Vec<usize> {
        let mut begins = alloc::vec![0; self.objects.len() + 1];
        for need in &self.needs {
            begins[need.object as usize + 1] += 1;
        }
        for at in 1..begins.len() {
            begins[at] += begins[at - 1];
        }
        begins
    }

    /// Appends the views of a candidate of objects that are worth a look.
    fn told_views(&self, candidate: u32, worth: &[bool], views: &mut Vec<(u32, f64)>) {
        let all = self.candidates[candidate as usize].views.iter();
        views.extend(all.filter(|(object, _)| worth[*object as usize]));
    }

    /// Whether contributors that see an object are taken to report it without being asked for it, by its number.
    pub(crate) fn content(&self) -> Vec<bool> {
        let mut wanted = alloc::vec![0.0; self.objects.len()];
        for need in &self.needs {
            wanted[need.object as usize] += need.next;
        }
        let judged = |object: &Object| object.silent || self.request_factor.is_none();
        let objects = self.objects.iter().zip(wanted);
        objects
            .map(|(object, wanted)| wanted >= self.threshold && judged(object))
            .collect()
    }
}

fn spend(work: &mut u32, steps: usize) {
    *work = work.saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX));
}

/// Gain per byte, so that what costs nothing comes first.
fn ratio(gain: f64, bytes: f64) -> f64 {
    gain / bytes.max(1e-9)
}

impl Selection {
    /// Chooses by gain per byte.
    #[must_use]
    pub fn choose(problem: &DemandProblem) -> Self {
        Self::choose_within(problem, u32::MAX)
    }

    /// The same in so many steps of work; it goes with what was picked until then.
    #[must_use]
    pub fn choose_within(problem: &DemandProblem, work: u32) -> Self {
        Self::choose_looking(problem, work, |candidate, worth, views, _| {
            problem.told_views(candidate, worth, views);
        })
    }

    /// The same where candidates have only the views of objects that are [reported unasked](DemandProblem::content). `look`
    /// appends those of objects that beacon, by the number of the candidate: only those of who is picked are asked for, and of
    /// objects only those that it is told are worth a look. It takes its steps of work off what it is given.
    pub(crate) fn choose_looking(
        problem: &DemandProblem,
        mut work: u32,
        look: impl FnMut(u32, &[bool], &mut Vec<(u32, f64)>, &mut u32),
    ) -> Self {
        let work = &mut work;
        let mut table = Table::new(problem, work);
        let mut chosen = Self {
            bytes: problem.base_bytes,
            ..Self::default()
        };
        let mut queue: BinaryHeap<Queued> = (0..table.items.len())
            .map(|item| {
                let gain = table.gain(&table.items[item]);
                Queued {
                    ratio: ratio(gain, table.items[item].bytes),
                    gain,
                    item,
                    round: 0,
                }
            })
            .collect();
        let mut last_ratio = 0.0;
        while let Some(best) = queue.pop() {
            let item = &table.items[best.item];
            if *work == 0 {
                chosen.cut |= best.gain >= problem.least_gain;
                break;
            }
            if chosen.bytes + item.bytes > problem.budget_bytes {
                // What is left only shrinks: it will not fit later either.
                chosen.cut |= best.gain >= problem.least_gain;
                continue;
            }
            if best.round < chosen.picks.len() {
                spend(work, 8 + item.effects.len());
                let gain = table.gain(item);
                queue.push(Queued {
                    ratio: ratio(gain, item.bytes),
                    gain,
                    item: best.item,
                    round: chosen.picks.len(),
                });
                continue;
            }
            if best.gain < problem.least_gain {
                continue;
            }
            last_ratio = best.ratio;
            chosen.push(item.pick, best.gain, item.bytes);
            table.take(item.effects.clone());
        }
        chosen.request(problem, &mut table, last_ratio, work, look);
        chosen.close(problem, &table);
        chosen
    }

    /// Replaces the reports of [`choose`](Self::choose) by others in the order of `rank`, lowest first, within the bytes that
    /// its reports took; what the broadcast repeats stays.
    #[must_use]
    pub fn choose_at_random(problem: &DemandProblem, rank: impl Fn(AgentId) -> u64) -> Self {
        Self::choose_at_random_looking(problem, rank, |candidate, worth, views, _| {
            problem.told_views(candidate, worth, views);
        })
    }

    /// The same, looking as [`choose_looking`](Self::choose_looking) does.
    pub(crate) fn choose_at_random_looking(
        problem: &DemandProblem,
        rank: impl Fn(AgentId) -> u64,
        mut look: impl FnMut(u32, &[bool], &mut Vec<(u32, f64)>, &mut u32),
    ) -> Self {
        let planned = Self::choose_looking(problem, u32::MAX, &mut look);
        let mut endless = u32::MAX;
        let work = &mut endless;
        let mut table = Table::new(problem, work);
        let mut chosen = Self {
            bytes: problem.base_bytes,
            cut: planned.cut,
            ..Self::default()
        };
        let mut share = 0.0;
        for picked in &planned.picks {
            match picked.pick {
                Pick::Report(_) => share += picked.bytes,
                Pick::Repeat(_) => chosen.take(&mut table, picked.pick),
                Pick::Request(_) => {}
            }
        }
        let mut order: Vec<(u64, u32)> = (0u32..)
            .zip(&problem.candidates)
            .map(|(k, candidate)| (rank(candidate.id), k))
            .collect();
        order.sort_unstable();
        for (_, k) in order {
            let bytes = table.items[k as usize].bytes;
            if bytes <= share {
                share -= bytes;
                chosen.take(&mut table, Pick::Report(k));
            }
        }
        chosen.request(problem, &mut table, 0.0, work, look);
        chosen.close(problem, &table);
        chosen
    }

    /// Takes a pick whatever it is worth.
    fn take(&mut self, table: &mut Table, pick: Pick) {
        if let Some(item) = table.items.iter().find(|item| item.pick == pick) {
            let (gain, bytes, effects) = (table.gain(item), item.bytes, item.effects.clone());
            self.push(pick, gain, bytes);
            table.take(effects);
        }
    }

    fn push(&mut self, pick: Pick, gain: f64, bytes: f64) {
        self.picks.push(Picked { pick, gain, bytes });
        self.bytes += bytes;
    }

    /// Asks for objects that beacon, of those who report anyway, where that is worth much more than the last pick.
    fn request(
        &mut self,
        problem: &DemandProblem,
        table: &mut Table,
        last_ratio: f64,
        work: &mut u32,
        mut look: impl FnMut(u32, &[bool], &mut Vec<(u32, f64)>, &mut u32),
    ) {
        let Some(factor) = problem.request_factor else {
            return;
        };
        let count = problem.needs.len();
        let mut reporters: Vec<u32> = self
            .picks
            .iter()
            .filter_map(|picked| match picked.pick {
                Pick::Report(k) => Some(k),
                _ => None,
            })
            .collect();
        reporters.sort_unstable();
        let worth = table.worth_a_look(problem, factor * last_ratio);
        if !worth.contains(&true) {
            return;
        }
        // Who sees what that beacons, by object, then reporter.
        let mut views: Vec<(u32, u32, f64)> = Vec::new();
        let mut seen = Vec::new();
        for &reporter in &reporters {
            seen.clear();
            look(reporter, &worth, &mut seen, work);
            views.extend(
                seen.iter()
                    .map(|&(object, chance)| (object, reporter, chance)),
            );
        }
        views.sort_by_key(|&(object, reporter, _)| (object, reporter));
        let mut offers = Vec::new();
        for views in views.chunk_by(|a, b| a.0 == b.0) {
            let k = views[0].0;
            let begin = table.effects.len();
            let mut bytes = problem.requested_bytes;
            for &(_, reporter, chance) in views {
                let candidate = &problem.candidates[reporter as usize];
                bytes += problem.object_bytes * chance;
                table.add_report(problem, count, candidate, k, chance);
            }
            let effects = begin..table.effects.len();
            spend(work, effects.len() * (1 + table.needs_of(k).len() / 4));
            if *work == 0 {
                break;
            }
            // One need may be fulfilled by several reporters: what is left is the product.
            let mut gain = 0.0;
            for at in table.needs_of(k) {
                let need = (count + at) as u32;
                let of_need = table.effects[effects.clone()]
                    .iter()
                    .filter(|e| e.0 == need);
                let lost: f64 = of_need.map(|e| 1.0 - e.1).product();
                gain += table.left[need as usize] * (1.0 - lost);
            }
            if gain >= problem.least_gain {
                offers.push((ratio(gain, bytes), gain, bytes, k, effects));
            }
        }
        // Needs of different objects have nothing to do with each other: no gain changes with another's pick.
        offers.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.3.cmp(&b.3)));
        for (ratio, gain, bytes, k, effects) in offers {
            if ratio < factor * last_ratio {
                break;
            }
            if self.bytes + bytes > problem.budget_bytes {
                self.cut = true;
                continue;
            }
            self.push(Pick::Request(k), gain, bytes);
            table.take(effects);
        }
    }

    fn close(&mut self, problem: &DemandProblem, table: &Table) {
        let (now, next) = table.left.split_at(problem.needs.len());
        self.open = [now.iter().sum(), next.iter().sum()];
    }

    /// The candidates that report, by ascending number.
    #[must_use]
    pub fn reports(&self) -> Vec<u32> {
        self.numbers(|pick| match pick {
            Pick::Report(k) => Some(k),
            _ => None,
        })
    }

    /// The objects that the broadcast lists, by ascending number.
    #[must_use]
    pub fn repeats(&self) -> Vec<u32> {
        self.numbers(|pick| match pick {
            Pick::Repeat(k) => Some(k),
            _ => None,
        })
    }

    /// The objects that are asked for, by ascending number.
    #[must_use]
    pub fn requests(&self) -> Vec<u32> {
        self.numbers(|pick| match pick {
            Pick::Request(k) => Some(k),
            _ => None,
        })
    }

    fn numbers(&self, of: impl Fn(Pick) -> Option<u32>) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.picks.iter().filter_map(|p| of(p.pick)).collect();
        numbers.sort_unstable();
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(key: u64) -> f64 {
        (AgentId(key).mixed() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A problem of forty objects and thirty candidates, all made from `seed`.
    fn problem(seed: u64, request_factor: Option<f64>) -> DemandProblem {
        let unit = |k: u64| unit(seed << 32 | k);
        let place = |k: u64| Position::new(400.0 * unit(k), 20.0 * unit(k + 1_000));
        let listeners: Vec<DemandListener> = (0..30)
            .map(|k| DemandListener {
                id: AgentId(k),
                position: place(k),
            })
            .collect();
        let needs = (0..40 * 30)
            .filter(|&k| unit(k + 2_000) < 0.1)
            .map(|k| Need {
                listener: (k % 30) as u32,
                object: (k / 30) as u32,
                now: unit(k + 4_000),
                next: unit(k + 6_000),
            });
        let views = |candidate: u64| {
            (0..40)
                .filter(|&o| unit(40 * candidate + o + 10_000) < 0.4)
                .map(|o| (o as u32, unit(40 * candidate + o + 12_000)))
                .collect()
        };
        DemandProblem {
            budget_bytes: 500.0 + 4_000.0 * unit(9_001),
            base_bytes: 121.0,
            report_bytes: 160.0,
            object_bytes: 35.0,
            requested_bytes: 3.0,
            threshold: 0.5 + unit(9_002),
            least_gain: 0.1,
            request_factor,
            host: Position::new(200.0, 10.0),
            links: LinkQuality::fixed(&[0.95, 0.8, 0.6, 0.3]),
            needs: needs.collect(),
            objects: (0..40)
                .map(|k| Object {
                    id: ObjectId(k),
                    silent: k % 3 == 0,
                    repeat_bytes: (k % 4 > 0).then_some(35.0),
                })
                .collect(),
            candidates: (0..30)
                .map(|k| DemandCandidate {
                    id: AgentId(k),
                    position: listeners[k as usize].position,
                    command: 0.5 + 0.5 * unit(k + 9_100),
                    bonus: 0.2 * unit(k + 9_200),
                    extra_bytes: 20.0 * unit(k + 9_300),
                    views: views(k),
                })
                .collect(),
            listeners,
        }
    }

    #[test]
    fn views_that_the_choice_has_no_use_for_change_nothing() {
        let mut requests = 0;
        for seed in 0..60 {
            let factor = [None, Some(0.0), Some(1.0)][seed as usize % 3];
            let whole = problem(seed, factor);
            let content = whole.content();
            let mut short = whole.clone();
            for candidate in &mut short.candidates {
                candidate.views.retain(|&(o, _)| content[o as usize]);
            }
            assert_ne!(short, whole);
            let mut asked = Vec::new();
            // All that beacons, whether it is said to be worth a look or not.
            let all = |candidate: u32, views: &mut Vec<(u32, f64)>| {
                let told = whole.objects.iter().map(|object| !object.silent);
                whole.told_views(candidate, &told.collect::<Vec<_>>(), views);
            };
            let chosen = Selection::choose_looking(&short, u32::MAX, |candidate, _, views, _| {
                asked.push(candidate);
                all(candidate, views);
            });
            assert_eq!(chosen, Selection::choose(&whole), "{seed}");
            if !chosen.requests().is_empty() {
                assert_eq!(
                    asked,
                    chosen.reports(),
                    "only those who are picked are looked at"
                );
            }
            requests += chosen.requests().len();
            let rank = |agent: AgentId| AgentId(agent.0 ^ seed).mixed();
            let at_random =
                Selection::choose_at_random_looking(&short, rank, |candidate, _, views, _| {
                    all(candidate, views);
                });
            assert_eq!(
                at_random,
                Selection::choose_at_random(&whole, rank),
                "{seed}"
            );
        }
        assert!(requests > 20, "{requests}");
    }
}
