//! Circles in a small graph.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// For every knot of nodes that all lead to each other: one of its shortest circles, and how many nodes the knot has.
pub(super) fn shortest_cycles(arrows: &BTreeSet<(usize, usize)>) -> Vec<(Vec<usize>, usize)> {
    let nodes: BTreeSet<usize> = arrows.iter().flat_map(|&(a, b)| [a, b]).collect();
    let reach: BTreeMap<usize, BTreeMap<usize, usize>> = nodes
        .iter()
        .map(|&node| (node, steps_before(arrows, node)))
        .collect();
    let mut done = BTreeSet::new();
    let mut cycles = Vec::new();
    for &node in &nodes {
        if done.contains(&node) || !reach[&node].contains_key(&node) {
            continue;
        }
        let knot: Vec<usize> = nodes
            .iter()
            .copied()
            .filter(|other| reach[&node].contains_key(other) && reach[other].contains_key(&node))
            .collect();
        done.extend(knot.iter().copied());
        let shortest = knot
            .iter()
            .map(|&start| way_round(&reach[&start], start))
            .min_by_key(Vec::len)
            .unwrap_or_default();
        cycles.push((shortest, knot.len()));
    }
    cycles
}

/// For every node that `start` leads to: the node before it on a shortest way. `start` itself is among them if there is a way back.
fn steps_before(arrows: &BTreeSet<(usize, usize)>, start: usize) -> BTreeMap<usize, usize> {
    let mut before = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &(_, next) in arrows.range((node, 0)..=(node, usize::MAX)) {
            before.entry(next).or_insert_with(|| {
                if next != start {
                    queue.push_back(next);
                }
                node
            });
        }
    }
    before
}

/// The nodes from `start` back to it, `start` first and once.
fn way_round(before: &BTreeMap<usize, usize>, start: usize) -> Vec<usize> {
    let mut way = vec![start];
    let mut node = before[&start];
    while node != start {
        way.push(node);
        node = before[&node];
    }
    way[1..].reverse();
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knot_gives_its_shortest_circle() {
        let arrows = BTreeSet::from([(1, 2), (2, 3), (3, 4), (4, 1), (3, 2), (5, 1), (4, 6)]);
        assert_eq!(shortest_cycles(&arrows), [(vec![2, 3], 4)]);
        let two = BTreeSet::from([(1, 2), (2, 1), (2, 3), (3, 4), (4, 5), (5, 3)]);
        assert_eq!(shortest_cycles(&two), [(vec![1, 2], 2), (vec![3, 4, 5], 3)]);
        assert!(shortest_cycles(&BTreeSet::from([(1, 2), (2, 3), (1, 3)])).is_empty());
    }
}
