//! Snapshots: any text is a decision or an error that says where; decisions keep their promises.

use covey_protocol::snapshot::Snapshot;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let snapshot = match Snapshot::parse(text) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            assert!(!error.problem.is_empty());
            return;
        }
    };
    let outcome = snapshot.decide();
    assert_eq!(outcome.epoch_advance, outcome.changes.len());
    assert!(outcome.map.iter().all(|&(_, _, m)| m > 0.0 && m <= 1.0));
    assert_eq!(outcome.scores.len(), snapshot.agents.len());
    assert!(outcome.scores.is_sorted_by_key(|row| row.id));
    let rules = &snapshot.rules;
    let contributors = |role| {
        snapshot
            .agents
            .iter()
            .filter(|a| a.role.name() == role)
            .count()
    };
    let removed = outcome
        .changes
        .iter()
        .filter(|c| c.action == "remove")
        .count();
    let admitted = outcome
        .changes
        .iter()
        .filter(|c| c.action == "admit")
        .count();
    let left = contributors("contributor") + admitted - removed;
    // The bounds hold after the cycle, unless the broadcast alone breaks them.
    if left > 0 {
        assert!(outcome.airtime_after.fraction <= rules.allowance);
        assert!(outcome.airtime_after.seconds <= rules.t_max_s);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    vec![include_bytes!("../../../examples/snapshot.json").to_vec()]
}
