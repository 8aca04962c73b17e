//! Generated parts of hand-written documents.
//!
//! A part lies between `<!-- begin: NAME -->` and `<!-- end -->`, each on a line of its own; everything else belongs to people and
//! is left as it is.

use thiserror::Error;

const BEGIN: &str = "<!-- begin: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// Why a document cannot be filled in.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MarkerError {
    /// A part begins and does not end.
    #[error(
        "line {line}: `{BEGIN}{name}{CLOSE}` has no `{END}` before the next part or the document's end"
    )]
    Open {
        /// Line of the beginning, from 1.
        line: usize,
        /// What the part is called.
        name: String,
    },
    /// An end without a beginning.
    #[error("line {line}: `{END}` without a `{BEGIN}NAME{CLOSE}` before it")]
    Stray {
        /// Line of the end, from 1.
        line: usize,
    },
    /// A part of this name is there twice.
    #[error("line {line}: the part `{name}` is there twice")]
    Twice {
        /// Line of the second beginning, from 1.
        line: usize,
        /// What the part is called.
        name: String,
    },
}

fn begins(line: &str) -> Option<&str> {
    line.trim().strip_prefix(BEGIN)?.strip_suffix(CLOSE)
}

/// `document` with each of its parts that is among `parts` replaced; others stay as they are.
///
/// # Errors
/// Markers do not match.
pub fn fill(document: &str, parts: &[(String, String)]) -> Result<String, MarkerError> {
    let mut out = String::with_capacity(document.len());
    let mut inside: Option<(usize, String)> = None;
    let mut seen: Vec<String> = Vec::new();
    for (i, line) in document.lines().enumerate() {
        let number = i + 1;
        if let Some(name) = begins(line) {
            if let Some((line, name)) = inside {
                return Err(MarkerError::Open { line, name });
            }
            let name = name.trim().to_string();
            if seen.contains(&name) {
                return Err(MarkerError::Twice { line: number, name });
            }
            out.push_str(line);
            out.push('\n');
            if let Some((_, text)) = parts.iter().find(|(part, _)| *part == name) {
                out.push_str(text.trim_end());
                out.push('\n');
            }
            seen.push(name.clone());
            inside = Some((number, name));
            continue;
        }
        if line.trim() == END {
            if inside.take().is_none() {
                return Err(MarkerError::Stray { line: number });
            }
        } else if let Some((_, name)) = &inside
            && parts.iter().any(|(part, _)| part == name)
        {
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    match inside {
        Some((line, name)) => Err(MarkerError::Open { line, name }),
        None => Ok(out),
    }
}

/// The names of the parts of a document, in order.
#[must_use]
pub fn names(document: &str) -> Vec<String> {
    document
        .lines()
        .filter_map(begins)
        .map(|name| name.trim().to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Title\n<!-- begin: a -->\nold\n<!-- end -->\nby hand\n<!-- begin: b -->\nkept\n<!-- end -->\n";

    #[test]
    fn only_known_parts_are_replaced_and_again_gives_the_same() {
        let parts = [("a".to_string(), "new\nlines\n".to_string())];
        let filled = fill(DOCUMENT, &parts).unwrap();
        assert_eq!(
            filled,
            "# Title\n<!-- begin: a -->\nnew\nlines\n<!-- end -->\nby hand\n<!-- begin: b -->\nkept\n<!-- end -->\n"
        );
        assert_eq!(fill(&filled, &parts).unwrap(), filled);
        assert_eq!(names(DOCUMENT), ["a", "b"]);
    }

    #[test]
    fn markers_that_do_not_match_are_refused() {
        let error = |text: &str| fill(text, &[]).unwrap_err().to_string();
        assert!(error("<!-- begin: a -->\n").starts_with("line 1: `<!-- begin: a -->` has no"));
        assert!(error("<!-- begin: a -->\n<!-- begin: b -->\n<!-- end -->\n").contains("line 1"));
        assert!(error("x\n<!-- end -->\n").starts_with("line 2: `<!-- end -->` without"));
        let twice = "<!-- begin: a -->\n<!-- end -->\n<!-- begin: a -->\n<!-- end -->\n";
        assert!(error(twice).contains("`a` is there twice"));
    }
}
