//! Traffic whose places are those that messages tell.

use covey_protocol::Position;
use covey_simulator::{MapReference, Prepared};
use covey_traffic::Source;
use covey_world::{Frame, GridFrame, Point, VehicleId};

use super::DriveError;
use crate::station::as_beaconed;

/// A source with every vehicle moved by some millimetres, to where its beacons say that it is. Nodes know of others what messages
/// tell, a participant of the simulator the place itself: where two are equally near to the centre of a tile, who hosts it would
/// hang on the rounding. In a world of such places both reckon with the same numbers.
#[derive(Debug)]
pub struct AsTold<S> {
    source: S,
    reference: MapReference,
    grid: GridFrame,
}

impl<S> AsTold<S> {
    /// Over the map of `prepared`.
    ///
    /// # Errors
    /// The map's projection is not understood, or the grid is none.
    pub fn new(source: S, prepared: &Prepared) -> Result<Self, DriveError> {
        let scenario = &prepared.scenario;
        let origin = Point::new(scenario.grid.origin_x_m, scenario.grid.origin_y_m);
        let azimuth = scenario.grid.azimuth_deg.to_radians();
        let grid = GridFrame::new(origin, azimuth, scenario.protocol.cell_m)
            .ok_or_else(|| DriveError::Input("grid: not a grid".to_string()))?;
        Ok(Self {
            source,
            reference: MapReference::of(scenario, &prepared.map)
                .map_err(|error| DriveError::Input(error.to_string()))?,
            grid,
        })
    }
}

impl<S: Source> Source for AsTold<S> {
    type Error = S::Error;

    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, Self::Error> {
        let more = self.source.next_frame(frame)?;
        for vehicle in &mut frame.vehicles {
            let state = self.reference.agent_state(vehicle);
            let Position { x, y } = as_beaconed(&self.reference, &state).position;
            vehicle.position = self.grid.to_map(Point::new(x, y));
        }
        Ok(more)
    }

    fn vehicle_name(&self, id: VehicleId) -> Option<&str> {
        self.source.vehicle_name(id)
    }

    fn vehicle_type(&self, id: VehicleId) -> Option<&str> {
        self.source.vehicle_type(id)
    }
}
