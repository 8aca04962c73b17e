//! The host rule's scenes: who holds office from when on.
//!
//! Vehicles drive along the row of tiles through y = 250 m, beacon every 200 ms and apply the rule every 200 ms, 50 ms later;
//! whoever holds office then broadcasts. The centre of the first tile is at 250 m.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use covey_protocol::office::{Claim, Inheritance, Neighbourhood, OfficeRule, Standing, Watch};
use covey_protocol::parameters::Handover;
use covey_protocol::{AgentId, Duration, Instant, Parameters, Position, Tile};

/// Letter, soft state: what is older is forgotten.
const SOFT_STATE: Duration = Duration::from_millis(1_000);

#[derive(Default)]
struct Vehicle {
    id: u64,
    /// Where it is at the beginning, in metres, and how fast it goes, in m/s.
    x: f64,
    speed: f64,
    /// It is there from this time on, in ms, and where it is not 0 until that.
    on: i64,
    off: i64,
    /// It beacons, but knows nothing of hosts.
    plain: bool,
    /// From this time on, where it is not 0, its broadcasts are lost.
    unheard: i64,
    office: Option<(Tile, Instant)>,
    watch: Watch,
    heard: Heard,
}

/// What it heard of others.
#[derive(Default)]
struct Heard {
    now: Instant,
    beacons: BTreeMap<AgentId, (Position, Instant)>,
    claims: BTreeMap<Tile, Claim>,
}

impl Neighbourhood for Heard {
    fn claim(&self, tile: Tile) -> Option<Claim> {
        let claim = self.claims.get(&tile).copied();
        claim.filter(|claim| self.now.since(claim.at) <= SOFT_STATE)
    }

    fn beaconed_since(&self, host: AgentId, since: Instant, _: Tile) -> Option<Position> {
        let &(position, at) = self.beacons.get(&host)?;
        (at > since).then_some(position)
    }

    fn last_word(&self, tile: Tile, host: AgentId) -> Option<Instant> {
        let claim = self.claims.get(&tile).filter(|claim| claim.host == host);
        claim.map(|claim| claim.at)
    }

    fn beacons_since(&self, agent: AgentId, since: Instant) -> u32 {
        // Only the newest is kept; too few for anybody to be called silent.
        let newest = self.beacons.get(&agent);
        u32::from(newest.is_some_and(|&(_, at)| at > since))
    }

    fn any_other(&self, _: Tile, _: f64, mut found: impl FnMut(AgentId, Position) -> bool) -> bool {
        let fresh = |at: Instant| self.now.since(at) <= SOFT_STATE;
        let mut beacons = self.beacons.iter();
        beacons.any(|(&id, &(position, at))| fresh(at) && found(id, position))
    }
}

impl Vehicle {
    fn at(id: u64, x: f64) -> Self {
        Self {
            id,
            x,
            ..Self::default()
        }
    }

    fn is_there(&self, ms: i64) -> bool {
        ms >= self.on && (self.off == 0 || ms < self.off)
    }

    fn position(&self, ms: i64) -> Position {
        Position::new(self.x + self.speed * ms as f64 / 1e3, 250.0)
    }

    fn claim(&self, ms: i64) -> Option<(Tile, Claim)> {
        let (tile, since) = self.office?;
        let at = Instant::from_millis(ms);
        let claim = Claim {
            host: AgentId(self.id),
            at,
            position: self.position(ms),
            tenure: at.since(since),
            inheritance: Inheritance::default(),
        };
        Some((tile, claim))
    }
}

struct Scene {
    name: &'static str,
    handover: Option<Handover>,
    vehicles: Vec<Vehicle>,
    /// Nobody hears anybody before this time, in ms.
    apart_until: i64,
    seconds: i64,
}

impl Scene {
    fn new(name: &'static str, seconds: i64, vehicles: Vec<Vehicle>) -> Self {
        Self {
            name,
            handover: None,
            vehicles,
            apart_until: 0,
            seconds,
        }
    }

    /// A line for each time at which somebody else holds office.
    fn play(mut self) -> String {
        let rule = OfficeRule::new(&Parameters {
            handover: self.handover,
            ..Parameters::default()
        });
        let mut out = format!("{}\n", self.name);
        let mut before = None;
        for ms in (150..=self.seconds * 1_000).step_by(200) {
            self.beacon(ms - 50);
            self.elect(&rule, ms);
            self.broadcast(&rule, ms);
            let hosts = self.hosts(ms);
            if before.as_ref() != Some(&hosts) {
                let there = self.vehicles.iter().filter(|v| v.is_there(ms));
                let places = there.map(|v| format!("{} at {:.0} m", v.id, v.position(ms).x));
                let places = places.collect::<Vec<_>>().join(", ");
                let _ = writeln!(out, "  {:>5.2} s  {hosts:<26} {places}", ms as f64 / 1e3);
                before = Some(hosts);
            }
        }
        out
    }

    fn hosts(&self, ms: i64) -> String {
        let there = self.vehicles.iter().filter(|v| v.is_there(ms));
        let hosts = there.filter_map(|v| Some((v.office?.0, v.id)));
        let hosts = hosts.map(|(tile, id)| format!("{id} hosts tile {}", tile.tx));
        match hosts.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "nobody".to_string(),
            some => some,
        }
    }

    fn beacon(&mut self, ms: i64) {
        let there = self.vehicles.iter().filter(|v| v.is_there(ms));
        let sent: Vec<_> = there.map(|v| (v.id, v.position(ms))).collect();
        for vehicle in self.vehicles.iter_mut().filter(|v| v.is_there(ms)) {
            for &(id, position) in &sent {
                if id != vehicle.id && ms >= self.apart_until {
                    let beacon = (position, Instant::from_millis(ms));
                    vehicle.heard.beacons.insert(AgentId(id), beacon);
                }
            }
        }
    }

    fn elect(&mut self, rule: &OfficeRule, ms: i64) {
        let now = Instant::from_millis(ms);
        for vehicle in &mut self.vehicles {
            if vehicle.plain || !vehicle.is_there(ms) {
                continue;
            }
            vehicle.heard.now = now;
            let standing = Standing {
                id: AgentId(vehicle.id),
                position: vehicle.position(ms),
                listening_since: Instant::from_millis(vehicle.on),
                office: vehicle.office.map(|(tile, _)| tile),
            };
            let election = rule.elect(now, &standing, &mut vehicle.watch, &vehicle.heard);
            if election.leaves {
                vehicle.office = None;
            }
            if let Some(tile) = election.takes {
                vehicle.office = Some((tile, now));
            }
        }
    }

    fn broadcast(&mut self, rule: &OfficeRule, ms: i64) {
        for from in 0..self.vehicles.len() {
            let sender = &self.vehicles[from];
            let heard = sender.unheard == 0 || ms < sender.unheard;
            if !sender.is_there(ms) || !heard || ms < self.apart_until {
                continue;
            }
            let Some((tile, theirs)) = sender.claim(ms) else {
                continue;
            };
            for (to, vehicle) in self.vehicles.iter_mut().enumerate() {
                if to == from {
                    continue;
                }
                vehicle.heard.claims.insert(tile, theirs);
                if let Some((own, mine)) = vehicle.claim(ms)
                    && own == tile
                    && rule.yields(tile, &mine, &theirs)
                {
                    vehicle.office = None;
                }
            }
        }
    }
}

/// A tile without host gets one.
fn vacancies() -> Vec<Scene> {
    vec![
        Scene::new(
            "an empty tile: the first that comes listens for the soft-state time",
            3,
            vec![Vehicle {
                on: 600,
                ..Vehicle::at(1, 450.0)
            }],
        ),
        Scene::new(
            "the nearest to the centre takes office, the others never do",
            6,
            vec![
                Vehicle::at(1, 100.0),
                Vehicle::at(2, 240.0),
                Vehicle::at(3, 400.0),
            ],
        ),
        Scene::new(
            "as near on both sides: the lower id",
            3,
            vec![Vehicle::at(5, 240.0), Vehicle::at(4, 260.0)],
        ),
        Scene::new(
            "the nearest knows nothing of hosts: it is passed over after another soft-state time",
            5,
            vec![
                Vehicle::at(1, 400.0),
                Vehicle {
                    plain: true,
                    ..Vehicle::at(2, 250.0)
                },
            ],
        ),
    ]
}

/// A tile with a host gets another.
fn changes() -> Vec<Scene> {
    let driving = |id, x, speed| Vehicle {
        speed,
        ..Vehicle::at(id, x)
    };
    let handed_over = |name, handover| Scene {
        handover,
        ..Scene::new(
            name,
            8,
            vec![driving(1, 260.0, 20.0), driving(2, 60.0, 20.0)],
        )
    };
    vec![
        Scene {
            apart_until: 4_000,
            ..Scene::new(
                "two hosts that did not hear each other: the longer in office stays",
                6,
                vec![
                    Vehicle {
                        on: 800,
                        ..Vehicle::at(1, 250.0)
                    },
                    Vehicle::at(2, 400.0),
                ],
            )
        },
        Scene::new(
            "the host is switched off: its claim lasts for the soft-state time, then the next takes office",
            6,
            vec![
                Vehicle {
                    off: 3_000,
                    ..Vehicle::at(1, 250.0)
                },
                Vehicle::at(2, 400.0),
            ],
        ),
        Scene::new(
            "the host's broadcasts are lost, its beacons are not: it comes first until it is passed over",
            7,
            vec![
                Vehicle {
                    unheard: 3_000,
                    ..Vehicle::at(1, 250.0)
                },
                Vehicle::at(2, 400.0),
            ],
        ),
        Scene::new(
            "the host leaves the tile: the next takes office there, the host in the next tile",
            8,
            vec![driving(1, 400.0, 20.0), Vehicle::at(2, 300.0)],
        ),
        handed_over("no hand-over: a host stays while it is in its tile", None),
        handed_over(
            "hand-over: a host 100 m off gives way to one 50 m nearer",
            Some(Handover::USUAL),
        ),
    ]
}

#[test]
fn who_holds_office() {
    let told: Vec<String> = vacancies()
        .into_iter()
        .chain(changes())
        .map(Scene::play)
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}
