//! What hosts can choose by besides the protocol's own policies: chance, and rivals from the field.

mod auto_cast;
mod choices;
mod maximum_coverage;
mod ordered;
mod random;

pub(crate) use auto_cast::AutoCast;
pub(crate) use maximum_coverage::MaximumCoverage;
pub(crate) use ordered::{Order, Ordered};
pub(crate) use random::{Lottery, RandomChoice};
