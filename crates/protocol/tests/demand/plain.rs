//! The choice by demand once more, as plainly as it can be written: every gain from scratch, no queue, no shared tables.

use covey_protocol::demand::select::{DemandProblem, Pick, Picked};

/// Expected number of needs that `picks` fulfil, the bonuses included: the value function.
pub(crate) fn value(problem: &DemandProblem, picks: &[Pick]) -> f64 {
    let mut value = 0.0;
    for need in &problem.needs {
        let at = problem.listeners[need.listener as usize];
        let mut lost_now = 1.0;
        let mut lost_next = 1.0;
        for pick in picks {
            match *pick {
                Pick::Repeat(k) if k == need.object => {
                    lost_now *= 1.0 - problem.links.between(problem.host, at.position);
                }
                Pick::Report(j) => {
                    let candidate = &problem.candidates[j as usize];
                    let seen = candidate.views.iter().find(|v| v.0 == need.object);
                    if let Some(&(_, chance)) = seen
                        && candidate.id != at.id
                        && unasked(problem, need.object)
                    {
                        let heard = problem.links.between(candidate.position, at.position);
                        lost_next *= 1.0 - chance * candidate.command * heard;
                    }
                }
                _ => {}
            }
        }
        value += need.now * (1.0 - lost_now) + need.next * (1.0 - lost_next);
    }
    for pick in picks {
        if let Pick::Report(j) = *pick {
            value += problem.candidates[j as usize].bonus;
        }
    }
    value
}

/// Contributors report the object without being asked for it.
pub(crate) fn unasked(problem: &DemandProblem, object: u32) -> bool {
    let needs = problem.needs.iter().filter(|n| n.object == object);
    let wanted: f64 = needs.map(|n| n.next).sum();
    let judged = problem.request_factor.is_none() || problem.objects[object as usize].silent;
    judged && wanted >= problem.threshold
}

/// Bytes of a pick.
pub(crate) fn bytes(problem: &DemandProblem, pick: Pick) -> Option<f64> {
    match pick {
        Pick::Report(j) => {
            let views = &problem.candidates[j as usize].views;
            let content = views.iter().filter(|v| unasked(problem, v.0));
            let objects: f64 = content.map(|v| v.1).sum();
            let extra = problem.candidates[j as usize].extra_bytes;
            Some(problem.report_bytes + extra + problem.object_bytes * objects)
        }
        Pick::Repeat(k) => problem.objects[k as usize].repeat_bytes,
        Pick::Request(_) => None,
    }
}

/// Everything that can be picked by gain per byte.
pub(crate) fn choices(problem: &DemandProblem) -> Vec<Pick> {
    let reports = (0..problem.candidates.len() as u32).map(Pick::Report);
    let repeats = (0..problem.objects.len() as u32).map(Pick::Repeat);
    let all = reports.chain(repeats);
    all.filter(|&pick| bytes(problem, pick).is_some()).collect()
}

/// Cost-benefit greedy, step by step: of all that fit and are worth it, the highest gain per byte.
///
/// Gains are differences of the value function, so they carry its rounding; `tie` is how much higher a ratio must be to win.
pub(crate) fn greedy(problem: &DemandProblem, tie: f64) -> Vec<Picked> {
    let mut picks: Vec<Picked> = Vec::new();
    let mut spent = problem.base_bytes;
    loop {
        let held: Vec<Pick> = picks.iter().map(|p| p.pick).collect();
        let now = value(problem, &held);
        let mut best: Option<(f64, Picked)> = None;
        for pick in choices(problem) {
            let Some(cost) = bytes(problem, pick) else {
                continue;
            };
            if held.contains(&pick) || spent + cost > problem.budget_bytes {
                continue;
            }
            let mut with = held.clone();
            with.push(pick);
            let gain = value(problem, &with) - now;
            let ratio = gain / cost.max(1e-9);
            if gain >= problem.least_gain
                && best
                    .as_ref()
                    .is_none_or(|(held, _)| ratio > held * (1.0 + tie))
            {
                best = Some((
                    ratio,
                    Picked {
                        pick,
                        gain,
                        bytes: cost,
                    },
                ));
            }
        }
        let Some((_, picked)) = best else {
            return picks;
        };
        spent += picked.bytes;
        picks.push(picked);
    }
}
