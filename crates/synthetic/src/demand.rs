//! Choice by demand, made up.

use covey_protocol::demand::select::{
    DemandCandidate, DemandListener, DemandProblem, Need, Object, Selection,
};
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::grid::Position;
use covey_protocol::link::LinkQuality;
use covey_protocol::{AgentId, ObjectId};
use covey_simulator::recording::{DemandDecision, HostDecision, OwnSight, Relevant, Track};
use covey_world::VehicleState;

use crate::road::{SIGHT, TILE, equipped, hash, share};

/// What the host of a decision would choose by demand: the relevant pairs around it are the needs.
pub(crate) fn demand(
    decision: &HostDecision,
    vehicles: &[VehicleState],
    pairs: &[Relevant],
) -> DemandDecision {
    let host = decision.snapshot.host;
    let at = |id: u64| {
        let place = vehicles[id as usize].position;
        Position::new(place.x, place.y)
    };
    let mut ids: Vec<u64> = decision.snapshot.agents.iter().map(|a| a.id.0).collect();
    ids.push(host.0);
    ids.sort_unstable();
    let near: Vec<&Relevant> = pairs
        .iter()
        .filter(|pair| ids.binary_search(&u64::from(pair.vehicle)).is_ok())
        .filter(|pair| pair.sight != OwnSight::Visible)
        .collect();
    let mut wanted: Vec<u64> = near.iter().map(|pair| u64::from(pair.object)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let number = |ids: &[u64], id: u32| ids.binary_search(&u64::from(id)).unwrap_or(0) as u32;
    let mut needs: Vec<Need> = near
        .iter()
        .map(|pair| {
            let key = [12, u64::from(pair.vehicle), u64::from(pair.object)];
            Need {
                listener: number(&ids, pair.vehicle),
                object: number(&wanted, pair.object),
                now: share(&key),
                next: share(&key).max(0.5),
            }
        })
        .collect();
    needs.sort_by_key(|need| (need.object, need.listener));
    let objects = wanted.iter().map(|&id| Object {
        id: ObjectId(id),
        silent: !equipped(id as u32),
        repeat_bytes: (!hash(&[13, id]).is_multiple_of(3)).then_some(35.0),
    });
    let candidates = ids.iter().filter(|&&id| id != host.0).map(|&id| {
        let views = (0u32..).zip(&wanted);
        let views = views.filter(|&(_, &o)| o != id && at(o).distance(at(id)) < SIGHT / 2.0);
        DemandCandidate {
            id: AgentId(id),
            position: at(id),
            command: 0.9,
            bonus: 0.1 * (hash(&[14, id]) % 4) as f64,
            extra_bytes: 0.0,
            views: views
                .map(|(k, &o)| (k, 0.5 + 0.5 * share(&[15, id, o])))
                .collect(),
        }
    });
    let problem = DemandProblem {
        budget_bytes: decision.snapshot.rules.allowance * 48_400.0,
        base_bytes: 121.0,
        report_bytes: 160.0,
        object_bytes: 35.0,
        requested_bytes: 3.0,
        threshold: 0.3,
        least_gain: 0.02,
        request_factor: Some(3.0),
        host: at(host.0),
        links: LinkQuality::fixed(&[0.97, 0.95, 0.9, 0.85, 0.75, 0.6]),
        listeners: ids
            .iter()
            .map(|&id| DemandListener {
                id: AgentId(id),
                position: at(id),
            })
            .collect(),
        objects: objects.collect(),
        needs,
        candidates: candidates.collect(),
    };
    let chosen = Selection::choose(&problem);
    DemandDecision {
        tile: decision.tile,
        snapshot: DemandSnapshot { host, problem },
        picks: chosen.picks.iter().map(|picked| picked.pick).collect(),
        tracks: tracks(&wanted, at),
    }
}

/// Where the objects are, in the grid's plane.
fn tracks(wanted: &[u64], at: impl Fn(u64) -> Position) -> Vec<Track> {
    let track = |(object, &id): (u32, &u64)| Track {
        object,
        x_cm: (at(id).x * 100.0) as i32,
        y_cm: ((at(id).y + TILE / 2.0) * 100.0) as i32,
        heading: 0,
        length_cm: 450,
        width_cm: 180,
        age_ms: 100,
    };
    (0u32..).zip(wanted).map(track).collect()
}
