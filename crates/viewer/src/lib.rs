//! The viewer: a page that shows a recorded run, and the server that gives it to a browser.
//!
//! [`Server`] binds to the loopback address only and answers GET requests for three kinds of things: the web app (embedded in
//! the binary), blocks of the recordings it was given, and host decisions, which it makes again from the recorded snapshot with
//! the code that hosts run. A request names recordings by number, never by path, so nothing else can be reached.
//! With a [`Live`] it shows a run that is under way, and holds it where it is told to. The [playground](PLAYGROUND) is served besides.
//! [`write_mcap`] writes a recording as MCAP, which Foxglove opens.

mod api;
mod assets;
mod http;
mod live;
mod mcap_export;
mod mcap_file;
mod server;

pub use api::Library;
pub use live::{Live, Pace};
pub use mcap_export::{McapError, write_mcap};
pub use server::{Server, ServerError, Serving};

/// Where the playground is served, below the server's address.
pub const PLAYGROUND: &str = "playground/";
