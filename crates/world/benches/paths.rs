//! Cost of relevance and of the risk prior.
fn main() {}
