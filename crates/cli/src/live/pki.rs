//! `covey pki`: keys and certificates for tests.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use covey_its::ItsTime;
use covey_node::secure::certificate::{AID_CAM, AID_CPM, hex};
use covey_node::secure::pki::{self, PkiError};

use crate::failure::{Failure, print};

/// Make keys and certificates for tests of signed frames
///
/// A root, an authorisation authority below it, and tickets with which nodes sign (TS 103 097). For tests alone: keys lie in files, and
/// there is neither enrolment nor revocation.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey pki init pki\n  \
    covey pki tickets pki --count 20 --out tickets\n  \
    covey pki show pki/authority.cert")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a root and an authority
    #[command(after_help = "Examples:\n  covey pki init pki")]
    Init {
        /// The folder, which is made
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Make tickets
    #[command(
        after_help = "Examples:\n  covey pki tickets pki --count 20 --hours 168 --out tickets"
    )]
    Tickets {
        /// The folder of root and authority
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1_000))]
        count: u16,
        /// For how long they are valid
        #[arg(long, value_name = "H", default_value_t = 168, value_parser = clap::value_parser!(u16).range(1..))]
        hours: u16,
        /// From how many hours from now on; may be negative
        #[arg(
            long,
            value_name = "H",
            default_value_t = 0,
            allow_negative_numbers = true
        )]
        start: i64,
        /// Where they go
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Say what a certificate is
    #[command(after_help = "Examples:\n  covey pki show pki/root.cert")]
    Show {
        /// A file that ends in .cert
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

fn failure(error: PkiError) -> Failure {
    Failure::Input(error.to_string())
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let list = |paths: &[PathBuf]| -> String {
        paths
            .iter()
            .map(|path| format!("{}\n", path.display()))
            .collect()
    };
    match &arguments.command {
        Command::Init { folder } => print(&list(&pki::make_authorities(folder).map_err(failure)?)),
        Command::Tickets {
            folder,
            count,
            hours,
            start,
            out,
        } => {
            let made = pki::make_tickets(folder, out, usize::from(*count), *hours, *start);
            print(&list(&made.map_err(failure)?))
        }
        Command::Show { file } => {
            let known = pki::read_certificate(file).map_err(failure)?;
            let seconds =
                |us: i64| ItsTime((us.max(0) / 1_000) as u64).to_unix_micros() / 1_000_000;
            let role = match (known.issues(), known.issuer()) {
                (true, None) => "root",
                (true, Some(_)) => "authority",
                (false, _) => "ticket",
            };
            let may: Vec<&str> = [(AID_CAM, "CAM"), (AID_CPM, "CPM")]
                .into_iter()
                .filter(|&(aid, _)| known.permits(aid))
                .map(|(_, name)| name)
                .collect();
            print(&format!(
                "{role} {}\nname: {}\nissuer: {}\nvalid: {} to {} (Unix time)\nsigns: {}\nbytes: {}\n",
                hex(&known.digest()),
                known.name(),
                known
                    .issuer()
                    .map_or("itself".to_string(), |issuer| hex(&issuer)),
                seconds(known.valid_us.0),
                seconds(known.valid_us.1),
                may.join(", "),
                known.bytes.len(),
            ))
        }
    }
}
