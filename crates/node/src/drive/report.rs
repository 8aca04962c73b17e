//! How a drive went: the nodes beside the simulator.

use std::collections::{BTreeMap, BTreeSet};

use covey_simulator::SeedOutcome;
use serde::Serialize;

use super::Options;
use super::played::{Kill, Played};
use super::relay::{Heard, Kind};

/// A pause after which a host that speaks again has taken office anew, in microseconds.
const PAUSE_US: i64 = 1_000_000;
/// A cycle, in seconds.
const CYCLE_S: f64 = 0.2;

/// What the nodes did, or the simulator beside them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Side {
    /// Relevant objects not known in time, over all.
    pub deficit: Option<f64>,
    /// Relevant objects.
    pub relevant: u64,
    /// Cooperative bytes over capacity, as a participant meets it.
    pub load: Option<f64>,
    /// Hosts that took office.
    pub host_changes: u64,
    /// Broadcasts of hosts.
    pub broadcasts: u64,
    /// Reports of contributors.
    pub reports: u64,
}

/// How a partition ended.
#[derive(Debug, Clone, Serialize)]
pub struct Healing {
    /// From when, in seconds.
    pub from_s: f64,
    /// To when.
    pub to_s: f64,
    /// Hosts that spoke in it, by vehicle.
    pub hosts: Vec<u32>,
    /// How long after its end two hosts of one tile were last heard.
    pub settled_after_s: f64,
}

/// All that is reported.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// How frames travelled.
    pub network: String,
    /// The nodes.
    pub nodes: Side,
    /// The same arm in the simulator, on a channel that loses nothing.
    pub simulator: Side,
    /// Cycles in which both have the same host, over those in which either has one.
    pub same_host: Option<f64>,
    /// Pairs of cycle and reporter that both have, over those that either has; a report counts for its cycle or a neighbouring one.
    pub same_reports: Option<f64>,
    /// The longest pause between two broadcasts in the fullest tile, in seconds.
    pub longest_pause_s: f64,
    /// Hosts that were killed.
    pub kills: Vec<Kill>,
    /// Partitions.
    pub partitions: Vec<Healing>,
    /// Frames that a stranger sent to each node.
    pub flooded: u64,
    /// Cycles that nodes served, and those left out, over all nodes.
    pub cycles: u64,
    /// See `cycles`.
    pub missed_cycles: u64,
    /// Decisions more than 50 ms late.
    pub late_cycles: u64,
    /// Times that a node was asked, and did not answer in time.
    pub asked: u64,
    /// See `asked`.
    pub unanswered: u64,
    /// Steps that were told late: the machine was too busy, and figures are worth less.
    pub late_steps: u64,
    /// Steps in all.
    pub steps: u64,
    /// The most memory of a node at the end, in kilobytes, and the most that one grew since measuring began.
    pub resident_kb: u64,
    /// See `resident_kb`.
    pub grown_kb: i64,
    /// The longest that a node took to stop when asked, in seconds; none where one had to be killed.
    pub stopped_s: Option<f64>,
    /// Hosts in order: seconds, tile, vehicle.
    pub hosts: Vec<(f64, [i32; 2], u32)>,
    /// Counts of every node at the end, by vehicle.
    pub counts: BTreeMap<u32, BTreeMap<String, u64>>,
}

/// A broadcast of a node: Unix time, node, tile.
type Word = (i64, usize, [i32; 2]);

fn words(heard: &[Heard]) -> Vec<Word> {
    heard
        .iter()
        .filter_map(|heard| match heard.kind {
            Kind::Broadcast {
                tile, first: true, ..
            } => Some((heard.at_us, heard.node, tile)),
            _ => None,
        })
        .collect()
}

/// Terms of office that began: when, tile, node.
fn terms(words: &[Word]) -> Vec<Word> {
    let mut last: BTreeMap<(usize, [i32; 2]), i64> = BTreeMap::new();
    let mut terms = Vec::new();
    for &(at, node, tile) in words {
        let before = last.insert((node, tile), at);
        if before.is_none_or(|before| at - before > PAUSE_US) {
            terms.push((at, node, tile));
        }
    }
    terms
}

/// Shares of sets of (cycle, who): what both have over what either has, where neighbouring cycles count as one.
fn agreement(ours: &BTreeSet<(i64, u64)>, theirs: &BTreeSet<(i64, u64)>) -> Option<f64> {
    let near = |set: &BTreeSet<(i64, u64)>, &(cycle, who): &(i64, u64)| {
        (-1..=1).any(|by| set.contains(&(cycle + by, who)))
    };
    let both = ours.iter().filter(|one| near(theirs, one)).count()
        + theirs.iter().filter(|one| near(ours, one)).count();
    let all = ours.len() + theirs.len();
    (all > 0).then(|| both as f64 / all as f64)
}

fn cycle_of(seconds: f64) -> i64 {
    (seconds / CYCLE_S).floor() as i64
}

/// Cooperative bytes over capacity, by cycle and tile, each as often as nodes are in it.
fn load(
    heard: &[&Heard],
    played: &Played,
    first_cycle: i64,
    seconds: impl Fn(i64) -> f64,
    capacity: f64,
) -> Option<f64> {
    // A sender's tile is taken to be that in which most are in its cycle: nodes of one junction.
    let mut bytes: BTreeMap<i64, u64> = BTreeMap::new();
    for heard in heard {
        let cooperative = match &heard.kind {
            Kind::Beacon { digest } => *digest,
            Kind::Report | Kind::Broadcast { .. } => heard.bytes,
            Kind::Other => 0,
        };
        *bytes.entry(cycle_of(seconds(heard.at_us))).or_default() += cooperative as u64;
    }
    let (mut sum, mut weight) = (0.0, 0.0);
    for (number, tiles) in played.tiles.iter().enumerate() {
        let all: u64 = tiles.values().sum();
        let booked = bytes
            .get(&(first_cycle + number as i64))
            .copied()
            .unwrap_or(0);
        for &count in tiles.values() {
            let share = count as f64 / all.max(1) as f64;
            sum += booked as f64 * share / capacity * count as f64;
            weight += count as f64;
        }
    }
    (weight > 0.0).then(|| sum / weight)
}

fn healings(
    partitions: &[(f64, f64)],
    words: &[Word],
    vehicles: &[u32],
    seconds: impl Fn(i64) -> f64,
) -> Vec<Healing> {
    let healing = |&(from, to): &(f64, f64)| {
        let spoke = |word: &&Word| (from..to).contains(&seconds(word.0));
        let hosts: BTreeSet<u32> = words
            .iter()
            .filter(spoke)
            .map(|word| vehicles[word.1])
            .collect();
        let mut settled = 0.0_f64;
        // Until the halves are cut apart once more, which makes two hosts again.
        let begins = partitions.iter().map(|&(next, _)| next);
        let until = begins.filter(|&next| next >= to).fold(f64::MAX, f64::min);
        let healed = |word: &&Word| (to..until).contains(&seconds(word.0));
        let after: Vec<&Word> = words.iter().filter(healed).collect();
        for pair in after.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            // Two who speak within a cycle of each other for one tile.
            if a.1 != b.1 && a.2 == b.2 && b.0 - a.0 < 190_000 {
                settled = settled.max(seconds(b.0) - to);
            }
        }
        Healing {
            from_s: from,
            to_s: to,
            hosts: hosts.into_iter().collect(),
            settled_after_s: settled,
        }
    };
    partitions.iter().map(healing).collect()
}

/// A drive in numbers that several parts of the report are made of.
struct Window<'a> {
    begin_us: i64,
    from: f64,
    to: f64,
    vehicles: &'a [u32],
}

impl Window<'_> {
    fn seconds(&self, at_us: i64) -> f64 {
        (at_us - self.begin_us) as f64 * 1e-6
    }

    fn measured(&self, at_us: i64) -> bool {
        (self.from..self.to).contains(&self.seconds(at_us))
    }

    fn vehicle(&self, node: usize) -> u64 {
        u64::from(self.vehicles[node])
    }
}

/// Finds who followed the hosts that were killed.
fn find_followers(kills: &mut [Kill], words: &[Word], vehicles: &[u32]) {
    for kill in kills {
        let next = words.iter().find(|(at, node, tile)| {
            *at > kill.last_word_us && vehicles[*node] != kill.vehicle && *tile == kill.tile
        });
        if let Some(&(at, node, _)) = next {
            kill.next = Some(vehicles[node]);
            kill.after_s = Some((at - kill.last_word_us) as f64 * 1e-6);
        }
    }
}

fn by_cycle(list: &[(f64, u64)]) -> BTreeSet<(i64, u64)> {
    list.iter().map(|&(at, who)| (cycle_of(at), who)).collect()
}

/// What the simulator did beside the nodes.
fn simulated(outcome: &SeedOutcome, played: &Played) -> Side {
    let arm = outcome.arms.first();
    Side {
        deficit: arm.and_then(|arm| arm.deficit.ratio()),
        relevant: arm.map_or(0, |arm| arm.deficit.relevant),
        load: arm.and_then(|arm| arm.load.value()),
        host_changes: arm.map_or(0, |arm| arm.host_changes),
        broadcasts: played.simulated_broadcasts.len() as u64,
        reports: played.simulated_reports.len() as u64,
    }
}

/// Puts it together.
pub(super) fn make(
    options: &Options,
    network: &str,
    outcome: &SeedOutcome,
    mut played: Played,
    heard: &[Heard],
    vehicles: &[u32],
    (begin_us, capacity): (i64, f64),
) -> Report {
    let window = Window {
        begin_us,
        from: options.warmup_s,
        to: options.warmup_s + options.measure_s,
        vehicles,
    };
    let seconds = |at_us| window.seconds(at_us);
    let all_words = words(heard);
    let in_window = heard.iter().filter(|heard| window.measured(heard.at_us));
    let inside: Vec<&Heard> = in_window.collect();
    let said = all_words.iter().copied();
    let spoken: Vec<Word> = said.filter(|word| window.measured(word.0)).collect();
    let begun = terms(&all_words);
    find_followers(&mut played.kills, &all_words, vehicles);
    let who = |at, node| (window.seconds(at), window.vehicle(node));
    let our_hosts: Vec<(f64, u64)> = spoken.iter().map(|w| who(w.0, w.1)).collect();
    let their_words = played.simulated_broadcasts.iter();
    let their_hosts: Vec<(f64, u64)> = their_words.map(|&(at, host, _)| (at, host)).collect();
    let reports = inside.iter().filter(|heard| heard.kind == Kind::Report);
    let our_reports: Vec<(f64, u64)> = reports.map(|h| who(h.at_us, h.node)).collect();
    let first_cycle = cycle_of(window.from);
    let sum = |name: &str| {
        let counts = played.counts.values().map(|(counts, _)| counts);
        counts.filter_map(|counts| counts.get(name)).sum()
    };
    let pauses = spoken.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let grown = played
        .counts
        .values()
        .map(|(_, kb)| kb[1] as i64 - kb[0] as i64);
    Report {
        network: network.to_string(),
        nodes: Side {
            deficit: (played.relevant > 0).then(|| played.missed as f64 / played.relevant as f64),
            relevant: played.relevant,
            load: load(&inside, &played, first_cycle, seconds, capacity),
            host_changes: begun.iter().filter(|term| window.measured(term.0)).count() as u64,
            broadcasts: spoken.len() as u64,
            reports: our_reports.len() as u64,
        },
        simulator: simulated(outcome, &played),
        same_host: agreement(&by_cycle(&our_hosts), &by_cycle(&their_hosts)),
        same_reports: agreement(
            &by_cycle(&our_reports),
            &by_cycle(&played.simulated_reports),
        ),
        longest_pause_s: pauses.max().unwrap_or(0) as f64 * 1e-6,
        partitions: healings(&options.partitions, &all_words, vehicles, seconds),
        flooded: played.flooded,
        cycles: sum("cycles"),
        missed_cycles: sum("missed_cycles"),
        late_cycles: sum("late_cycles"),
        asked: played.asked,
        unanswered: played.unanswered,
        late_steps: played.late_steps,
        steps: played.steps,
        resident_kb: played
            .counts
            .values()
            .map(|(_, kb)| kb[1])
            .max()
            .unwrap_or(0),
        grown_kb: grown.max().unwrap_or(0),
        stopped_s: played.stopped_s,
        hosts: begun
            .iter()
            .map(|&(at, node, tile)| (seconds(at), tile, vehicles[node]))
            .collect(),
        counts: played
            .counts
            .into_iter()
            .map(|(v, (counts, _))| (v, counts))
            .collect(),
        kills: played.kills,
    }
}

impl Report {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let percent =
            |share: Option<f64>| share.map_or("-".to_string(), |s| format!("{:.2} %", s * 100.0));
        let mut text = format!(
            "Nodes over {}.\n\n{:<24}{:>12}{:>12}\n",
            self.network, "", "nodes", "simulator"
        );
        let mut row = |name: &str, nodes: String, simulator: String| {
            text.push_str(&format!("{name:<24}{nodes:>12}{simulator:>12}\n"));
        };
        let (n, s) = (&self.nodes, &self.simulator);
        row("deficit", percent(n.deficit), percent(s.deficit));
        row(
            "relevant objects",
            n.relevant.to_string(),
            s.relevant.to_string(),
        );
        row("load", percent(n.load), percent(s.load));
        row(
            "host changes",
            n.host_changes.to_string(),
            s.host_changes.to_string(),
        );
        row(
            "broadcasts",
            n.broadcasts.to_string(),
            s.broadcasts.to_string(),
        );
        row("reports", n.reports.to_string(), s.reports.to_string());
        text.push_str(&format!(
            "\nThe same hosts in {} of cycles, the same reporters in {}.\nLongest pause between broadcasts {:.2} s; cycles left out {} of {}, late {}.\n\
             Memory {:.1} MB, grown by {:.1} MB.\n",
            percent(self.same_host),
            percent(self.same_reports),
            self.longest_pause_s,
            self.missed_cycles,
            self.cycles,
            self.late_cycles,
            self.resident_kb as f64 / 1_024.0,
            self.grown_kb as f64 / 1_024.0,
        ));
        for kill in &self.kills {
            let after = kill.after_s.map_or("nobody followed".to_string(), |after| {
                format!(
                    "the next broadcast came {after:.2} s after its last, of {}",
                    kill.next.unwrap_or(0)
                )
            });
            text.push_str(&format!(
                "At {:.1} s host {} was killed: {after}.\n",
                kill.at_s, kill.vehicle
            ));
        }
        for part in &self.partitions {
            text.push_str(&format!(
                "Cut in two from {} to {} s: hosts {:?}; one was left {:.2} s after it was healed.\n",
                part.from_s, part.to_s, part.hosts, part.settled_after_s
            ));
        }
        if self.flooded > 0 {
            text.push_str(&format!(
                "A stranger sent {} frames to each node.\n",
                self.flooded
            ));
        }
        if self.unanswered > 0 || self.late_steps > 0 {
            text.push_str(&format!(
                "Beware: {} of {} questions were not answered in time and {} of {} steps were told late; the machine is too busy.\n",
                self.unanswered, self.asked, self.late_steps, self.steps
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_speaks_again_after_a_second_has_taken_office_anew() {
        let word = |ms: i64, node| (ms * 1_000, node, [0, 0]);
        let words = [
            word(0, 1),
            word(200, 1),
            word(400, 2),
            word(600, 2),
            word(1_500, 1),
        ];
        let begun: Vec<usize> = terms(&words).iter().map(|term| term.1).collect();
        assert_eq!(begun, [1, 2, 1]);
    }

    #[test]
    fn a_partition_is_healed_when_one_host_is_left_whatever_comes_after() {
        let word = |ms: i64, node| (ms * 1_000, node, [0, 0]);
        let words = [
            word(1_000, 0),
            word(1_001, 1),
            word(2_000, 0),
            word(2_001, 1),
            word(2_200, 0),
            word(2_400, 0),
            // Cut apart once more.
            word(5_000, 0),
            word(5_001, 1),
            word(6_000, 1),
            word(6_200, 1),
        ];
        let seconds = |at_us: i64| at_us as f64 * 1e-6;
        let healed = healings(&[(0.5, 1.9), (4.5, 5.5)], &words, &[7, 8], seconds);
        let settled: Vec<f64> = healed.iter().map(|one| one.settled_after_s).collect();
        assert!((settled[0] - 0.101).abs() < 1e-9, "{settled:?}");
        assert_eq!((settled[1], &healed[1].hosts), (0.0, &vec![7, 8]));
    }

    #[test]
    fn neighbouring_cycles_count_as_one() {
        let set = |list: &[(i64, u64)]| list.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(
            agreement(&set(&[(1, 7), (5, 7)]), &set(&[(2, 7), (5, 8)])),
            Some(0.5)
        );
        assert_eq!(agreement(&set(&[]), &set(&[])), None);
    }
}
