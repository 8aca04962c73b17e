use super::*;

/// The complaints about a crate in `x` with these files.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Sources = files
        .iter()
        .map(|(path, text)| (format!("x/src/{path}"), (*text).to_owned()))
        .collect();
    check(&sources, "x").unwrap()
}

#[test]
fn two_files_that_import_each_other_are_named_with_their_lines() {
    let complaints = found(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use std::fmt;\nuse crate::b::B;\npub struct A(B);"),
        ("b.rs", "pub struct B;\n\nfn f(_: &super::a::A) {}"),
    ]);
    assert_eq!(complaints.len(), 1);
    for part in [
        "a -> b -> a",
        "x/src/a.rs:2: a uses b: `crate::b::B`",
        "x/src/b.rs:3: b uses a: `super::a::A`",
        "a module of its own",
    ] {
        assert!(complaints[0].contains(part), "{}", complaints[0]);
    }
}

#[test]
fn a_chain_and_a_parent_with_its_children_are_in_order() {
    assert_eq!(
        found(&[
            (
                "lib.rs",
                "mod a; mod b; mod c; pub use a::A; pub struct Root(A);"
            ),
            (
                "a.rs",
                "use crate::b::{self, B}; pub struct A(B, b::Other, crate::Root);"
            ),
            (
                "b.rs",
                "mod inner; use crate::c; pub struct B(c::C); pub struct Other; use inner::I; fn f(_: I) {}"
            ),
            (
                "b/inner.rs",
                "use super::Other; pub(super) struct I(Other);"
            ),
            ("c.rs", "pub struct C; pub(super) fn f() { let a = 1; a; }"),
        ]),
        Vec::<String>::new()
    );
}

#[test]
fn what_a_parent_passes_on_counts_for_the_module_that_defines_it() {
    for text in [
        "use crate::A; pub struct B(A);",
        "use super::A as Other; pub struct B(Other);",
        "use super::*; pub struct B(A);",
        "pub struct B(crate::A);",
        "pub struct B; fn f() -> u32 { use super::*; make() }",
        "pub struct B; fn f(n: u32) -> bool { use super::*; matches!(n, MOST) }",
        "pub struct B; fn f() { assert!(crate::a::make() > 0); }",
    ] {
        let complaints = found(&[
            ("main.rs", "mod a; mod b; use a::{A, make, MOST};"),
            (
                "a.rs",
                "pub struct A; pub const MOST: u32 = 1; pub fn make() -> u32 { 1 } fn f(_: crate::b::B) {}",
            ),
            ("b.rs", text),
        ]);
        assert_eq!(complaints.len(), 1, "{text}");
    }
}

#[test]
fn deep_modules_count_for_the_branch_they_are_on() {
    let complaints = found(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub mod deep;"),
        (
            "a/deep/mod.rs",
            "pub fn f() { crate::b::low::g() } pub fn h() {}",
        ),
        (
            "b.rs",
            "pub mod low { pub fn g() {} pub fn k() { crate::a::deep::h() } }",
        ),
    ]);
    assert_eq!(complaints.len(), 1);
    assert!(complaints[0].contains("a -> b -> a"), "{}", complaints[0]);
    // Below one parent, too.
    let complaints = found(&[
        ("lib.rs", "mod a;"),
        (
            "a.rs",
            "mod one { use super::two::T; pub struct O(T); } mod two { pub struct T; type X = super::one::O; }",
        ),
    ]);
    assert!(
        complaints[0].contains("a::one -> a::two -> a::one"),
        "{complaints:?}"
    );
}

#[test]
fn tests_variables_fields_and_visibility_name_nothing() {
    assert_eq!(
        found(&[
            ("lib.rs", "mod a; mod b; use a::A; use b::draw;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            (
                "b.rs",
                "pub struct B; pub(in crate::a) struct P; pub fn draw() {}\n\
                 #[cfg(test)] mod tests { use crate::a::A; }\n\
                 #[cfg(test)] use crate::a::A;\n\
                 #[cfg(all(test, unix))] mod more;\n\
                 impl B { #[cfg(test)] fn f(_: crate::a::A) {} }\n\
                 fn g(x: ::a::A) { let a = x.a; println!(\"{}\", a.a); }",
            ),
            ("bin/tool.rs", "mod a { pub struct X; } fn main() { a::X; }"),
        ]),
        Vec::<String>::new()
    );
}

#[test]
fn a_larger_knot_is_told_by_its_shortest_circle() {
    let complaints = found(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "use crate::c::C; pub struct B(C);"),
        (
            "c.rs",
            "pub struct C; use crate::{a::A, b::B}; fn f(_: A, _: B) {}",
        ),
    ]);
    assert_eq!(complaints.len(), 1);
    assert!(
        complaints[0].contains("b -> c -> b (the shortest way round; 3 modules are in it)"),
        "{complaints:?}"
    );
}

#[test]
fn imports_that_chase_each_other_end() {
    assert_eq!(
        found(&[
            ("lib.rs", "mod a; mod b; pub use b::*; pub use a::*;"),
            ("a.rs", "pub use super::*; fn f(_: Missing) {}"),
            ("b.rs", "pub use b::b; pub use c::c; use other as c;"),
        ]),
        Vec::<String>::new()
    );
}

#[test]
fn broken_sources_are_errors_with_their_place() {
    let error = |files: &[(&str, &str)]| {
        let sources = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        check(&sources, "x").unwrap_err()
    };
    let missing = error(&[("x/src/lib.rs", "\nmod a;")]);
    assert_eq!(missing, "x/src/lib.rs:2: module `a` has no file");
    let broken = error(&[("x/src/lib.rs", "fn f(\n")]);
    assert!(broken.starts_with("x/src/lib.rs:"), "{broken}");
}
