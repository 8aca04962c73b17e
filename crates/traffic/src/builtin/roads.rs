//! The network as vehicles drive on it: tracks.
//!
//! A track is a lane, or a stretch of a connection inside a junction. A connection that runs over two or more internal
//! lanes has a place to wait inside the junction and makes two tracks; any other makes one. The waiting place is the end of the
//! first internal lane, or as much before it as is needed to be out of the way of those who go first. Tracks are
//! measured by the arc length of their shapes, so that gaps are what the eye sees; [`Track::report`] turns positions into
//! SUMO's lane positions.
//!
//! Vehicles enter a lane's successor through a gate: the beginning of each track inside a junction. Who may pass a gate is
//! settled in `gates`.

use super::selection::Way;
use covey_world::Polyline;
use covey_world::network::{ConnectionIx, EdgeIx, LaneIx, Turn};

/// No track, street or vehicle.
pub(crate) const NONE: u32 = u32::MAX;

/// How two tracks inside a junction get in each other's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// They cross: one waits before the zone until the other has left it.
    Cross,
    /// They end in the same lane: one follows the other.
    Merge,
    /// They begin at the same lane: one follows the other until their ways part.
    Diverge,
}

/// Where one track meets another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conflict {
    pub(crate) other: u32,
    pub(crate) meeting: Meeting,
    /// Where the zone begins on this track. For tracks from the same lane: where that lane ends, 0 or less.
    pub(crate) enter: f64,
    /// Where it ends on this track.
    pub(crate) exit: f64,
    /// Where it begins on the other, likewise.
    pub(crate) other_enter: f64,
    /// Where it ends on the other.
    pub(crate) other_exit: f64,
    /// The right-of-way table lets the other go first.
    pub(crate) yields: bool,
    /// The right-of-way table lets this one go first.
    pub(crate) other_yields: bool,
}

/// A part of a track that is one of the network's lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(super) lane: Option<LaneIx>,
    /// Where it begins on the track.
    pub(super) start: f64,
    pub(super) length: f64,
    /// Where on the lane it begins, metres of arc.
    pub(super) offset: f64,
    /// SUMO's metres per metre of arc.
    pub(super) scale: f64,
}

/// A way out of a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exit {
    /// The first track inside the junction.
    pub(crate) first: u32,
    /// The lane that it leads to.
    pub(crate) to_lane: u32,
    /// The street of that lane.
    pub(crate) to_street: u32,
}

/// What only lanes have.
#[derive(Debug, Clone)]
pub(crate) struct LaneTrack {
    /// The street it belongs to.
    pub(crate) street: u32,
    /// Ways out.
    pub(crate) exits: Vec<Exit>,
    /// The next lane towards the kerb, or [`NONE`].
    pub(crate) outer: u32,
    /// The next lane towards the middle, or [`NONE`].
    pub(crate) inner: u32,
}

/// What only tracks inside junctions have.
#[derive(Debug, Clone)]
pub(crate) struct Crossing {
    /// The connection; none for a turn back that the network does not describe.
    pub(crate) connection: Option<ConnectionIx>,
    /// The track after this one.
    pub(crate) next: u32,
    /// The lane that the connection leads to.
    pub(crate) to_lane: u32,
    /// It begins at a stop line, not inside the junction.
    pub(crate) entry: bool,
    /// The traffic light and the link in it.
    pub(crate) signal: Option<(u32, u32)>,
    pub(crate) conflicts: Vec<Conflict>,
    /// Standing on it would block others.
    pub(crate) keep_clear: bool,
    /// The track of the same way before this one, or [`NONE`].
    pub(crate) before: u32,
}

/// What a track is.
#[derive(Debug, Clone)]
pub(crate) enum TrackKind {
    /// A lane between junctions.
    Lane(LaneTrack),
    /// A way inside a junction.
    Crossing(Crossing),
}

/// A stretch of road that vehicles follow one behind the other.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    /// Arc length, m.
    pub(crate) length: f64,
    /// Speed limit, m/s.
    pub(crate) limit: f64,
    /// Centre line.
    pub(crate) shape: Polyline,
    /// Part of the main road.
    pub(crate) main: bool,
    /// Tracks that lead into its beginning.
    pub(crate) incoming: Vec<u32>,
    pub(crate) kind: TrackKind,
    pub(super) pieces: Vec<Piece>,
}

impl Track {
    /// The lane and lane position that the network knows for a place on the track.
    pub(crate) fn report(&self, position: f64) -> (Option<LaneIx>, f64) {
        let last = self.pieces.len() - 1;
        let i = self.pieces[..last]
            .iter()
            .position(|p| position < p.start + p.length)
            .unwrap_or(last);
        let piece = &self.pieces[i];
        let along = (position - piece.start).clamp(0.0, piece.length);
        (piece.lane, (piece.offset + along) * piece.scale)
    }

    /// The part of it inside a junction.
    pub(crate) fn crossing(&self) -> Option<&Crossing> {
        match &self.kind {
            TrackKind::Crossing(crossing) => Some(crossing),
            TrackKind::Lane(_) => None,
        }
    }

    /// The part of it between junctions.
    pub(crate) fn lane(&self) -> Option<&LaneTrack> {
        match &self.kind {
            TrackKind::Lane(lane) => Some(lane),
            TrackKind::Crossing(_) => None,
        }
    }
}

/// A way from one street to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Movement {
    pub(crate) to: u32,
    pub(crate) turn: Turn,
}

/// An edge that vehicles use.
#[derive(Debug, Clone)]
pub(crate) struct Street {
    pub(crate) edge: EdgeIx,
    /// Its lanes as tracks, from the kerb inwards.
    pub(crate) lanes: Vec<u32>,
    /// Part of the main road.
    pub(crate) main: bool,
    /// Where one can go at its end.
    pub(crate) movements: Vec<Movement>,
    /// Length of all its lanes together, m.
    pub(crate) lane_metres: f64,
}

/// The network as tracks.
#[derive(Debug, Clone)]
pub(crate) struct Roads {
    /// All tracks: first the lanes, then the ways inside junctions.
    pub(crate) tracks: Vec<Track>,
    /// The lengths of all tracks once more, side by side: they are asked for more often than anything else.
    pub(super) lengths: Vec<f64>,
    pub(crate) streets: Vec<Street>,
    /// Metres of main-road lanes, the straight ways over its junctions included.
    pub(crate) main_metres: f64,
    /// Metres of all other lanes, junctions not included.
    pub(crate) side_metres: f64,
    /// Edges that are left out because they lead nowhere.
    pub(crate) avoided: Vec<EdgeIx>,
}

impl Roads {
    /// The length of a track, m.
    pub(crate) fn length(&self, track: u32) -> f64 {
        self.lengths[track as usize]
    }

    /// The lane data of a track that is a lane.
    pub(crate) fn lane(&self, track: u32) -> Option<&LaneTrack> {
        self.tracks[track as usize].lane()
    }
}

/// A way over a junction before it is cut into tracks.
pub(crate) struct WayPath {
    pub(super) way: Way,
    /// Centre line.
    pub(crate) shape: Polyline,
    /// Where a vehicle may wait inside the junction, if SUMO has a place for it: the end of the first internal lane.
    pub(crate) waiting: Option<f64>,
    pub(super) pieces: Vec<Piece>,
    pub(super) limit: f64,
}

impl WayPath {
    /// The connection, if the network describes the way.
    pub(crate) fn connection(&self) -> Option<ConnectionIx> {
        self.way.connection
    }
}
