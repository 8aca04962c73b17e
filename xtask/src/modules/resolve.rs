//! From a path in the source to the modules it names.

use std::collections::BTreeSet;

use super::tree::Module;

/// What a path leads to.
#[derive(Clone, Copy)]
enum Found {
    Module(usize),
    /// An item, by the module that defines it.
    Item(usize),
}

impl Found {
    fn module(self) -> usize {
        match self {
            Self::Module(module) | Self::Item(module) => module,
        }
    }
}

/// Names that are being looked up, so that imports of each other end.
type Seen = BTreeSet<(usize, String)>;

/// The modules that `path`, written in module `from`, leads through, and the one that defines what it names. Nothing for paths that
/// lead out of the crate.
pub(super) fn touched(modules: &[Module], from: usize, path: &[String]) -> Vec<usize> {
    let mut touched = Vec::new();
    walk(modules, from, path, &mut Seen::new(), &mut touched);
    touched
}

fn walk(
    modules: &[Module],
    from: usize,
    path: &[String],
    seen: &mut Seen,
    touched: &mut Vec<usize>,
) -> Option<Found> {
    let mut found: Option<Found> = None;
    for (n, part) in path.iter().enumerate() {
        let last = n + 1 == path.len();
        let next = match (part.as_str(), found) {
            ("crate", None) => Some(Found::Module(0)),
            ("self", None) => Some(Found::Module(from)),
            ("super", None) => modules[from].parent.map(Found::Module),
            ("super", Some(Found::Module(module))) => modules[module].parent.map(Found::Module),
            (name, None) => look_up(modules, from, name, last, seen),
            // A name that is not to be found there was made by a macro.
            (name, Some(Found::Module(module))) => {
                look_up(modules, module, name, last, seen).or(Some(Found::Item(module)))
            }
            (_, Some(Found::Item(_))) => break,
        };
        let next = next?;
        touched.push(next.module());
        found = Some(next);
    }
    found
}

/// What `name` means in `module`. Modules and items may share a name: an item is meant only at the end of a path.
fn look_up(
    modules: &[Module],
    module: usize,
    name: &str,
    last: bool,
    seen: &mut Seen,
) -> Option<Found> {
    if !seen.insert((module, name.to_owned())) {
        return None;
    }
    let here = &modules[module];
    let found = look_up_new(modules, module, here, name, last, seen);
    seen.remove(&(module, name.to_owned()));
    found
}

fn look_up_new(
    modules: &[Module],
    module: usize,
    here: &Module,
    name: &str,
    last: bool,
    seen: &mut Seen,
) -> Option<Found> {
    let item = here.items.contains(name).then_some(Found::Item(module));
    let child = here.children.get(name).map(|&child| Found::Module(child));
    let own = if last { item.or(child) } else { child.or(item) };
    // What an import leads through is its own matter, not that of whoever names it.
    own.or_else(|| {
        here.imports
            .iter()
            .filter(|import| import.name == name)
            .find_map(|import| walk(modules, module, &import.path, seen, &mut Vec::new()))
    })
    .or_else(|| {
        here.globs.iter().find_map(|glob| {
            match walk(modules, module, glob, seen, &mut Vec::new()) {
                Some(Found::Module(other)) => look_up(modules, other, name, last, seen),
                _ => None,
            }
        })
    })
}
