//! The command line of Covey.
fn main() {}
