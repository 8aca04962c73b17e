//! Small scenes around one host on a straight road, each cycle with real beacons, reports and ticks.

use std::sync::{Arc, Mutex};

use covey_protocol::demand::associate::Identities;
use covey_protocol::demand::select::{DemandProblem, Selection};
use covey_protocol::demand::{Demand, DemandOptions, Draw};
use covey_protocol::host::{Host, Witness};
use covey_protocol::messages::{
    AgentState, Beacon, Broadcast, Confidence, Content, Message, ObjectState, Report, Size,
};
use covey_protocol::policy::{Explanation, View};
use covey_protocol::{
    AgentId, Duration, Input, Instant, ObjectId, Output, Parameters, Policy, Position, Profile,
    RoadMap, Tile, Velocity,
};

const CAR: Size = Size {
    length: 5.0,
    width: 2.0,
    height: 1.6,
};

/// A vehicle of a scene.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Car {
    pub(crate) id: u64,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) speed: f64,
    pub(crate) equipped: bool,
}

pub(crate) fn car(id: u64, x: f64, y: f64) -> Car {
    Car {
        id,
        x,
        y,
        speed: 5.0,
        equipped: true,
    }
}

pub(crate) fn mute(id: u64, x: f64, y: f64) -> Car {
    Car {
        equipped: false,
        ..car(id, x, y)
    }
}

pub(crate) fn state(car: &Car) -> AgentState {
    AgentState {
        position: Position::new(car.x, car.y),
        heading: 0.0,
        speed: car.speed,
        size: CAR,
    }
}

pub(crate) fn object(car: &Car, at: Instant) -> ObjectState {
    ObjectState {
        id: ObjectId(car.id),
        position: Position::new(car.x, car.y),
        velocity: Velocity::new(car.speed, 0.0),
        size: CAR,
        sensed_at: at,
        confidence: Confidence::FULL,
    }
}

/// The usual numbers with another allowance.
pub(crate) fn allowing(allowance: f64) -> Parameters {
    Parameters {
        allowance,
        ..Parameters::default()
    }
}

/// A host with the policy, and a world around it of which it learns only by messages.
pub(crate) struct Stage {
    pub(crate) host: Host,
    cars: Vec<Car>,
    pub(crate) now: Instant,
    pub(crate) broadcasts: Vec<Broadcast>,
    /// Perceived objects come under numbers that are new with every entry.
    scramble: u64,
}

impl Stage {
    pub(crate) fn new(options: DemandOptions, allowance: f64, cars: &[Car]) -> Self {
        Self::with(Profile::demand_with(allowing(allowance), options), cars)
    }

    pub(crate) fn with(profile: Profile, cars: &[Car]) -> Self {
        let (id, tile) = (AgentId(cars[0].id), Tile::new(0, 0));
        Self {
            host: Host::new(&profile, id, tile, Instant::ZERO, None),
            cars: cars.to_vec(),
            now: Instant::ZERO,
            broadcasts: Vec::new(),
            scramble: 0,
        }
    }

    /// What the host's last plan was chosen from, and what was chosen.
    pub(crate) fn explained(&self) -> (&DemandProblem, &Selection) {
        match self.host.policy().explanation() {
            Some(Explanation::Demand(problem, selection)) => (problem, selection),
            other => panic!("no plan yet: {other:?}"),
        }
    }

    /// An object as somebody saw it, under a number that tells nothing if numbers are scrambled.
    fn seen(&self, id: u64, at: Instant, by: u64) -> ObjectState {
        let car = self.cars.iter().find(|car| car.id == id).unwrap();
        let mut state = object(car, at);
        if self.scramble > 0 {
            let key = self.scramble ^ id << 40 ^ by << 20 ^ at.micros() as u64;
            state.id = ObjectId(AgentId(key).mixed());
        }
        state
    }

    /// One cycle: everyone equipped beacons; `report` says what whom is heard to report.
    pub(crate) fn cycle(&mut self, reports: &[(u64, &[u64])]) -> &Broadcast {
        let sensed = self.now + Duration::from_millis(100);
        let own = state(&self.cars[0]);
        self.host.handle_input(sensed, Input::Moved(&own));
        if let Some(beside) = self.cars.iter().find(|car| car.id == 5) {
            let seen = [self.seen(beside.id, sensed, own.position.x as u64)];
            let seen = Input::Sensed {
                objects: &seen,
                cells: &[],
            };
            self.host.handle_input(sensed, seen);
        }
        for car in self.cars[1..].iter().filter(|car| car.equipped) {
            let beacon = Beacon {
                sender: AgentId(car.id),
                at: sensed,
                state: state(car),
                digest: None,
                low_frequency: false,
            };
            self.host.handle_input(sensed, Input::Beacon(&beacon));
        }
        for &(sender, objects) in reports {
            let report = Report {
                sender: AgentId(sender),
                at: sensed,
                objects: objects
                    .iter()
                    .map(|&id| self.seen(id, sensed, sender))
                    .collect(),
                sensor_information: false,
            };
            self.host.handle_input(sensed, Input::Report(&report));
        }
        self.now = self.now + Duration::from_millis(200);
        let decision = self.now - Duration::from_millis(50);
        self.host.handle_input(decision, Input::Tick);
        while let Some(output) = self.host.poll_output() {
            if let Output::Transmit(Message::Broadcast(broadcast)) = output {
                self.broadcasts.push(broadcast);
            }
        }
        for car in &mut self.cars {
            car.x += car.speed * 0.2;
        }
        self.broadcasts.last().unwrap()
    }

    pub(crate) fn contributors(&self) -> Vec<u64> {
        self.host.contributors().iter().map(|id| id.0).collect()
    }
}

/// Nobody is asked only because it has not been heard for long, or for what others tell almost surely.
fn without_bonus() -> DemandOptions {
    DemandOptions {
        bonus_per_s: 0.0,
        least_gain: 0.3,
        ..DemandOptions::default()
    }
}

/// A queue: 1 follows 2, which follows the silent 90, which follows the silent 91; 3 drives beside, where it sees 91; 4 and 5
/// drive where they see nothing that 1 or 2 lack. The host, 9, is far behind in another lane.
pub(crate) fn queue() -> Vec<Car> {
    vec![
        car(9, 150.0, 10.5),
        car(1, 200.0, 0.0),
        car(2, 212.0, 0.0),
        car(3, 226.0, 3.5),
        car(4, 120.0, 3.5),
        car(5, 100.0, 0.0),
        mute(90, 224.0, 0.0),
        mute(91, 236.0, 0.0),
    ]
}

#[test]
fn the_only_viewer_of_a_hidden_second_leader_is_picked() {
    let mut stage = Stage::new(without_bonus(), 0.2, &queue());
    // Once somebody has spoken of the silent cars, the host knows who needs them and who sees them.
    stage.cycle(&[(3, &[90, 91])]);
    assert_eq!(stage.contributors(), [3]);
    let broadcast = stage.cycle(&[]);
    assert_eq!(broadcast.content, Content::Requested);
    assert_eq!(
        stage.contributors(),
        [3],
        "by sight lines, without a report"
    );
    let problem = stage.explained().0;
    let mut needed = problem.objects.iter().filter(|o| o.silent).map(|o| o.id);
    let called = |id| stage.host.source_of(id) == Some(ObjectId(91));
    assert!(needed.any(called), "{problem:?}");
}

#[test]
fn a_second_viewer_of_the_same_is_not_picked() {
    let mut cars = queue();
    cars.push(car(6, 229.0, -3.5));
    let mut stage = Stage::new(without_bonus(), 0.2, &cars);
    stage.cycle(&[(3, &[90, 91])]);
    stage.cycle(&[(3, &[90, 91])]);
    // Both see 90 and 91; links are good, so the second adds nearly nothing for its bytes.
    let picks = &stage.explained().1.picks;
    let gains: Vec<f64> = picks.iter().map(|p| p.gain).collect();
    assert_eq!(stage.contributors().len(), 1, "{gains:?}");
}

#[test]
fn nobody_is_forgotten() {
    let options = DemandOptions {
        bonus_per_s: 0.05,
        ..DemandOptions::default()
    };
    // Room for one report a cycle beside the broadcast.
    let mut stage = Stage::new(options, 0.007, &queue());
    let mut asked = std::collections::BTreeSet::new();
    for _ in 0..40 {
        stage.cycle(&[]);
        assert!(stage.contributors().len() <= 1);
        asked.extend(stage.contributors());
    }
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[test]
fn planned_bytes_stay_within_the_allowance_and_the_broadcast_within_the_plan() {
    for allowance in [0.005, 0.02, 0.1, 0.4] {
        let mut stage = Stage::new(DemandOptions::default(), allowance, &queue());
        let parameters = Parameters::default();
        let budget = allowance * parameters.capacity_bytes_per_s * parameters.cycle_s;
        for k in 0..12 {
            let reports: &[(u64, &[u64])] = if k % 3 == 0 { &[(3, &[90, 91])] } else { &[] };
            let broadcast = stage.cycle(reports).clone();
            let chosen = stage.explained().1;
            assert!(chosen.bytes <= budget, "{} {budget}", chosen.bytes);
            assert!(parameters.broadcast_bytes(&broadcast) <= budget);
        }
    }
}

#[test]
fn what_the_broadcast_listed_and_is_unchanged_costs_nothing_more() {
    let mut cars = queue();
    for car in &mut cars {
        car.speed = 0.0;
        // Closed up bumper to bumper, so that the second leader is within reach.
        car.x = 200.0 + 0.6 * (car.x - 200.0);
    }
    let options = DemandOptions {
        least_gain: 0.01,
        ..without_bonus()
    };
    let mut stage = Stage::new(options, 0.2, &cars);
    let mut listed = Vec::new();
    for _ in 0..5 {
        listed.push(stage.cycle(&[(3, &[90, 91])]).objects.len());
    }
    assert!(listed[0] > 0, "{listed:?}");
    assert_eq!(listed[1..4], [0, 0, 0], "{listed:?}");
    assert!(stage.broadcasts.iter().all(|b| b.withdrawn.is_empty()));
}

#[test]
fn a_target_below_the_allowance_sets_the_budget_without_winding_up() {
    let options = DemandOptions {
        target: Some(0.05),
        ..DemandOptions::default()
    };
    let mut stage = Stage::new(options, 0.2, &queue());
    let capacity = 242_000.0 * 0.2;
    for _ in 0..50 {
        stage.host.handle_input(stage.now, Input::Occupancy(0.5));
        stage.cycle(&[(3, &[90, 91])]);
    }
    let budget = |stage: &Stage| stage.explained().0.budget_bytes / capacity;
    assert!(budget(&stage) <= 0.021, "{}", budget(&stage));
    // Ten seconds of congestion leave no debt.
    stage.host.handle_input(stage.now, Input::Occupancy(0.0));
    stage.cycle(&[(3, &[90, 91])]);
    assert!(budget(&stage) >= 0.05, "{}", budget(&stage));
    assert!(budget(&stage) <= 0.2);
}

/// Everything about this map is a wall at x = 230, seen only from beyond y = 5.
#[derive(Debug)]
struct Wall;

impl RoadMap for Wall {
    fn building_between(&self, a: Position, b: Position) -> bool {
        (a.y > 2.0 || b.y > 2.0) && (a.x - b.x).abs() > 1.0
    }
    fn way_ahead(&self, _: Position, _: f64, _: f64, _: &mut Vec<Position>) {}
    fn lane_heading(&self, _: Position) -> Option<f64> {
        None
    }
}

#[test]
fn buildings_of_the_map_hide_what_boxes_do_not() {
    let run = |map: Option<Arc<dyn RoadMap>>| {
        let mut profile = Profile::demand_with(allowing(0.2), without_bonus());
        profile.map = map;
        let mut stage = Stage::with(profile, &queue());
        // Reported once; the report is stale when the last decision is made.
        stage.cycle(&[(3, &[90, 91])]);
        stage.cycle(&[]);
        stage.cycle(&[]);
        stage.cycle(&[]);
        stage.contributors().contains(&3)
    };
    assert!(run(None));
    assert!(!run(Some(Arc::new(Wall))));
}

#[derive(Debug)]
struct Numbers(u64);

impl Draw for Numbers {
    fn draw(&self, host: AgentId, agent: AgentId, at: Instant) -> u64 {
        AgentId(self.0 ^ host.mixed() ^ AgentId(agent.0 ^ at.micros() as u64).mixed()).mixed()
    }
}

#[test]
fn random_choice_is_addressed_and_spends_no_more() {
    let run = |seed: u64| {
        let profile = Profile::demanding(allowing(0.02), DemandOptions::default(), move || {
            Demand::new(DemandOptions::default()).at_random(Arc::new(Numbers(seed)))
        });
        let mut stage = Stage::with(profile, &queue());
        let mut chosen = Vec::new();
        for _ in 0..10 {
            stage.cycle(&[(3, &[90, 91])]);
            chosen.push(stage.contributors());
        }
        chosen
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Keeps what every plan was chosen from, and what was chosen.
#[derive(Clone, Default)]
struct Onlooker(Arc<Mutex<Vec<(DemandProblem, Selection)>>>);

impl Witness for Onlooker {
    fn planned(&mut self, _: &View<'_>, explanation: Option<Explanation<'_>>) {
        if let Some(Explanation::Demand(problem, selection)) = explanation {
            let plan = (problem.clone(), selection.clone());
            self.0.lock().unwrap().push(plan);
        }
    }
}

/// Whoever looks on is shown what everybody sees, which the choice can do without.
#[test]
fn onlookers_are_shown_all_views_and_change_nothing() {
    let mut cars = queue();
    // Silent ones that somebody reports, and beaconing ones behind them that are asked for.
    cars.extend((0..6).map(|k| mute(70 + k, 240.0 + 9.0 * k as f64, 3.5)));
    cars.extend((0..6).map(|k| car(20 + k, 150.0 + 8.0 * k as f64, 0.0)));
    let run = |onlooker: Option<Onlooker>| {
        let options = DemandOptions {
            request_factor: Some(0.5),
            ..DemandOptions::default()
        };
        let mut stage = Stage::new(options, 0.1, &cars);
        if let Some(onlooker) = onlooker {
            stage.host.watch(Box::new(onlooker));
        }
        for k in 0..12 {
            let reports: &[(u64, &[u64])] = match k % 3 {
                0 => &[(3, &[90, 91, 70, 71, 72]), (20, &[1, 21, 90])],
                1 => &[(3, &[73, 74, 75])],
                _ => &[],
            };
            stage.cycle(reports);
        }
        let shown = stage.explained().0.clone();
        (stage.broadcasts, shown)
    };
    let onlooker = Onlooker::default();
    let (watched, _) = run(Some(onlooker.clone()));
    let (alone, short) = run(None);
    assert_eq!(watched, alone);
    let plans = onlooker.0.lock().unwrap();
    for (problem, selection) in plans.iter() {
        assert_eq!(&Selection::choose(problem), selection);
    }
    let views = |problem: &DemandProblem| -> usize {
        problem.candidates.iter().map(|c| c.views.len()).sum()
    };
    let (whole, last) = plans.last().unwrap();
    assert!(views(whole) > views(&short), "{}", views(&short));
    assert!(!last.requests().is_empty());
}

/// What the host never decodes may be anything: its decisions are the same.
#[test]
fn decisions_depend_on_decoded_input_alone() {
    let run = |scramble: bool| {
        let mut cars = queue();
        // Unheard and unreported cars right in the middle of the road: part of the world, not of what the host knows.
        cars.push(mute(92, 230.0, 0.0));
        cars.push(mute(93, 206.0, 0.0));
        if scramble {
            for car in cars.iter_mut().filter(|car| car.id >= 92) {
                (car.x, car.y, car.speed) = (230.0 - car.x, 60.0, 30.0);
            }
        }
        let mut stage = Stage::new(DemandOptions::default(), 0.05, &cars);
        for k in 0..20 {
            let reports: &[(u64, &[u64])] = if k % 4 == 0 { &[(3, &[90, 91])] } else { &[] };
            stage.cycle(reports);
        }
        stage.broadcasts
    };
    assert_eq!(run(false), run(true));
}

/// The numbers under which objects are reported may be anything, new with every entry: who is who is told by positions.
#[test]
fn decisions_do_not_depend_on_the_ids_of_perceived_objects() {
    let run = |scramble: u64, identities: Identities| {
        let options = DemandOptions {
            identities,
            ..DemandOptions::default()
        };
        let mut stage = Stage::new(options, 0.05, &queue());
        stage.scramble = scramble;
        for k in 0..20 {
            let reports: &[(u64, &[u64])] = match k % 4 {
                0 => &[(3, &[90, 91, 2])],
                1 => &[(3, &[90]), (2, &[90, 3])],
                _ => &[],
            };
            stage.cycle(reports);
        }
        stage.broadcasts
    };
    let plain = run(0, Identities::Associated);
    for scramble in [1, 2, 3] {
        assert_eq!(run(scramble, Identities::Associated), plain);
    }
    // With exact positions association finds what true ids tell: the same decisions, under other names.
    let named = run(0, Identities::True);
    assert_eq!(named.len(), plain.len());
    for (a, b) in named.iter().zip(&plain) {
        assert_eq!(a.contributors, b.contributors);
        assert_eq!(a.requested, b.requested);
        let places = |broadcast: &Broadcast| {
            let mut places: Vec<[i64; 2]> = broadcast
                .objects
                .iter()
                .map(|o| [o.position.x, o.position.y].map(|v| (v * 1e3) as i64))
                .collect();
            places.sort_unstable();
            places
        };
        assert_eq!(places(a), places(b));
    }
    assert_ne!(
        run(1, Identities::True),
        named,
        "ids matter where they are believed"
    );
}

#[test]
fn a_policy_in_a_box_decides_and_explains_as_it_does_without() {
    let options = without_bonus();
    let made = options.clone();
    let boxed = move || -> Box<dyn Policy> { Box::new(Demand::new(made.clone())) };
    let boxed = Profile::demanding(allowing(0.2), options.clone(), boxed);
    let stages = [
        Stage::with(boxed, &queue()),
        Stage::new(options, 0.2, &queue()),
    ];
    let [boxed, plain] = stages.map(|mut stage| {
        stage.cycle(&[(3, &[90, 91])]);
        stage.cycle(&[]);
        let (problem, selection) = stage.explained();
        (stage.contributors(), problem.clone(), selection.clone())
    });
    assert_eq!(boxed, plain);
}
