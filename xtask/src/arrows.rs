//! Who may use whom: the crate arrows of ARCHITECTURE.md against what the manifests say.
//!
//! The section `## Crate arrows` holds two fenced blocks. ` ```arrows ` lists what a crate may use in its library,
//! binary or build script, ` ```dev-arrows ` what it may use besides in tests, examples and benches. A line is
//! `its -> protocol`, by folder names; empty lines and what follows `#` do not count.

use std::collections::BTreeSet;

use crate::metadata::{Kind, Package, folder_name};

const HEADING: &str = "## Crate arrows";

/// The arrows a document allows, as pairs (user, used).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrows {
    normal: BTreeSet<(String, String)>,
    dev: BTreeSet<(String, String)>,
}

/// Reads the arrows out of the text of ARCHITECTURE.md.
pub(crate) fn parse(document: &str) -> Result<Arrows, String> {
    let mut arrows = Arrows::default();
    let mut in_section = false;
    let mut block: Option<String> = None;
    let mut found = false;
    for (number, line) in document
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()))
    {
        if let Some(info) = line.strip_prefix("```") {
            block = match block {
                Some(_) => None,
                None => {
                    let info = info.trim().to_owned();
                    found |= in_section && info == "arrows";
                    Some(info)
                }
            };
            continue;
        }
        let Some(info) = &block else {
            if line.starts_with("## ") {
                in_section = line == HEADING;
            }
            continue;
        };
        let set = match (in_section, info.as_str()) {
            (true, "arrows") => &mut arrows.normal,
            (true, "dev-arrows") => &mut arrows.dev,
            _ => continue,
        };
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        };
        match content
            .split_once("->")
            .map(|(user, used)| (user.trim(), used.trim()))
        {
            Some((user, used)) if is_name(user) && is_name(used) => {
                if !set.insert((user.to_owned(), used.to_owned())) {
                    return Err(format!(
                        "ARCHITECTURE.md line {number}: `{content}` is listed twice"
                    ));
                }
            }
            _ => {
                return Err(format!(
                    "ARCHITECTURE.md line {number}: found `{content}`, expected a line like `its -> protocol`"
                ));
            }
        }
    }
    if found {
        Ok(arrows)
    } else {
        Err(format!(
            "ARCHITECTURE.md has no block ```arrows in a section `{HEADING}`"
        ))
    }
}

/// The complaints about `packages`: one per arrow that `arrows` does not list.
pub(crate) fn check(arrows: &Arrows, packages: &[Package]) -> Vec<String> {
    let mut complaints = Vec::new();
    for package in packages {
        for (kind, folder) in &package.local_dependencies {
            let arrow = (
                package.short_name().to_owned(),
                folder_name(folder).to_owned(),
            );
            let (allowed, block) = match kind {
                Kind::Normal | Kind::Build => (arrows.normal.contains(&arrow), "arrows"),
                Kind::Dev => (
                    arrows.normal.contains(&arrow) || arrows.dev.contains(&arrow),
                    "dev-arrows",
                ),
            };
            if !allowed {
                let (user, used) = arrow;
                complaints.push(format!(
                    "{user} uses {used}, which ARCHITECTURE.md does not allow: drop the dependency from {user}'s \
                     Cargo.toml, or, if the design is to change, add `{user} -> {used}` to the block ```{block}"
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# X\n## Other\n```arrows\nnot -> read\n```\n## Crate arrows\nProse with its -> its.\n```arrows\n\
        its -> protocol # sizes\n\n  cli->its\n```\n```dev-arrows\ntraffic -> radio\n```\n## Next\n```arrows\nnor -> this\n```\n";

    fn package(name: &str, uses: &[(Kind, &str)]) -> Package {
        Package {
            name: format!("covey-{name}"),
            version: String::new(),
            folder: format!("/x/crates/{name}"),
            license: None,
            has_license_file: false,
            description: String::new(),
            foreign: false,
            features: BTreeSet::new(),
            local_dependencies: uses
                .iter()
                .map(|&(kind, used)| (kind, format!("/x/crates/{used}")))
                .collect(),
            published: false,
        }
    }

    #[test]
    fn only_the_blocks_of_the_section_are_read() {
        let arrows = parse(DOCUMENT).unwrap();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            arrows.normal,
            BTreeSet::from([pair("its", "protocol"), pair("cli", "its")])
        );
        assert_eq!(arrows.dev, BTreeSet::from([pair("traffic", "radio")]));
    }

    #[test]
    fn a_broken_list_is_refused_with_its_line() {
        let error = parse("## Crate arrows\n```arrows\nits protocol\n```\n").unwrap_err();
        assert!(error.contains("line 3: found `its protocol`"), "{error}");
        let error = parse("## Crate arrows\n```arrows\na -> b\na -> b\n```\n").unwrap_err();
        assert!(
            error.contains("line 4: `a -> b` is listed twice"),
            "{error}"
        );
        assert!(
            parse("## Crate arrows\nnone\n")
                .unwrap_err()
                .contains("no block")
        );
    }

    #[test]
    fn arrows_that_are_not_listed_are_complaints() {
        let arrows = parse(DOCUMENT).unwrap();
        let good = [
            package(
                "its",
                &[(Kind::Normal, "protocol"), (Kind::Dev, "protocol")],
            ),
            package("cli", &[(Kind::Build, "its")]),
            package("traffic", &[(Kind::Dev, "radio")]),
        ];
        assert_eq!(check(&arrows, &good), Vec::<String>::new());
        let bad = [
            package("protocol", &[(Kind::Dev, "its")]),
            package("traffic", &[(Kind::Normal, "radio")]),
        ];
        let complaints = check(&arrows, &bad);
        assert_eq!(complaints.len(), 2);
        assert!(
            complaints[0].starts_with("protocol uses its,"),
            "{complaints:?}"
        );
        assert!(complaints[0].contains("```dev-arrows"));
        assert!(
            complaints[1].starts_with("traffic uses radio,"),
            "{complaints:?}"
        );
    }
}
