//! Algorithm 1 on flat arrays.

use alloc::vec::Vec;

use super::{
    Action, AdmissionCandidate, AdmissionContributor, AdmissionProblem, Because, Binding, Change,
    Decision, Ladder, Role, Rules, Score,
};
use crate::ids::AgentId;
use crate::timeliness::Timeliness;

/// Scores closer than this, relative to the value and the price they are the difference of, differ only by rounding.
const TIE: f64 = 1e-12;

/// Decides, cycle after cycle; holds the buffers, which are reused.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// Evidence of the set as given.
    given: Evidence,
    /// Evidence of the set as changed so far.
    changed: Evidence,
    /// The map of the set as given.
    map: Vec<f64>,
    /// What every contributor, then every candidate was worth as given.
    scores: Vec<Score>,
    tables: Tables,
    members: Vec<Reporter>,
    /// Scores of the present round, candidate by candidate.
    round: Vec<Rated>,
    /// Prior of a contributor's own cells, while its leave-one-out map is written.
    own: Vec<f64>,
}

/// Coverage evidence of one cycle, without the prior.
#[derive(Debug, Clone, Default)]
struct Evidence {
    /// Sources that cover the cell for certain.
    certain: Vec<u16>,
    /// Probability that all the other sources miss it.
    miss: Vec<f64>,
    /// Probability that all sources miss it, once all were added.
    open: Vec<f64>,
}

/// What a view of each cell is worth to a candidate.
#[derive(Debug, Clone, Default)]
struct Tables {
    /// Value at the earliest completion time in question, and its change per second of completion time. Not-a-number
    /// marks a cell with a kink in that range.
    line: Vec<[f64; 2]>,
    /// The value without the timeliness factor.
    weight: Vec<f64>,
}

/// A contributor while the decision goes on.
#[derive(Debug, Clone, Copy)]
struct Reporter {
    id: AgentId,
    place: Place,
    bytes: f64,
}

/// Where a member stands in the problem.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Among the contributors.
    Given(usize),
    /// Among the candidates: admitted a moment ago.
    Admitted(usize),
}

/// A score, and how much of it may be rounding.
#[derive(Debug, Clone, Copy)]
struct Rated {
    score: f64,
    slack: f64,
}

impl Rated {
    /// Of somebody who is out of the running.
    const OUT: Self = Self {
        score: f64::NEG_INFINITY,
        slack: 0.0,
    };

    fn new(value: f64, cost: f64) -> Self {
        Self {
            score: value - cost,
            slack: TIE * (value + cost),
        }
    }

    /// Higher than `other` by more than rounding.
    fn beats(self, other: Self) -> bool {
        self.score > other.score + self.slack.max(other.slack)
    }
}

/// What is fixed during one decision.
struct Context<'a> {
    rules: &'a Rules,
    problem: &'a AdmissionProblem<'a>,
    decay: f64,
    timeliness: Timeliness,
}

impl Admission {
    /// Ready for the first cycle.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides one cycle. Afterwards [`map`](Self::map), [`scores`](Self::scores), [`ladder`](Self::ladder) and
    /// [`age_map_without`](Self::age_map_without) speak of the set as given, before any change.
    ///
    /// # Panics
    /// If a cell number is not below `prior.len()`, if `rho` or `deadline_s` is shorter than `prior`, or a `prior_without`
    /// shorter than its contributor's cells.
    pub fn decide(&mut self, rules: &Rules, problem: &AdmissionProblem<'_>) -> Decision {
        self.fuse(rules, problem);
        self.decide_fused(rules, problem)
    }

    /// The first half of [`decide`](Self::decide): brings the map up to date. Candidates do not matter yet, so a host can
    /// look at the map before it says what they would cost.
    ///
    /// # Panics
    /// As [`decide`](Self::decide).
    pub fn fuse(&mut self, rules: &Rules, problem: &AdmissionProblem<'_>) {
        let context = Context::new(rules, problem);
        self.members.clear();
        self.members.extend(context.given_members());
        context.gather(&mut self.given, &self.members);
        self.given.close();
        self.map.clear();
        // Without branches, so that it is done several cells at a time.
        let cells = problem.prior.iter().zip(&self.given.open);
        let decay = context.decay;
        self.map
            .extend(cells.map(|(&prior, &open)| 1.0 - (1.0 - decay * prior) * open));
    }

    /// The second half of [`decide`](Self::decide): scores and changes, on the map of the last [`fuse`](Self::fuse), which
    /// had the same rules and, candidates aside, the same problem.
    ///
    /// # Panics
    /// As [`decide`](Self::decide).
    pub fn decide_fused(&mut self, rules: &Rules, problem: &AdmissionProblem<'_>) -> Decision {
        let context = Context::new(rules, problem);
        self.members.clear();
        self.members.extend(context.given_members());
        let airtime = rules.airtime(context.bytes(&self.members));
        self.score_all(&context);

        let mut changes = Vec::new();
        let binding = if let Some(broken) = rules.broken(airtime) {
            self.shed(&context, &mut changes);
            match broken {
                Because::Cycle => Binding::Cycle,
                _ => Binding::Allowance,
            }
        } else {
            let binding = self.grow(&context, &mut changes);
            self.prune(&context, &mut changes);
            binding
        };
        Decision {
            airtime,
            airtime_after: rules.airtime(context.bytes(&self.members)),
            changes,
            binding,
            cut: Vec::new(),
        }
    }

    /// The map of the last decision's set as given, cell by cell: the next cycle's prior.
    #[must_use]
    pub fn map(&self) -> &[f64] {
        &self.map
    }

    /// What every contributor, then every candidate was worth in the last decision, each group by ascending id.
    #[must_use]
    pub fn scores(&self) -> &[Score] {
        &self.scores
    }

    /// The factors behind a score of the last decision, whose rules and problem these are. `at` is the place in
    /// [`scores`](Self::scores).
    #[must_use]
    pub fn ladder(&self, rules: &Rules, problem: &AdmissionProblem<'_>, at: usize) -> Ladder {
        let context = Context::new(rules, problem);
        let bytes = context
            .given_members()
            .fold(problem.broadcast_base_bytes, |sum, m| sum + m.bytes);
        let count = problem.contributors.len();
        if at < count {
            let member = Reporter {
                id: problem.contributors[at].id,
                place: Place::Given(at),
                bytes: 0.0,
            };
            let seconds = rules.airtime(bytes).seconds;
            let mut ladder = Ladder::default();
            let (cells, _, _) = context.view(&member);
            context.for_each_retained(&self.given, &member, |cell, novelty| {
                context.climb(&mut ladder, cell, novelty, seconds);
            });
            ladder.visible = cells.len() as f64;
            ladder
        } else {
            let candidate = &problem.candidates[at - count];
            let seconds = rules.airtime(bytes + candidate.bytes()).seconds;
            let mut ladder = Ladder {
                visible: candidate.cells.len() as f64,
                ..Ladder::default()
            };
            for &cell in candidate.cells {
                let cell = cell as usize;
                context.climb(&mut ladder, cell, 1.0 - self.map[cell], seconds);
            }
            ladder
        }
    }

    /// Brings the leave-one-out map of `contributor`, who was among those of the last decision, from that of the cycle
    /// before to that of the last decision: ages it and adds the evidence of all the others.
    pub fn age_map_without(
        &mut self,
        rules: &Rules,
        contributor: &AdmissionContributor<'_>,
        map: &mut [f64],
    ) {
        let decay = rules.decay();
        let Self { given, own, .. } = self;
        own.clear();
        own.extend(contributor.cells.iter().map(|&cell| map[cell as usize]));
        // As in `fuse`, several cells at a time.
        for (m, &open) in map.iter_mut().zip(&given.open) {
            *m = 1.0 - (1.0 - decay * *m) * open;
        }
        for (&cell, &prior) in contributor.cells.iter().zip(own.iter()) {
            let cell = cell as usize;
            map[cell] = 1.0 - given.novelty_without(cell, decay * prior, contributor.coverage());
        }
    }

    /// One cell of a leave-one-out map after the last decision, from its value in the cycle before: a cell that its
    /// contributor does not see. `decay` is that of the rules.
    pub(crate) fn aged(&self, decay: f64, cell: u32, prior: f64) -> f64 {
        1.0 - (1.0 - decay * prior) * self.given.open[cell as usize]
    }

    /// As [`aged`](Self::aged), for a cell that its contributor covers with `coverage`.
    pub(crate) fn aged_without(&self, decay: f64, cell: u32, prior: f64, coverage: f64) -> f64 {
        let novelty = self
            .given
            .novelty_without(cell as usize, decay * prior, coverage);
        1.0 - novelty
    }

    /// Scores of the set as given.
    fn score_all(&mut self, context: &Context<'_>) {
        let seconds = context.rules.airtime(context.bytes(&self.members)).seconds;
        self.scores.clear();
        for member in &self.members {
            let value = context.retention_value(&self.given, member, seconds);
            self.scores
                .push(context.score(member.id, Role::Contributor, value, member.bytes));
        }
        let Self {
            given,
            tables,
            members,
            scores,
            ..
        } = self;
        context.value_candidates(given, members, tables, |candidate, value| {
            scores.push(context.score(candidate.id, Role::Candidate, value, candidate.bytes()));
        });
    }

    /// Step (a): sheds the lowest contributor until both bounds hold or none is left.
    fn shed(&mut self, context: &Context<'_>, changes: &mut Vec<Change>) {
        self.changed.clone_from(&self.given);
        while let Some(because) = context
            .rules
            .broken(context.rules.airtime(context.bytes(&self.members)))
        {
            let Some((at, score)) = self.lowest(context) else {
                return;
            };
            self.remove(context, at, score, because, changes);
        }
    }

    /// Step (b): admits the best that fit, and says what kept the set from growing further.
    fn grow(&mut self, context: &Context<'_>, changes: &mut Vec<Change>) -> Binding {
        let rules = context.rules;
        let contributors = context.problem.contributors.len();
        self.round.clear();
        self.round.extend(
            self.scores[contributors..]
                .iter()
                .map(|s| Rated::new(s.value, context.problem.price * s.airtime)),
        );
        self.changed.clone_from(&self.given);
        let mut admitted = 0;
        loop {
            let bytes = context.bytes(&self.members);
            let mut best: Option<(usize, Rated)> = None;
            let mut blocked = None;
            for (at, candidate) in context.problem.candidates.iter().enumerate() {
                let rated = self.round[at];
                let worthy = rated.score >= rules.eta_add;
                if !worthy || best.is_some_and(|(_, top)| !rated.beats(top)) {
                    continue;
                }
                match rules.broken(rules.airtime(bytes + candidate.bytes())) {
                    None => best = Some((at, rated)),
                    Some(because) => blocked = blocked.or(Some(because)),
                }
            }
            let Some((at, rated)) = best else {
                return match blocked {
                    Some(Because::Cycle) => Binding::Cycle,
                    Some(_) => Binding::Allowance,
                    None => self.unworthy(context),
                };
            };
            if admitted == rules.n_max {
                return Binding::Quota;
            }
            admitted += 1;
            let candidate = &context.problem.candidates[at];
            changes.push(Change {
                action: Action::Admit,
                id: candidate.id,
                because: Because::Score,
                score: rated.score,
            });
            self.members.push(Reporter {
                id: candidate.id,
                place: Place::Admitted(at),
                bytes: candidate.bytes(),
            });
            self.members.sort_unstable_by_key(|m| m.id);
            self.changed
                .add(candidate.cells, candidate.decoded_fraction);
            if admitted == rules.n_max {
                // Who would have been next is asked of the scores at hand; no need to score everybody anew.
                self.round[at] = Rated::OUT;
            } else {
                self.rescore(context);
            }
        }
    }

    /// Why nobody is worth a place: the price, the value, or nobody is there.
    fn unworthy(&self, context: &Context<'_>) -> Binding {
        let candidates = &self.scores[context.problem.contributors.len()..];
        let mut waiting = candidates
            .iter()
            .zip(&self.round)
            .filter(|(_, rated)| rated.score != f64::NEG_INFINITY)
            .peekable();
        if waiting.peek().is_none() {
            Binding::Nothing
        } else if waiting.any(|(s, _)| s.value >= context.rules.eta_add) {
            Binding::Price
        } else {
            Binding::Value
        }
    }

    /// Scores of the candidates against the set as changed so far; the admitted ones drop out.
    fn rescore(&mut self, context: &Context<'_>) {
        let price = context.problem.price;
        let Self {
            changed,
            tables,
            members,
            round,
            ..
        } = self;
        round.clear();
        context.value_candidates(changed, members, tables, |candidate, value| {
            let cost = price * context.rules.airtime_units(candidate.bytes());
            round.push(Rated::new(value, cost));
        });
        for member in members {
            if let Place::Admitted(at) = member.place {
                round[at] = Rated::OUT;
            }
        }
    }

    /// Step (c): removes who is no longer worth a place, within what is left of the quota.
    fn prune(&mut self, context: &Context<'_>, changes: &mut Vec<Change>) {
        while (changes.len() as u64) < u64::from(context.rules.n_max) {
            match self.lowest(context) {
                Some((at, score)) if score <= context.rules.eta_rem => {
                    self.remove(context, at, score, Because::Score, changes);
                }
                _ => return,
            }
        }
    }

    /// The member with the lowest retention score in the set as changed so far.
    fn lowest(&self, context: &Context<'_>) -> Option<(usize, f64)> {
        let seconds = context.rules.airtime(context.bytes(&self.members)).seconds;
        let mut lowest: Option<(usize, Rated)> = None;
        for (at, member) in self.members.iter().enumerate() {
            let value = context.retention_value(&self.changed, member, seconds);
            let cost = context.problem.price * context.rules.airtime_units(member.bytes);
            let rated = Rated::new(value, cost);
            if lowest.is_none_or(|(_, low)| low.beats(rated)) {
                lowest = Some((at, rated));
            }
        }
        lowest.map(|(at, rated)| (at, rated.score))
    }

    fn remove(
        &mut self,
        context: &Context<'_>,
        at: usize,
        score: f64,
        because: Because,
        changes: &mut Vec<Change>,
    ) {
        let member = self.members.remove(at);
        changes.push(Change {
            action: Action::Remove,
            id: member.id,
            because,
            score,
        });
        context.gather(&mut self.changed, &self.members);
    }
}

impl AdmissionCandidate<'_> {
    fn bytes(&self) -> f64 {
        self.report_bytes + self.broadcast_bytes
    }
}

impl<'a> Context<'a> {
    fn new(rules: &'a Rules, problem: &'a AdmissionProblem<'a>) -> Self {
        Self {
            rules,
            problem,
            decay: rules.decay(),
            timeliness: Timeliness::new(rules.cycle_s, problem.broadcast_delivery),
        }
    }

    /// The contributors as given.
    fn given_members(&self) -> impl Iterator<Item = Reporter> + use<'a> {
        let contributors = self.problem.contributors;
        contributors.iter().enumerate().map(|(at, c)| Reporter {
            id: c.id,
            place: Place::Given(at),
            bytes: c.report_bytes + c.broadcast_bytes,
        })
    }

    /// B(D).
    fn bytes(&self, members: &[Reporter]) -> f64 {
        members
            .iter()
            .fold(self.problem.broadcast_base_bytes, |sum, m| sum + m.bytes)
    }

    /// The cells of a member, how far they count as covered by it, and their prior in the map without it.
    fn view(&self, member: &Reporter) -> (&'a [u32], f64, Option<&'a [f64]>) {
        match member.place {
            Place::Given(at) => {
                let c = &self.problem.contributors[at];
                (c.cells, c.coverage(), c.prior_without)
            }
            Place::Admitted(at) => {
                let c = &self.problem.candidates[at];
                (c.cells, c.decoded_fraction, None)
            }
        }
    }

    /// Collects the evidence of the host, of what was overheard and of `members`.
    fn gather(&self, evidence: &mut Evidence, members: &[Reporter]) {
        evidence.reset(self.problem.prior.len());
        evidence.add(self.problem.host_cells, 1.0);
        evidence.add(self.problem.overheard, 1.0);
        for member in members {
            let (cells, c, _) = self.view(member);
            evidence.add(cells, c);
        }
    }

    fn score(&self, id: AgentId, role: Role, value: f64, bytes: f64) -> Score {
        let airtime = self.rules.airtime_units(bytes);
        Score {
            id,
            role,
            value,
            airtime,
            score: value - self.problem.price * airtime,
        }
    }

    /// Calls `visit` with each cell of a member and its novelty in the map without that member.
    fn for_each_retained(
        &self,
        evidence: &Evidence,
        member: &Reporter,
        mut visit: impl FnMut(usize, f64),
    ) {
        let (cells, c, without) = self.view(member);
        for (at, &cell) in cells.iter().enumerate() {
            let cell = cell as usize;
            let prior = without.map_or(self.problem.prior[cell], |without| without[at]);
            visit(cell, evidence.novelty_without(cell, self.decay * prior, c));
        }
    }

    /// What keeping a member is worth.
    fn retention_value(&self, evidence: &Evidence, member: &Reporter, completion_s: f64) -> f64 {
        let factors = self.rules.factors;
        let mut sum = 0.0;
        self.for_each_retained(evidence, member, |cell, novelty| {
            let mut value = if factors.novelty { novelty } else { 1.0 };
            if factors.risk {
                value *= self.problem.rho[cell];
            }
            if factors.timeliness && value != 0.0 {
                value *= self
                    .timeliness
                    .probability(self.problem.deadline_s[cell], completion_s);
            }
            sum += value;
        });
        sum
    }

    /// Adds one cell to a ladder of factors.
    fn climb(&self, ladder: &mut Ladder, cell: usize, novelty: f64, completion_s: f64) {
        let rho = self.problem.rho[cell];
        let deadline_s = self.problem.deadline_s[cell];
        ladder.novel += novelty;
        ladder.at_risk += novelty * rho;
        ladder.in_time += novelty * rho * self.timeliness.probability(deadline_s, completion_s);
    }

    /// Calls `found` with each candidate, in order, and its value against `evidence`.
    fn value_candidates(
        &self,
        evidence: &Evidence,
        members: &[Reporter],
        tables: &mut Tables,
        mut found: impl FnMut(&AdmissionCandidate<'_>, f64),
    ) {
        let candidates = self.problem.candidates;
        let bytes = self.bytes(members);
        let seconds = |candidate: &AdmissionCandidate<'_>| {
            self.rules.airtime(bytes + candidate.bytes()).seconds
        };
        let (from_s, to_s) = candidates
            .iter()
            .map(seconds)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), s| {
                (from.min(s), to.max(s))
            });
        self.tabulate(evidence, from_s, to_s, tables);
        for candidate in candidates {
            let completion_s = seconds(candidate);
            let [at, slope] = sum_columns(candidate.cells, &tables.line);
            let mut value = at + slope * (completion_s - from_s);
            if value.is_nan() {
                value = candidate
                    .cells
                    .iter()
                    .map(|&cell| {
                        let cell = cell as usize;
                        let deadline_s = self.problem.deadline_s[cell];
                        match tables.weight[cell] {
                            0.0 => 0.0,
                            w => w * self.timeliness.probability(deadline_s, completion_s),
                        }
                    })
                    .sum();
            }
            found(candidate, value);
        }
    }

    /// What a view of each cell is worth, for completion times of `from_s..=to_s`.
    fn tabulate(&self, evidence: &Evidence, from_s: f64, to_s: f64, tables: &mut Tables) {
        let factors = self.rules.factors;
        let problem = self.problem;
        tables.weight.clear();
        let sources = evidence.certain.iter().zip(&evidence.miss);
        let cells = problem.prior.iter().zip(problem.rho).zip(sources);
        tables
            .weight
            .extend(cells.map(|((&prior, &rho), (&certain, &miss))| {
                let novelty = match (factors.novelty, certain) {
                    (false, _) => 1.0,
                    (true, 0) => (1.0 - self.decay * prior) * miss,
                    (true, _) => 0.0,
                };
                if factors.risk { novelty * rho } else { novelty }
            }));
        tables.line.clear();
        tables
            .line
            .extend(
                tables
                    .weight
                    .iter()
                    .zip(problem.deadline_s)
                    .map(|(&w, &deadline_s)| {
                        if !factors.timeliness || w == 0.0 {
                            return [w, 0.0];
                        }
                        match self.timeliness.line(deadline_s, from_s, to_s) {
                            Some(line) => [w * line.at, w * line.slope],
                            None => [f64::NAN, f64::NAN],
                        }
                    }),
            );
    }
}

/// The sums of both columns over `cells`. Four partial sums hide the latency of the additions; their order is fixed, so the
/// result is a function of the cells alone.
pub(crate) fn sum_columns(cells: &[u32], line: &[[f64; 2]]) -> [f64; 2] {
    let mut sums = [[0.0; 2]; 4];
    let chunks = cells.chunks_exact(4);
    for (sum, &cell) in sums.iter_mut().zip(chunks.remainder()) {
        *sum = line[cell as usize];
    }
    for chunk in chunks {
        for (sum, &cell) in sums.iter_mut().zip(chunk) {
            let [at, slope] = line[cell as usize];
            sum[0] += at;
            sum[1] += slope;
        }
    }
    let [a, b, c, d] = sums;
    [(a[0] + b[0]) + (c[0] + d[0]), (a[1] + b[1]) + (c[1] + d[1])]
}

impl Evidence {
    fn reset(&mut self, cells: usize) {
        self.certain.clear();
        self.certain.resize(cells, 0);
        self.miss.clear();
        self.miss.resize(cells, 1.0);
    }

    fn add(&mut self, cells: &[u32], c: f64) {
        if c >= 1.0 {
            for &cell in cells {
                let certain = &mut self.certain[cell as usize];
                *certain = certain.saturating_add(1);
            }
        } else {
            for &cell in cells {
                self.miss[cell as usize] *= 1.0 - c;
            }
        }
    }

    /// All sources were added.
    fn close(&mut self) {
        self.open.clear();
        let sources = self.certain.iter().zip(&self.miss);
        self.open
            .extend(sources.map(|(&certain, &miss)| if certain > 0 { 0.0 } else { miss }));
    }

    /// 1 - M without one of the sources, which covers the cell with `c`, given the aged prior.
    fn novelty_without(&self, cell: usize, aged: f64, c: f64) -> f64 {
        let certain = self.certain[cell];
        if c >= 1.0 {
            if certain > 1 {
                0.0
            } else {
                (1.0 - aged) * self.miss[cell]
            }
        } else if certain > 0 {
            0.0
        } else {
            (1.0 - aged) * (self.miss[cell] / (1.0 - c))
        }
    }
}
