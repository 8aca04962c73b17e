//! The demand-driven policy: its choice against a plain one, its bounds, and what it does in small scenes.

mod association;
mod bounds;
mod contributors;
mod plain;
mod scenes;

use covey_protocol::demand::select::{
    DemandCandidate, DemandListener, DemandProblem, Need, Object, Pick, Selection,
};
use covey_protocol::link::LinkQuality;
use covey_protocol::{AgentId, ObjectId, Position};
use proptest::prelude::*;

fn place() -> impl Strategy<Value = Position> {
    (-200.0..200.0, -20.0..20.0).prop_map(|(x, y)| Position::new(x, y))
}

prop_compose! {
    /// A problem of some listeners, objects, needs and candidates.
    fn problem()(
        places in prop::collection::vec(place(), 1..12),
        objects in prop::collection::vec((any::<bool>(), prop::option::of(20.0..40.0)), 1..10),
        needs in prop::collection::vec((any::<u32>(), any::<u32>(), 0.0..1.0, 0.0..1.0), 0..60),
        candidates in prop::collection::vec(
            (
                place(),
                0.3..1.0,
                (0.0..0.2, 0.0..100.0),
                prop::collection::vec((any::<u32>(), 0.1..1.0), 0..8),
            ),
            0..10,
        ),
        budget in 100.0..4_000.0,
        threshold in prop::sample::select(vec![0.0, 0.3, 1.0]),
        request_factor in prop::option::of(0.0..4.0),
        shares in prop::collection::vec(0.2..1.0, 3..6),
    ) -> DemandProblem {
        let listeners: Vec<DemandListener> = (0u64..)
            .zip(&places)
            .map(|(k, &position)| DemandListener { id: AgentId(k), position })
            .collect();
        let count = objects.len() as u32;
        let mut needs: Vec<Need> = needs
            .into_iter()
            .map(|(listener, object, now, next)| Need {
                listener: listener % places.len() as u32,
                object: object % count,
                now,
                next,
            })
            .collect();
        needs.sort_by_key(|need| (need.object, need.listener));
        needs.dedup_by_key(|need| (need.object, need.listener));
        let candidates = (0u64..)
            .zip(candidates)
            .map(|(k, (position, command, (bonus, extra_bytes), views))| {
                let mut views: Vec<(u32, f64)> =
                    views.into_iter().map(|(o, p)| (o % count, p)).collect();
                views.sort_by_key(|view| view.0);
                views.dedup_by_key(|view| view.0);
                DemandCandidate { id: AgentId(k), position, command, bonus, extra_bytes, views }
            })
            .collect();
        DemandProblem {
            budget_bytes: budget,
            base_bytes: 121.0,
            report_bytes: 160.0,
            object_bytes: 35.0,
            requested_bytes: 3.0,
            threshold,
            least_gain: 0.02,
            request_factor,
            host: Position::new(0.0, 0.0),
            links: LinkQuality::fixed(&shares),
            listeners,
            objects: (0u64..)
                .zip(objects)
                .map(|(k, (silent, repeat_bytes))| Object { id: ObjectId(k), silent, repeat_bytes })
                .collect(),
            needs,
            candidates,
        }
    }
}

proptest! {
    #[test]
    fn lazy_greedy_is_greedy(problem in problem()) {
        let lazy = Selection::choose(&problem);
        let lazy: Vec<_> = lazy
            .picks
            .iter()
            .filter(|p| !matches!(p.pick, Pick::Request(_)))
            .collect();
        let plain = plain::greedy(&problem, 1e-9);
        prop_assert_eq!(lazy.len(), plain.len());
        for (a, b) in lazy.iter().zip(&plain) {
            prop_assert_eq!(a.pick, b.pick);
            prop_assert!((a.gain - b.gain).abs() < 1e-9, "{} {}", a.gain, b.gain);
            prop_assert!((a.bytes - b.bytes).abs() < 1e-9);
        }
    }

    #[test]
    fn the_gain_is_monotone_and_submodular(
        problem in problem(),
        small in any::<u32>(),
        large in any::<u32>(),
        more in any::<u32>(),
    ) {
        let all = plain::choices(&problem);
        prop_assume!(!all.is_empty());
        let chosen = |mask: u32| -> Vec<Pick> {
            let picks = all.iter().enumerate();
            picks.filter(|(k, _)| mask >> (k % 32) & 1 == 1).map(|(_, &p)| p).collect()
        };
        let (small, large) = (chosen(small & large), chosen(large));
        let more = all[more as usize % all.len()];
        prop_assume!(!large.contains(&more));
        let gain = |set: &[Pick]| {
            let mut with = set.to_vec();
            with.push(more);
            plain::value(&problem, &with) - plain::value(&problem, set)
        };
        prop_assert!(gain(&large) >= -1e-9);
        prop_assert!(gain(&small) >= gain(&large) - 1e-9);
    }

    #[test]
    fn the_budget_is_kept_whoever_chooses(problem in problem(), salt in any::<u64>()) {
        let by_gain = Selection::choose(&problem);
        let at_random = Selection::choose_at_random(&problem, |agent| AgentId(agent.0 ^ salt).mixed());
        for chosen in [&by_gain, &at_random] {
            let spent: f64 = chosen.picks.iter().map(|p| p.bytes).sum();
            prop_assert!((problem.base_bytes + spent - chosen.bytes).abs() < 1e-6);
            prop_assert!(chosen.picks.is_empty() || chosen.bytes <= problem.budget_bytes + 1e-6);
        }
        let reports = |chosen: &Selection| -> f64 {
            let reports = chosen.picks.iter().filter(|p| matches!(p.pick, Pick::Report(_)));
            reports.map(|p| p.bytes).sum()
        };
        prop_assert!(reports(&at_random) <= reports(&by_gain) + 1e-6);
        prop_assert_eq!(at_random.repeats(), by_gain.repeats());
        prop_assert!(at_random.cut || !by_gain.cut, "what did not fit is told");
    }

    #[test]
    fn requests_are_worth_their_bytes(problem in problem()) {
        let chosen = Selection::choose(&problem);
        let ratio = |gain: f64, bytes: f64| gain / bytes.max(1e-9);
        let last = chosen
            .picks
            .iter()
            .rfind(|p| !matches!(p.pick, Pick::Request(_)))
            .map_or(0.0, |p| ratio(p.gain, p.bytes));
        for picked in &chosen.picks {
            if let Pick::Request(k) = picked.pick {
                let factor = problem.request_factor.unwrap();
                prop_assert!(!problem.objects[k as usize].silent);
                prop_assert!(ratio(picked.gain, picked.bytes) >= factor * last);
            }
        }
    }
}

#[cfg(feature = "snapshot")]
mod snapshot {
    use super::plain;
    use covey_protocol::demand::snapshot::DemandSnapshot;

    const EXAMPLE: &str = include_str!("../../../../examples/demand-snapshot.json");

    #[test]
    fn the_example_is_decided_as_plain_greedy_would() {
        let snapshot = DemandSnapshot::parse(EXAMPLE).unwrap();
        let outcome = snapshot.decide();
        let plain = plain::greedy(&snapshot.problem, 1e-9);
        let picks = outcome.picks.iter().filter(|p| p.pick != "request");
        assert_eq!(picks.clone().count(), plain.len());
        for (row, picked) in picks.zip(&plain) {
            assert!((row.gain - picked.gain).abs() < 1e-9);
            assert!((row.bytes - picked.bytes).abs() < 1e-9);
        }
        assert_eq!(
            outcome.contributors,
            [3, 4],
            "who sees 91 and who was forgotten"
        );
        assert_eq!(outcome.repeat, [2, 90]);
        assert!(outcome.bytes <= outcome.budget_bytes);
    }

    #[test]
    fn numbers_too_large_to_compute_with_are_told() {
        let fine = DemandSnapshot::parse(EXAMPLE).unwrap();
        assert_eq!(fine.decide().overflow(), None);
        let mut huge = fine;
        huge.problem.base_bytes = f64::MAX;
        huge.problem.report_bytes = f64::MAX;
        huge.problem.budget_bytes = f64::INFINITY;
        assert!(huge.decide().overflow().is_some());
    }

    #[test]
    fn errors_name_the_field() {
        let refuse = |from: &str, to: &str| {
            assert!(EXAMPLE.contains(from));
            DemandSnapshot::parse(&EXAMPLE.replacen(from, to, 1))
                .unwrap_err()
                .to_string()
        };
        assert!(
            refuse("\"budget_bytes\": 700", "\"budget_bytes\": -1")
                .starts_with("parameters.budget_bytes: found -1")
        );
        assert!(
            refuse("[1, 90, 1.0, 1.0]", "[7, 90, 1.0, 1.0]").starts_with("needs[0][0]: found 7")
        );
        assert!(
            refuse("[1, 90, 1.0, 1.0]", "[1, 90, 2.0, 1.0]").starts_with("needs[0][2]: found 2")
        );
        assert!(refuse("\"id\": 4", "\"id\": 3").contains("id 3 is given twice"));
        assert!(refuse("demand-snapshot/1", "demand-snapshot/9").starts_with("schema"));
        assert!(
            DemandSnapshot::parse("[")
                .unwrap_err()
                .to_string()
                .starts_with("not JSON")
        );
    }
}
