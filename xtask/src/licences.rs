//! May we use it? The licence of every package that cargo brings, checked against a list.
//!
//! Packages state an SPDX expression (`MIT OR Apache-2.0`). It is acceptable if the parts that have to be kept are on
//! the list: one side of an `OR`, both sides of an `AND`.

use crate::metadata::Package;

/// Licences that any dependency may have: permissive ones that ask for no more than keeping notices.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Licences that one package may have: package, licence, why it is acceptable there.
const ALLOWED_FOR: &[(&str, &str, &str)] = &[(
    "libfuzzer-sys",
    "NCSA",
    "permissive, covers LLVM's libFuzzer; linked into fuzz binaries alone, which are not shipped",
)];

/// The complaints about `packages`, one per package that may not be used; those of the workspace are passed over.
pub(crate) fn check(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .filter(|package| package.foreign)
        .filter_map(|package| {
            complaint(
                &package.name,
                &package.version,
                package.license.as_deref(),
                package.has_license_file,
            )
        })
        .collect()
}

fn complaint(name: &str, version: &str, license: Option<&str>, has_file: bool) -> Option<String> {
    let allowed = |licence: &str| {
        ALLOWED.contains(&licence)
            || ALLOWED_FOR
                .iter()
                .any(|&(package, also, _)| package == name && also == licence)
    };
    let advice = "use another package, or add it to xtask/src/licences.rs with a reason";
    let Some(license) = license else {
        let file = if has_file {
            " but has a licence file"
        } else {
            ""
        };
        return Some(format!(
            "{name} {version}: states no licence{file}; {advice}"
        ));
    };
    match is_acceptable(license, &allowed) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{name} {version}: licence `{license}` is not on the list; {advice}"
        )),
        Err(error) => Some(format!(
            "{name} {version}: licence `{license}` cannot be read: {error}; {advice}"
        )),
    }
}

/// Whether the SPDX expression `license` can be satisfied with licences for which `allowed` holds.
///
/// `AND` binds tighter than `OR`; `A/B` is what old manifests write for `A OR B`; an exception (`A WITH B`) is asked
/// for as a whole.
fn is_acceptable(license: &str, allowed: &dyn Fn(&str) -> bool) -> Result<bool, String> {
    let spaced = license
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let value = either(&mut rest, allowed, 0)?;
    match rest.first() {
        None => Ok(value),
        Some(word) => Err(format!("`{word}` is not expected there")),
    }
}

/// `both OR both OR …`
fn either(rest: &mut &[&str], allowed: &dyn Fn(&str) -> bool, depth: u32) -> Result<bool, String> {
    let mut value = both(rest, allowed, depth)?;
    while eat(rest, "OR") {
        value |= both(rest, allowed, depth)?;
    }
    Ok(value)
}

/// `single AND single AND …`
fn both(rest: &mut &[&str], allowed: &dyn Fn(&str) -> bool, depth: u32) -> Result<bool, String> {
    let mut value = single(rest, allowed, depth)?;
    while eat(rest, "AND") {
        value &= single(rest, allowed, depth)?;
    }
    Ok(value)
}

/// `( either )`, `LICENCE` or `LICENCE WITH EXCEPTION`
fn single(rest: &mut &[&str], allowed: &dyn Fn(&str) -> bool, depth: u32) -> Result<bool, String> {
    if eat(rest, "(") {
        if depth >= 32 {
            return Err("more than 32 parentheses are open".to_owned());
        }
        let value = either(rest, allowed, depth + 1)?;
        if eat(rest, ")") {
            return Ok(value);
        }
        return Err("a `)` is missing".to_owned());
    }
    let name = take_name(rest)?;
    if eat(rest, "WITH") {
        let exception = take_name(rest)?;
        return Ok(allowed(&format!("{name} WITH {exception}")));
    }
    Ok(allowed(name))
}

fn eat(rest: &mut &[&str], word: &str) -> bool {
    let found = rest.first() == Some(&word);
    if found {
        *rest = &rest[1..];
    }
    found
}

fn take_name<'a>(rest: &mut &[&'a str]) -> Result<&'a str, String> {
    match rest.split_first() {
        Some((&name, after)) if !["OR", "AND", "WITH", "(", ")"].contains(&name) => {
            *rest = after;
            Ok(name)
        }
        Some((word, _)) => Err(format!("a licence is expected, found `{word}`")),
        None => Err("a licence is expected at the end".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_deny_has_the_same_lists() {
        let rules = include_str!("../../deny.toml");
        let (_, rest) = rules.split_once("[licenses]\nallow = [\n").unwrap();
        let (allowed, rest) = rest.split_once("]\n").unwrap();
        let names: Vec<&str> = allowed.split('"').skip(1).step_by(2).collect();
        assert_eq!(names, ALLOWED);
        let (_, rest) = rest.split_once("exceptions = [\n").unwrap();
        let (exceptions, _) = rest.split_once("\n]").unwrap();
        let names: Vec<&str> = exceptions.split('"').skip(1).step_by(2).collect();
        let expected = ALLOWED_FOR
            .iter()
            .flat_map(|&(package, also, _)| [package, also]);
        assert_eq!(names, expected.collect::<Vec<_>>());
    }

    #[test]
    fn expressions_are_evaluated() {
        let allowed = |name: &str| ["A", "B", "B WITH x"].contains(&name);
        let check = |license: &str, expected: bool| {
            assert_eq!(is_acceptable(license, &allowed), Ok(expected), "{license}");
        };
        check("A", true);
        check("C", false);
        check("A OR C", true);
        check("C OR A", true);
        check("C/A", true);
        check("A AND C", false);
        check("A AND B", true);
        check("(A OR C) AND B", true);
        check("(A OR C) AND C", false);
        // AND binds tighter: this is A OR (C AND C).
        check("A OR C AND C", true);
        check("C AND C OR A", true);
        check("((A))AND(B)", true);
        check("B WITH x", true);
        check("A WITH x", false);
        check("A WITH x OR B", true);
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        let check = |license: &str| {
            assert!(is_acceptable(license, &|_| true).is_err(), "{license}");
        };
        check("");
        check("A OR");
        check("AND A");
        check("(A");
        check("A)");
        check("A B");
        check("A WITH");
        check(&"(".repeat(100_000));
    }

    #[test]
    fn a_complaint_names_package_and_licence() {
        assert_eq!(
            complaint("good", "1.0.0", Some("MIT OR GPL-3.0-only"), false),
            None
        );
        let text = complaint("bad", "1.2.3", Some("GPL-3.0-only"), false).unwrap_or_default();
        assert!(
            text.starts_with("bad 1.2.3: licence `GPL-3.0-only` is not on the list"),
            "{text}"
        );
        let text = complaint("silent", "1.0.0", None, true).unwrap_or_default();
        assert!(
            text.contains("states no licence but has a licence file"),
            "{text}"
        );
    }

    #[test]
    fn exceptions_hold_for_their_package_alone() {
        let license = Some("(MIT OR Apache-2.0) AND NCSA");
        assert_eq!(complaint("libfuzzer-sys", "0.4.13", license, false), None);
        assert!(complaint("other", "0.4.13", license, false).is_some());
    }
}
