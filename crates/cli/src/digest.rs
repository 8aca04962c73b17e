//! `covey digest`: cells to bytes and back.

use std::path::Path;

use clap::{Args, Subcommand};
use covey_protocol::{Cell, CoverageDigest};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, print, read_text};
use crate::hex;

/// Turn a set of visible cells into a coverage digest, or back
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    echo '{\"cells\":[[3,-2],[4,-2],[5,-2]]}' | covey digest encode\n  \
    echo c50100000003fffffffe000303 | covey digest decode")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    way: Way,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum Way {
    /// Reads cells, writes hex.
    #[command(about = "JSON {\"cells\":[[ix,iy],...]} on standard input to hex on standard output")]
    #[command(
        after_help = "Examples:\n  echo '{\"cells\":[[3,-2],[4,-2],[5,-2]]}' | covey digest encode"
    )]
    Encode,
    /// Reads hex, writes cells.
    #[command(
        about = "Hex on standard input to JSON {\"cells\":[[ix,iy],...]} on standard output, in scan order"
    )]
    #[command(after_help = "Examples:\n  echo c50100000003fffffffe000303 | covey digest decode")]
    Decode,
}

#[derive(Debug, Serialize, Deserialize)]
struct Cells {
    cells: Vec<(i32, i32)>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (name, text) = read_text(Path::new("-"))?;
    match arguments.way {
        Way::Encode => {
            let input: Cells = serde_json::from_str(&text).map_err(|error| {
                Failure::input(
                    &name,
                    format!("{error}; expected {{\"cells\":[[ix,iy],…]}}"),
                )
            })?;
            let cells = input.cells.iter().map(|&(ix, iy)| Cell::new(ix, iy));
            let digest = CoverageDigest::new(cells.collect())
                .map_err(|error| Failure::input(format!("{name}: cells"), error))?;
            print(&format!("{}\n", hex::text(&digest.encode())))
        }
        Way::Decode => {
            let bytes = hex::parse(&text).map_err(|problem| Failure::input(&name, problem))?;
            let digest =
                CoverageDigest::decode(&bytes).map_err(|error| Failure::input(&name, error))?;
            let cells = digest.cells().iter().map(|cell| (cell.ix, cell.iy));
            let output = Cells {
                cells: cells.collect(),
            };
            let json = serde_json::to_string(&output)
                .map_err(|error| Failure::Other(error.to_string()))?;
            print(&format!("{json}\n"))
        }
    }
}
