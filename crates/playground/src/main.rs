//! A scene from standard input, the answer to standard output: what WebAssembly calls for want of anything else in common.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut request = String::new();
    std::io::stdin().read_to_string(&mut request)?;
    let mut out = std::io::stdout();
    out.write_all(covey_playground::answer(&request).as_bytes())?;
    out.flush()
}
