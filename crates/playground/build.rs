//! In a web page one call follows the other in the same memory: after `_start`, which may be called but once, the page calls what that calls.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-bins=--export=__main_void");
    }
}
