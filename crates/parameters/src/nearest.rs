//! What somebody may have meant.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Names longer than this are nobody's slip of the pen.
const LONGEST: usize = 64;

/// The name of `known` that is most like `found`, if one is like it at all: at most a third of its letters are missing, too
/// many, wrong, or changed with their neighbour. Of two alike the first.
///
/// Written here because `strsim`, which clap uses for the same, needs `std`.
#[must_use]
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let found: Vec<char> = found.chars().take(LONGEST + 1).collect();
    if found.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let letters: Vec<char> = name.chars().collect();
        let allowed = (letters.len().max(found.len()) / 3).max(1);
        if letters.len().abs_diff(found.len()) > allowed {
            continue;
        }
        let far = distance(&found, &letters);
        if far <= allowed && best.is_none_or(|(least, _)| far < least) {
            best = Some((far, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Up to this many known names are listed where none is near.
const FEW: usize = 6;

/// What is said of a name that `group` does not know (the outermost where that is empty): the nearest of `known`, or all of
/// them where they are few.
#[must_use]
pub fn unknown_field(group: &str, found: &str, known: &[&str]) -> String {
    let found: String = found.chars().take(LONGEST).collect();
    let mut text = match group {
        "" => format!("unknown field `{found}`"),
        group => format!("unknown field `{found}` in `{group}`"),
    };
    match nearest(&found, known.iter().copied()) {
        Some(meant) => text.push_str(&format!(": did you mean `{meant}`?")),
        None if known.len() > FEW => {}
        None => {
            for (i, name) in known.iter().enumerate() {
                let before = match i {
                    0 => ": it has",
                    i if i + 1 == known.len() => " and",
                    _ => ",",
                };
                text.push_str(&format!("{before} `{name}`"));
            }
        }
    }
    text
}

/// Letters to add, take away, replace or change with their neighbour (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, &y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = core::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_understood_and_nothing_else() {
        let known = ["target", "tile_m", "factors", "main_density", "t_max_s"];
        for (found, meant) in [
            ("targt", Some("target")),
            ("taregt", Some("target")),
            ("factor", Some("factors")),
            ("main_densty", Some("main_density")),
            ("tmax_s", Some("t_max_s")),
            ("tile", Some("tile_m")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(found, known), meant, "{found}");
        }
        assert_eq!(nearest(&"target".repeat(1_000), known), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn an_unknown_name_is_answered_with_what_may_be_meant() {
        let known = ["net", "buildings", "roads"];
        for (group, found, text) in [
            (
                "map",
                "building",
                "unknown field `building` in `map`: did you mean `buildings`?",
            ),
            ("", "nett", "unknown field `nett`: did you mean `net`?"),
            (
                "map",
                "x",
                "unknown field `x` in `map`: it has `net`, `buildings` and `roads`",
            ),
        ] {
            assert_eq!(unknown_field(group, found, &known), text);
        }
        assert_eq!(unknown_field("", "x", &["one"; 7]), "unknown field `x`");
    }

    #[test]
    fn distances_count_slips() {
        let far = |a: &str, b: &str| {
            let letters = |text: &str| text.chars().collect::<Vec<char>>();
            distance(&letters(a), &letters(b))
        };
        assert_eq!(far("", "abc"), 3);
        assert_eq!(far("abc", ""), 3);
        assert_eq!(far("abcd", "abdc"), 1);
        assert_eq!(far("kitten", "sitting"), 3);
        assert_eq!(far("grün", "grun"), 1);
    }
}
