//! Covey with the arms that come with it.

fn main() -> std::process::ExitCode {
    covey::main_with(covey::Arms::builtin())
}
