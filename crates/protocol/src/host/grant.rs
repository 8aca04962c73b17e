//! What a host grants of a plan: its bounds hold, whatever a policy asks for.
//!
//! - Scope: only contributors and candidates of the decision.
//! - Quota: at most `n_max` admissions. Nobody is kept who is not wanted.
//! - Allowance and cycle: the airtime of the set, by what the host knows of everyone's cost, never by what the policy says.

use alloc::vec::Vec;

use crate::admission::{Action, Because, Binding, Change, Cut, Decision, Rules};
use crate::ids::AgentId;
use crate::policy::Reporters;

/// What the host goes by.
pub(super) struct Bounds<'a, F> {
    pub(super) rules: &'a Rules,
    /// Bytes of the broadcast without contributors.
    pub(super) base_bytes: f64,
    /// The contributors, by ascending id.
    pub(super) present: &'a [AgentId],
    /// Bytes of an agent's report and of what it adds to the broadcast; none for who is not in scope.
    pub(super) cost: F,
}

/// The set that is granted so far.
#[derive(Default)]
struct Granted {
    /// By ascending id, with their bytes.
    set: Vec<(AgentId, f64)>,
    changes: Vec<Change>,
    cut: Vec<Cut>,
    admitted: u32,
}

impl<F: Fn(AgentId) -> Option<f64>> Bounds<'_, F> {
    /// What is granted, by ascending id, and the decision that it comes to. `binding` is what bound the policy.
    pub(super) fn grant(&self, reporters: Reporters, binding: Binding) -> (Vec<AgentId>, Decision) {
        let present = self.present.iter();
        let priced = present.map(|&id| (id, (self.cost)(id).unwrap_or(0.0)));
        let mut granted = Granted {
            set: priced.collect(),
            ..Granted::default()
        };
        let airtime = self.rules.airtime(self.bytes(&granted.set));
        let bytes = match reporters {
            Reporters::Changes(changes) => self.change(&mut granted, changes),
            Reporters::Ranking(ids) => self.fill(&mut granted, ids),
        };
        let refused = granted.cut.iter().rev().find_map(|cut| bound(cut.because));
        let decision = Decision {
            airtime,
            airtime_after: self.rules.airtime(bytes),
            changes: granted.changes,
            binding: refused.unwrap_or(binding),
            cut: granted.cut,
        };
        (granted.set.iter().map(|&(id, _)| id).collect(), decision)
    }

    fn bytes(&self, set: &[(AgentId, f64)]) -> f64 {
        set.iter()
            .fold(self.base_bytes, |sum, (_, bytes)| sum + bytes)
    }

    /// The bound that `bytes` break.
    fn broken(&self, bytes: f64) -> Option<Because> {
        self.rules.broken(self.rules.airtime(bytes))
    }

    /// Makes one change after the other, and sheds whoever costs most while a bound is still broken.
    fn change(&self, granted: &mut Granted, changes: Vec<Change>) -> f64 {
        for change in changes {
            let place = granted.set.binary_search_by_key(&change.id, |&(id, _)| id);
            match (change.action, place) {
                (Action::Remove, Ok(at)) => {
                    granted.set.remove(at);
                    granted.changes.push(change);
                }
                (Action::Admit, Err(at)) => {
                    let with = |bytes| self.bytes(&granted.set) + bytes;
                    match self.admissible(granted, change.id, with) {
                        Ok(bytes) => {
                            granted.set.insert(at, (change.id, bytes));
                            granted.admitted += 1;
                            granted.changes.push(change);
                        }
                        Err(because) => granted.cut(change.id, because),
                    }
                }
                _ => {}
            }
        }
        while let Some(because) = self.broken(self.bytes(&granted.set)) {
            let costliest = (0..granted.set.len()).max_by(|&a, &b| {
                let [a, b] = [granted.set[a], granted.set[b]];
                a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))
            });
            let Some(at) = costliest else { break };
            let (id, _) = granted.set.remove(at);
            granted.remove(id, because);
            granted.cut(id, because);
        }
        self.bytes(&granted.set)
    }

    /// Takes whoever fits, in the order given.
    fn fill(&self, granted: &mut Granted, ids: Vec<AgentId>) -> f64 {
        let present = core::mem::take(&mut granted.set);
        let mut unwanted: Vec<AgentId> = present.iter().map(|&(id, _)| id).collect();
        let mut admissions = Vec::new();
        let mut sum = self.base_bytes;
        for id in ids {
            let member = present.binary_search_by_key(&id, |&(id, _)| id);
            if granted.set.iter().any(|&(taken, _)| taken == id) {
                continue;
            }
            let allowed = match member {
                Ok(at) => match self.broken(sum + present[at].1) {
                    None => Ok(present[at].1),
                    Some(because) => Err(because),
                },
                Err(_) => self.admissible(granted, id, |bytes| sum + bytes),
            };
            if member.is_ok() {
                unwanted.retain(|&other| other != id);
            }
            match allowed {
                Ok(bytes) => {
                    sum += bytes;
                    granted.set.push((id, bytes));
                    if member.is_err() {
                        granted.admitted += 1;
                        admissions.push(Change::new(Action::Admit, id, Because::Score));
                    }
                }
                Err(because) => {
                    if member.is_ok() {
                        granted.remove(id, because);
                    }
                    granted.cut(id, because);
                }
            }
        }
        for id in unwanted {
            granted.remove(id, Because::Score);
        }
        granted.changes.extend(admissions);
        granted.set.sort_unstable_by_key(|&(id, _)| id);
        sum
    }

    /// The bytes of somebody who may be admitted, or why it may not. `with` gives the bytes of the set with so many more.
    fn admissible(
        &self,
        granted: &Granted,
        id: AgentId,
        with: impl Fn(f64) -> f64,
    ) -> Result<f64, Because> {
        let bytes = (self.cost)(id).ok_or(Because::Scope)?;
        match self.broken(with(bytes)) {
            Some(because) => Err(because),
            None if granted.admitted >= self.rules.n_max => Err(Because::Quota),
            None => Ok(bytes),
        }
    }
}

impl Granted {
    fn cut(&mut self, id: AgentId, because: Because) {
        self.cut.push(Cut { id, because });
    }

    fn remove(&mut self, id: AgentId, because: Because) {
        self.changes.push(Change::new(Action::Remove, id, because));
    }
}

/// What a cut says of what binds.
fn bound(because: Because) -> Option<Binding> {
    match because {
        Because::Allowance => Some(Binding::Allowance),
        Because::Cycle => Some(Binding::Cycle),
        Because::Quota => Some(Binding::Quota),
        Because::Score | Because::Scope => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;

    /// A host with room for `room` bytes, contributors 1 and 2 of 100 bytes each, and candidates 3 to 9 of 100 bytes times
    /// their number.
    fn grant(room: f64, n_max: u32, reporters: Reporters) -> (Vec<u64>, Decision) {
        let rules = Rules {
            allowance: room / 48_400.0,
            n_max,
            ..Parameters::default().rules()
        };
        let bounds = Bounds {
            rules: &rules,
            base_bytes: 0.0,
            present: &[AgentId(1), AgentId(2)],
            cost: |id: AgentId| match id.0 {
                1 | 2 => Some(100.0),
                3..=9 => Some(100.0 * id.0 as f64),
                _ => None,
            },
        };
        let (set, decision) = bounds.grant(reporters, Binding::Value);
        (set.iter().map(|id| id.0).collect(), decision)
    }

    fn admit(ids: &[u64]) -> Reporters {
        let admit = |&id| Change::new(Action::Admit, AgentId(id), Because::Score);
        Reporters::Changes(ids.iter().map(admit).collect())
    }

    fn rank(ids: &[u64]) -> Reporters {
        Reporters::Ranking(ids.iter().map(|&id| AgentId(id)).collect())
    }

    fn cuts(decision: &Decision) -> Vec<(u64, Because)> {
        decision.cut.iter().map(|c| (c.id.0, c.because)).collect()
    }

    #[test]
    fn what_fits_is_granted_as_it_is() {
        let (set, decision) = grant(1_000.0, 2, admit(&[3, 4]));
        assert_eq!(set, [1, 2, 3, 4]);
        assert_eq!((decision.cut.len(), decision.binding), (0, Binding::Value));
        assert_eq!(decision.airtime_after.fraction * 48_400.0, 900.0);
    }

    #[test]
    fn allowance_quota_and_scope_are_the_hosts() {
        let (set, decision) = grant(1_000.0, 1, admit(&[77, 9, 3, 4, 3]));
        assert_eq!(set, [1, 2, 3]);
        let expected = [
            (77, Because::Scope),
            (9, Because::Allowance),
            (4, Because::Quota),
        ];
        assert_eq!(cuts(&decision), expected);
        assert_eq!(decision.binding, Binding::Quota);
        // A set that has outgrown its bounds is shed even if the policy leaves it alone.
        let (set, decision) = grant(150.0, 9, admit(&[]));
        assert_eq!(
            (set, cuts(&decision)),
            (std::vec![1], std::vec![(2, Because::Allowance)])
        );
        let (set, _) = grant(0.0, 9, admit(&[]));
        assert!(set.is_empty());
    }

    #[test]
    fn a_ranking_is_filled_in_its_order() {
        let (set, decision) = grant(1_000.0, 9, rank(&[4, 4, 2, 9, 5, 77]));
        assert_eq!(set, [2, 4, 5]);
        let expected = [(9, Because::Allowance), (77, Because::Scope)];
        assert_eq!(cuts(&decision), expected);
        let changed: Vec<_> = decision
            .changes
            .iter()
            .map(|c| (c.action, c.id.0))
            .collect();
        let expected = [(Action::Remove, 1), (Action::Admit, 4), (Action::Admit, 5)];
        assert_eq!(changed, expected);
        assert_eq!(decision.airtime_after.fraction * 48_400.0, 1_000.0);
        // The quota counts admissions, not those who stay.
        let (set, decision) = grant(1_000.0, 1, rank(&[3, 1, 4]));
        assert_eq!((set, decision.binding), (std::vec![1, 3], Binding::Quota));
    }
}
