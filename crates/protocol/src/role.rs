//! The two verbs: what comes in, what goes out.
//!
//! A [`Participant`](crate::Participant), and the [`Host`](crate::host::Host) and [`Listener`](crate::listener::Listener) inside
//! it, have `handle_input(now, input)` and `poll_output() -> Option<Output>`. The caller's loop is always the same:
//!
//! ```text
//! loop {
//!     while let Some(output) = role.poll_output() {
//!         match output { Transmit(message) => send it, Event(event) => note it, WakeAt(t) => set the timer }
//!     }
//!     wait for a message, a sensor frame or the timer; role.handle_input(now, ...)
//! }
//! ```
//!
//! `poll_output` never changes what a later `handle_input` does: outputs may be drained late or, events, not at all. Time
//! should not run backwards from call to call; a call with a slightly earlier `now` is taken as happening at the latest time seen.
//! A participant whose clock is set back by more than that, or forward by more than the soft-state time, forgets what it heard and
//! goes on from the new time as if it had just been switched on ([`Event::ClockJumped`]).

use crate::admission::Decision;
use crate::grid::{Cell, Tile};
use crate::ids::{AgentId, ObjectId};
use crate::messages::{AgentState, Beacon, Broadcast, Message, ObjectState, Report};
use crate::time::{Duration, Instant};

/// Something that happened. A role passes over what does not concern it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Input<'a> {
    /// Nothing but the passing of time.
    Tick,
    /// The own vehicle's state.
    Moved(&'a AgentState),
    /// What the own sensors see: objects, and the cells in view.
    Sensed {
        /// Objects, with the time of sensing.
        objects: &'a [ObjectState],
        /// Visible cells, in any order.
        cells: &'a [Cell],
    },
    /// A beacon was decoded.
    Beacon(&'a Beacon),
    /// A report was decoded.
    Report(&'a Report),
    /// A broadcast was decoded.
    Broadcast(&'a Broadcast),
    /// Cooperative occupancy of the own tile over the last cycle, mandatory beacons left out, as a share of capacity. Given
    /// once per beacon interval.
    Occupancy(f64),
}

/// Something for the caller to do or to note.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// Send this to everyone in range.
    Transmit(Message),
    /// Nothing to do: something happened that a log or a test may want to know.
    Event(Event),
    /// Call `handle_input(now, Input::Tick)` at this time, or earlier.
    WakeAt(Instant),
}

/// What a role has to tell about itself.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The host decided: what, and why.
    Decided(Decision),
    /// The host dropped a contributor that left its footprint or fell silent.
    Dropped(AgentId),
    /// This participant became the host of a tile.
    TookOffice(Tile),
    /// This participant is no longer the host of a tile.
    LeftOffice(Tile),
    /// A host asks this participant to report.
    Admitted {
        /// The host whose broadcast names this participant.
        host: AgentId,
    },
    /// No host asks this participant to report any longer: removed, or the last lease ran out.
    Released,
    /// An object became known.
    Appeared(ObjectId),
    /// An object is no longer known: nothing new of it within the soft-state time.
    Expired(ObjectId),
    /// The visible cells do not fit into a digest; the beacon goes without.
    DigestTooLarge,
    /// The own clock was set back, or forward by more than the soft-state time: what was heard before is forgotten.
    ClockJumped {
        /// By how much it is ahead of where it was; negative if it was set back.
        by: Duration,
    },
}
