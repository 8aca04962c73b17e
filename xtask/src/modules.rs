//! Import cycles between the modules of a crate.
//!
//! Modules form a tree. Wherever a module has children, no chain of them may lead back to its beginning, where `a -> b` means that
//! something in `a` or below names something in `b` or below: in a `use`, a type, an expression, a pattern or inside a macro call. A
//! name counts for the modules its path leads through and for the one that defines the item, however it is re-exported. What is built
//! for tests only does not count.
//!
//! A module and its own children are not compared: a parent names its children to put them together, and a child may use what its
//! parent's file defines. Calls of methods name no module and are not seen.

mod cycles;
mod resolve;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use cycles::shortest_cycles;
use resolve::touched;
use tree::Module;

/// Sources by their paths from the top, with `/`.
pub(crate) type Sources = BTreeMap<String, String>;

/// The complaints about the crates of the package in `folder`: one per knot of modules that lead back to each other.
pub(crate) fn check(sources: &Sources, folder: &str) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
    for root in roots(sources, folder) {
        complaints.extend(complain(&tree::read(sources, &root)?));
    }
    Ok(complaints)
}

/// The files in `folder` with which a library or program begins.
fn roots(sources: &Sources, folder: &str) -> Vec<String> {
    let programs = format!("{folder}/src/bin/");
    sources
        .keys()
        .filter(|path| {
            **path == format!("{folder}/src/lib.rs")
                || **path == format!("{folder}/src/main.rs")
                || path
                    .strip_prefix(&programs)
                    .is_some_and(|name| !name.contains('/') || name.ends_with("/main.rs"))
        })
        .cloned()
        .collect()
}

/// Where one module names another.
struct Place {
    file: String,
    line: usize,
    path: String,
}

fn complain(modules: &[Module]) -> Vec<String> {
    let mut edges: BTreeMap<usize, BTreeMap<(usize, usize), Place>> = BTreeMap::new();
    for (user, module) in modules.iter().enumerate() {
        for reference in &module.references {
            for used in touched(modules, user, &reference.path) {
                let Some((parent, a, b)) = siblings(modules, user, used) else {
                    continue;
                };
                let place = || Place {
                    file: module.file.clone(),
                    line: reference.line,
                    path: reference.path.join("::"),
                };
                edges
                    .entry(parent)
                    .or_default()
                    .entry((a, b))
                    .or_insert_with(place);
            }
        }
    }
    let mut complaints = Vec::new();
    for places in edges.values() {
        let arrows: BTreeSet<(usize, usize)> = places.keys().copied().collect();
        for (cycle, knot) in shortest_cycles(&arrows) {
            complaints.push(describe(modules, places, &cycle, knot));
        }
    }
    complaints
}

/// The modules at which the ways from the root to `user` and `used` part, and their parent; none if one lies on the way to the other.
fn siblings(modules: &[Module], user: usize, used: usize) -> Option<(usize, usize, usize)> {
    let way = |mut module: usize| {
        let mut way = vec![module];
        while let Some(parent) = modules[module].parent {
            way.push(parent);
            module = parent;
        }
        way.reverse();
        way
    };
    let (user, used) = (way(user), way(used));
    let at = user.iter().zip(&used).position(|(a, b)| a != b)?;
    Some((user[at - 1], user[at], used[at]))
}

fn describe(
    modules: &[Module],
    places: &BTreeMap<(usize, usize), Place>,
    cycle: &[usize],
    knot: usize,
) -> String {
    let name = |module: usize| modules[module].name();
    let mut text = format!("modules use each other in a circle: {}", name(cycle[0]));
    for &module in cycle[1..].iter().chain(&cycle[..1]) {
        text.push_str(&format!(" -> {}", name(module)));
    }
    if knot > cycle.len() {
        text.push_str(&format!(
            " (the shortest way round; {knot} modules are in it)"
        ));
    }
    for (n, &user) in cycle.iter().enumerate() {
        let used = cycle[(n + 1) % cycle.len()];
        if let Some(place) = places.get(&(user, used)) {
            text.push_str(&format!(
                "\n    {}:{}: {} uses {}: `{}`",
                place.file,
                place.line,
                name(user),
                name(used),
                place.path
            ));
        }
    }
    text.push_str(
        "\n    Move what both need into a module of its own, or what only one needs into that one.",
    );
    text
}

#[cfg(test)]
mod tests;
