//! Who stands where: for each track the vehicles whose bodies touch it, front to back.

use super::roads::{NONE, Roads};
use super::vehicle::Vehicle;

/// One vehicle on one track, in the track's coordinates. The front may lie beyond the track's end and the back before its
/// beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Front bumper, m.
    pub(crate) front: f64,
    /// Rear bumper, m.
    pub(crate) back: f64,
    pub(crate) vehicle: u32,
}

/// All vehicles on all tracks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occupancy {
    /// Where each track's entries begin.
    starts: Vec<u32>,
    entries: Vec<Entry>,
    /// Each vehicle's place in `entries` on the track of its front.
    slots: Vec<u32>,
    /// Vehicles in the order of the last build, so that each build sorts almost sorted lists.
    order: Vec<u32>,
    scratch: Vec<(u32, Entry)>,
    cursor: Vec<u32>,
}

impl Occupancy {
    /// Builds all lists anew.
    pub(crate) fn build(&mut self, roads: &Roads, vehicles: &[Vehicle]) {
        let tracks = roads.tracks.len();
        if self.order.len() != vehicles.len() {
            self.order = (0..vehicles.len() as u32).collect();
            self.slots = vec![0; vehicles.len()];
        }
        self.scratch.clear();
        self.cursor.clear();
        self.cursor.resize(tracks + 1, 0);
        for &i in &self.order {
            let vehicle = &vehicles[i as usize];
            let length = vehicle.length();
            let mut add = |track: u32, front: f64| {
                self.cursor[track as usize + 1] += 1;
                self.scratch.push((
                    track,
                    Entry {
                        front,
                        back: front - length,
                        vehicle: i,
                    },
                ));
            };
            add(vehicle.track, vehicle.position);
            let mut front = vehicle.position;
            for &track in vehicle.trail.as_slice() {
                front += roads.length(track);
                add(track, front);
            }
            if vehicle.shadow != NONE
                && let Some(front) = shadow_front(roads, vehicle)
            {
                add(vehicle.shadow, front);
            }
        }
        for t in 0..tracks {
            self.cursor[t + 1] += self.cursor[t];
        }
        self.starts.clone_from(&self.cursor);
        self.entries.resize(
            self.scratch.len(),
            Entry {
                front: 0.0,
                back: 0.0,
                vehicle: NONE,
            },
        );
        for &(track, entry) in &self.scratch {
            let place = &mut self.cursor[track as usize];
            let first = self.starts[track as usize] as usize;
            // Insertion from the back; ties by id, so that the order never depends on history.
            let mut at = *place as usize;
            while at > first {
                let before = self.entries[at - 1];
                let behind = before.front < entry.front
                    || (before.front == entry.front && before.vehicle > entry.vehicle);
                if !behind {
                    break;
                }
                self.entries[at] = before;
                at -= 1;
            }
            self.entries[at] = entry;
            *place += 1;
        }
        self.order.clear();
        for t in 0..tracks {
            for at in self.starts[t]..self.starts[t + 1] {
                let Entry {
                    front, vehicle: i, ..
                } = self.entries[at as usize];
                let vehicle = &vehicles[i as usize];
                // A vehicle longer than a ring of tracks has entries of its own tail on the track of its front.
                if vehicle.track as usize == t && front == vehicle.position {
                    self.slots[i as usize] = at;
                    self.order.push(i);
                }
            }
        }
    }

    /// The entries of a track, front to back.
    pub(crate) fn on(&self, track: u32) -> &[Entry] {
        let t = track as usize;
        &self.entries[self.starts[t] as usize..self.starts[t + 1] as usize]
    }

    /// The entry ahead of a vehicle on the track of its front.
    pub(crate) fn ahead(&self, vehicle: u32, track: u32) -> Option<&Entry> {
        let slot = self.slots[vehicle as usize] as usize;
        self.entries[self.starts[track as usize] as usize..slot]
            .iter()
            .rfind(|entry| entry.vehicle != vehicle)
    }

    /// The entry of anybody but `vehicle` ahead of a place on a track.
    pub(crate) fn ahead_of(&self, track: u32, place: f64, vehicle: u32) -> Option<&Entry> {
        let entries = self.on(track);
        let behind = entries.partition_point(|e| e.front > place);
        entries[..behind].iter().rfind(|e| e.vehicle != vehicle)
    }

    /// The last entry of a track.
    pub(crate) fn last(&self, track: u32) -> Option<&Entry> {
        self.on(track).last()
    }
}

/// Where the front of a vehicle that changes lanes lies on the lane it leaves; none once it has left it behind.
pub(crate) fn shadow_front(roads: &Roads, vehicle: &Vehicle) -> Option<f64> {
    let old = &roads.tracks[vehicle.shadow as usize];
    let street = old.lane()?.street;
    let on_street = |track: u32| roads.lane(track).is_some_and(|l| l.street == street);
    if on_street(vehicle.track) {
        let new = roads.length(vehicle.track);
        return Some(vehicle.position * old.length / new);
    }
    let mut beyond = vehicle.position;
    for &track in vehicle.trail.as_slice() {
        if on_street(track) {
            return Some(old.length + beyond);
        }
        beyond += roads.length(track);
    }
    None
}
