//! Where things are and who sees what.
//!
//! The ground truth of every run: the road network and the buildings ([`network`], [`Building`]), the moving
//! boxes ([`scene`]), who sees whom, and what lies on a conflict course. It knows nothing of equipment or messages.
//!
//! All positions are metres in the map's own plane (x east, y north before any grid rotation); headings are radians,
//! counter-clockwise from +x; time is integer microseconds.

pub mod geometry;
pub mod grid;
pub mod map_error;
pub mod map_file;
pub mod net_xml;
pub mod network;
pub mod paths;
pub mod points;
pub mod polygons;
pub mod projection;
pub mod scene;
mod shorten;
pub mod sight;
pub mod xml;

pub use geometry::{Point, Polyline};
pub use grid::GridFrame;
pub use map_error::{MapError, WarningKind, Warnings};
pub use map_file::MapOptions;
pub use network::{Building, Map, Network};
pub use projection::{LonLat, Projection};
pub use scene::{Body, Frame, VehicleId, VehicleState};
pub use sight::Sight;
