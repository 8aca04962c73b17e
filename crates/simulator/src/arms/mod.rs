//! Arms: the policies that are compared, by name.
//!
//! All arms share the entire stack and differ only in who reports and what is filtered. A name with an allowance, such as
//! `proposed@0.4`, gives the share of capacity that a host may spend on reports and its broadcast.
//!
//! Each file of this folder is one arm: its name, its line for people, its place and look in tables and figures, and how its
//! participants are made. The build lists the files, so a new arm is one new file; names, help, order, labels and colours all
//! come from it. A program of its own adds its arms to [`Arms`] and has them everywhere.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use covey_protocol::demand::DemandOptions;
use covey_protocol::policy::Policy;
use covey_protocol::{Parameters, Profile, RoadMap};
use thiserror::Error;

use crate::channel::chance;
use covey_parameters::nearest;

#[cfg(feature = "files")]
use crate::measure::recording::ArmHeader;
use crate::prepared::Prepared;
use crate::stack::SenderRules;

include!(concat!(env!("OUT_DIR"), "/arms.rs"));

/// What an arm does, whatever its allowance.
#[derive(Debug, Clone)]
pub struct Strategy {
    /// Its name without allowance.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Its place in tables, ascending; of equals the name decides.
    pub order: u32,
    /// How it looks in figures.
    pub look: Look,
    /// How it takes part in `covey reproduce`.
    pub letter: Part,
    /// How it takes part in `covey reproduce --beyond`, besides.
    pub beyond: Part,
    /// Its hosts decide as `covey decide` does on what they knew: by score, or by gain.
    pub scored: bool,
    pub(crate) behaviour: Behaviour,
}

/// How an arm takes part in a set of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// Not at all.
    No,
    /// Once, without allowance.
    Plain,
    /// With each of these allowances.
    At(&'static [f64]),
}

/// Colour and shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// What fills it.
    pub paint: Paint,
    /// What it can be told by without colour.
    pub shape: Shape,
}

impl Look {
    /// For arms that nobody gave a look.
    pub const PLAIN: Self = Self::new(Paint::Olive, Shape::Star);

    /// A colour and a shape.
    #[must_use]
    pub const fn new(paint: Paint, shape: Shape) -> Self {
        Self { paint, shape }
    }
}

/// Colours. No two arms share one; those of the letter and of choice by demand are as far apart for readers with protanopia or deuteranopia as
/// the colours of Okabe and Ito are, which stand at the head, and all have a contrast of at least 3 to 1 with paper, light or dark. The
/// report's tests hold them to it. Recordings name them: a name stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "colours")]
pub enum Paint {
    Ink,
    Muted,
    Blue,
    Vermillion,
    Purple,
    Green,
    Orange,
    Sky,
    Yellow,
    Ochre,
    Pine,
    Rose,
    Azure,
    Navy,
    Cobalt,
    Violet,
    Cornflower,
    Umber,
    Bronze,
    Jade,
    Crimson,
    Brick,
    Russet,
    Royal,
    Ultramarine,
    Indigo,
    Slate,
    Olive,
}

impl Paint {
    /// Its name in style sheets.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ink => "ink",
            Self::Muted => "muted",
            Self::Blue => "blue",
            Self::Vermillion => "vermillion",
            Self::Purple => "purple",
            Self::Green => "green",
            Self::Orange => "orange",
            Self::Sky => "sky",
            Self::Yellow => "yellow",
            Self::Ochre => "ochre",
            Self::Pine => "pine",
            Self::Rose => "rose",
            Self::Azure => "azure",
            Self::Navy => "navy",
            Self::Cobalt => "cobalt",
            Self::Violet => "violet",
            Self::Cornflower => "cornflower",
            Self::Umber => "umber",
            Self::Bronze => "bronze",
            Self::Jade => "jade",
            Self::Crimson => "crimson",
            Self::Brick => "brick",
            Self::Russet => "russet",
            Self::Royal => "royal",
            Self::Ultramarine => "ultramarine",
            Self::Indigo => "indigo",
            Self::Slate => "slate",
            Self::Olive => "olive",
        }
    }
}

/// A marker's outline: nothing is told by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "shapes")]
pub enum Shape {
    Circle,
    Square,
    Diamond,
    TriangleUp,
    TriangleDown,
    Pentagon,
    Hexagon,
    Star,
    Cross,
}

/// What participants do besides sending beacons.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// Nothing.
    Silent,
    /// Nothing, but everybody knows what any participant sees.
    Oracle,
    /// Everybody reports by rules of its own.
    Senders(SenderRules),
    /// Everybody reports by rules of its own, and forwards what others told it.
    MultiHop,
    /// Whoever has a risky blind zone asks those who see into it.
    Requests,
    /// A selector that knows the truth says who reports what.
    Omniscient,
    /// Hosts decide.
    Hosted(Maker),
}

impl Behaviour {
    /// Hosts decide, and everyone's participant is made so.
    const fn hosted(make: fn(&Seat<'_>) -> Profile) -> Self {
        Self::Hosted(Maker::Known(make))
    }

    /// The same, and the name may go without an allowance: hosts then find their own.
    const fn adaptive(make: fn(&Seat<'_>) -> Profile) -> Self {
        Self::Hosted(Maker::Adaptive(make))
    }
}

/// Makes the participants of an arm with hosts.
#[derive(Clone)]
pub(crate) enum Maker {
    /// Of an arm that comes with Covey.
    Known(fn(&Seat<'_>) -> Profile),
    /// The same, of one that can do without an allowance.
    Adaptive(fn(&Seat<'_>) -> Profile),
    /// Of a program's own arm.
    Own(Arc<dyn Fn(&Seat<'_>) -> Profile + Send + Sync>),
}

impl Maker {
    fn make(&self, seat: &Seat<'_>) -> Profile {
        match self {
            Self::Known(make) | Self::Adaptive(make) => make(seat),
            Self::Own(make) => make(seat),
        }
    }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Maker")
    }
}

/// What an arm's participants are made for.
#[derive(Debug, Clone, Copy)]
pub struct Seat<'a> {
    /// The seed of the run, for policies that draw at random.
    pub seed: u64,
    /// The allowance, a share of capacity.
    pub allowance: f64,
    /// The name says none: hosts find their own.
    pub adapts: bool,
    /// The scenario, ready to run.
    pub prepared: &'a Prepared,
}

impl Seat<'_> {
    /// The scenario's parameters with this arm's allowance.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        Parameters {
            allowance: self.allowance,
            ..self.prepared.scenario.protocol.clone()
        }
    }

    /// Those of hosts that choose the whole set anew every cycle and so know no quota of changes.
    #[must_use]
    pub fn without_quota(&self) -> Parameters {
        Parameters {
            n_max: u32::MAX,
            ..self.parameters()
        }
    }

    /// Those of hosts that know no quota and look at no view, for whom beacons carry no digest.
    #[must_use]
    pub fn without_digests(&self) -> Parameters {
        Parameters {
            digest_every: 0,
            ..self.without_quota()
        }
    }

    /// The scenario's options of choice by demand.
    #[must_use]
    pub fn demand(&self) -> DemandOptions {
        let scenario = &self.prepared.scenario;
        DemandOptions {
            sensor_range_m: scenario.sensing.range_m,
            ..scenario.demand.clone()
        }
    }
}

impl Strategy {
    /// An arm of your own: hosts like the letter's that choose by another policy and know no quota of changes. Every host that
    /// takes office gets a policy of its own from `policy`, which is given the seed.
    ///
    /// A run is a pure function of its inputs only if the policy is one too: it must depend on nothing but the seed and what it
    /// is shown.
    ///
    /// ```
    /// use covey_protocol::policy::ConditionalCoverage;
    /// use covey_simulator::arms::{Arms, Strategy};
    ///
    /// let arms = Arms::builtin().with(Strategy::own(
    ///     "mine",
    ///     "hosts do what I want",
    ///     |_seed| Box::new(ConditionalCoverage),
    /// ))?;
    /// assert_eq!(arms.parse("mine@0.4")?.to_string(), "mine@0.4");
    /// # Ok::<(), covey_simulator::ArmError>(())
    /// ```
    pub fn own(
        name: &'static str,
        summary: &'static str,
        policy: impl Fn(u64) -> Box<dyn Policy> + Send + Sync + 'static,
    ) -> Self {
        let policy = Arc::new(policy);
        Self::of_profiles(name, summary, move |seat| {
            let mut profile = Profile::letter_with(seat.without_quota());
            let (policy, seed) = (Arc::clone(&policy), seat.seed);
            profile.policy = Arc::new(move || policy(seed));
            profile
        })
    }

    /// An arm of your own, from what its participants are like: parameters, policy, and how contributors judge what to say.
    pub fn of_profiles(
        name: &'static str,
        summary: &'static str,
        profile: impl Fn(&Seat<'_>) -> Profile + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            summary,
            order: 10_000,
            look: Look::PLAIN,
            letter: Part::No,
            beyond: Part::No,
            scored: false,
            behaviour: Behaviour::Hosted(Maker::Own(Arc::new(profile))),
        }
    }

    /// With a look of its own in figures.
    #[must_use]
    pub fn with_look(mut self, paint: Paint, shape: Shape) -> Self {
        self.look = Look::new(paint, shape);
        self
    }

    /// A host decides, so the name carries an allowance and beacons may carry a digest.
    #[must_use]
    pub fn is_hosted(&self) -> bool {
        matches!(self.behaviour, Behaviour::Hosted(_))
    }

    /// Beacons may carry a digest of what their sender sees.
    #[must_use]
    pub(crate) fn has_summaries(&self) -> bool {
        self.is_hosted() || matches!(self.behaviour, Behaviour::Requests)
    }

    /// It knows what no participant can: it is there to be compared with, not to be used.
    #[must_use]
    pub fn is_yardstick(&self) -> bool {
        matches!(self.behaviour, Behaviour::Oracle | Behaviour::Omniscient)
    }

    /// The name carries an allowance.
    #[must_use]
    pub fn has_allowance(&self) -> bool {
        matches!(
            self.behaviour,
            Behaviour::Hosted(_) | Behaviour::Requests | Behaviour::Omniscient
        )
    }

    /// The name may go without an allowance: hosts then find their own.
    #[must_use]
    pub fn can_adapt(&self) -> bool {
        matches!(self.behaviour, Behaviour::Hosted(Maker::Adaptive(_)))
    }

    /// How it is written where the allowance is left open.
    #[must_use]
    pub fn pattern(&self) -> String {
        match self.has_allowance() {
            true => format!("{}@B", self.name),
            false => self.name.to_string(),
        }
    }

    /// The arms of it that take part.
    fn arms(&'static self, part: Part) -> Vec<Arm> {
        match part {
            Part::No => Vec::new(),
            Part::Plain => vec![Arm::plain(self)],
            Part::At(allowances) => allowances.iter().map(|&b| Arm::at(self, b)).collect(),
        }
    }
}

/// A strategy with its allowance.
#[derive(Debug, Clone, Copy)]
pub struct Arm {
    /// What it does.
    pub strategy: &'static Strategy,
    /// The host's allowance as a share of capacity; only some strategies have one.
    pub allowance: Option<f64>,
}

impl PartialEq for Arm {
    /// Names stand for strategies.
    fn eq(&self, other: &Self) -> bool {
        self.strategy.name == other.strategy.name && self.allowance == other.allowance
    }
}

impl Arm {
    /// An arm without allowance.
    #[must_use]
    pub const fn plain(strategy: &'static Strategy) -> Self {
        Self {
            strategy,
            allowance: None,
        }
    }

    /// An arm with an allowance.
    #[must_use]
    pub const fn at(strategy: &'static Strategy, allowance: f64) -> Self {
        Self {
            strategy,
            allowance: Some(allowance),
        }
    }

    /// What a recording says of it.
    #[cfg(feature = "files")]
    #[must_use]
    pub fn header(&self) -> ArmHeader {
        ArmHeader {
            name: self.to_string(),
            hosted: self.strategy.is_hosted(),
            scored: self.strategy.scored,
            paint: self.strategy.look.paint.name().to_string(),
        }
    }

    /// What a participant of this arm is like in a run with this seed, the map included: the run's own hosts, contributors and
    /// listeners are just so. None for arms without hosts.
    #[must_use]
    pub fn profile(&self, seed: u64, prepared: &Prepared) -> Option<Profile> {
        let Behaviour::Hosted(maker) = &self.strategy.behaviour else {
            return None;
        };
        let map = Arc::clone(&prepared.carried) as Arc<dyn RoadMap>;
        Some(self.bare_profile(maker, seed, prepared).with_map(map))
    }

    /// The same without a map, for those whom `maker` makes.
    pub(crate) fn bare_profile(&self, maker: &Maker, seed: u64, prepared: &Prepared) -> Profile {
        let given = prepared.scenario.protocol.allowance;
        let mut profile = maker.make(&Seat {
            seed,
            allowance: self.allowance.unwrap_or(given),
            adapts: self.allowance.is_none() && self.strategy.can_adapt(),
            prepared,
        });
        // Where sensors err, nobody can have told hosts beforehand which object is which.
        if !prepared.scenario.sensing.is_exact() {
            profile.association = Some(prepared.scenario.demand.accuracy());
        }
        profile.chance = Some(Arc::new(move |agent, number, what| {
            chance(seed, agent, number, what)
        }));
        profile
    }
}

/// Why a name is no arm, or an arm cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("arm `{name}`: {problem}")]
pub struct ArmError {
    /// What was given.
    pub name: String,
    /// What is wrong and what to write.
    pub problem: String,
}

impl ArmError {
    fn new(name: &str, problem: impl Into<String>) -> Self {
        Self {
            name: name.to_string(),
            problem: problem.into(),
        }
    }
}

/// The arms that a program knows, in the order of tables.
#[derive(Debug, Clone)]
pub struct Arms(Vec<&'static Strategy>);

impl Default for Arms {
    fn default() -> Self {
        Self::builtin()
    }
}

impl Arms {
    /// Those that come with Covey.
    #[must_use]
    pub fn builtin() -> Self {
        let mut all = TABLE.to_vec();
        all.sort_by_key(|strategy| (strategy.order, strategy.name));
        Self(all)
    }

    /// And one more, which lives as long as the program does.
    ///
    /// # Errors
    /// Its name is taken, or cannot be part of a command and a file name.
    pub fn with(mut self, strategy: Strategy) -> Result<Self, ArmError> {
        let name = strategy.name;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(fits) {
            let expected = "expected lower-case letters, digits and hyphens";
            return Err(ArmError::new(name, expected));
        }
        if self.get(name).is_some() {
            return Err(ArmError::new(
                name,
                "there is one already; choose another name",
            ));
        }
        self.0.push(Box::leak(Box::new(strategy)));
        self.0
            .sort_by_key(|strategy| (strategy.order, strategy.name));
        Ok(self)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static Strategy> + '_ {
        self.0.iter().copied()
    }

    /// The strategy of a name without allowance.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'static Strategy> {
        self.iter().find(|strategy| strategy.name == name)
    }

    /// The arm of a name, with its allowance where it has one.
    ///
    /// # Errors
    /// There is no such arm, or its allowance is missing, too much or no share of capacity.
    pub fn parse(&self, name: &str) -> Result<Arm, ArmError> {
        let (base, allowance) = match name.split_once('@') {
            Some((base, b)) => (base, Some(b)),
            None => (name, None),
        };
        let strategy = self.get(base).ok_or_else(|| {
            let known: Vec<&str> = self.iter().map(|s| s.name).collect();
            let problem = match nearest(base, known.iter().copied()) {
                Some(meant) => {
                    let meant = self.get(meant).map_or_else(String::new, Strategy::pattern);
                    format!("unknown: did you mean `{meant}`? (`covey arms` lists them)")
                }
                None => format!(
                    "unknown; expected one of {} (`covey arms` explains them)",
                    known.join(", ")
                ),
            };
            ArmError::new(name, problem)
        })?;
        match (strategy.has_allowance(), allowance) {
            (false, None) => Ok(Arm::plain(strategy)),
            (false, Some(_)) => {
                let problem = format!("has no allowance; write `{base}`");
                Err(ArmError::new(name, problem))
            }
            (true, None) if strategy.can_adapt() => Ok(Arm::plain(strategy)),
            (true, None) => {
                let problem =
                    format!("needs an allowance as a share of capacity, such as `{base}@0.4`");
                Err(ArmError::new(name, problem))
            }
            (true, Some(b)) => match b.parse::<f64>() {
                Ok(b) if b > 0.0 && b <= 1.0 => Ok(Arm::at(strategy, b)),
                _ => {
                    let problem = format!(
                        "allowance `{b}`: expected a number above 0 and at most 1, such as `{base}@0.4`"
                    );
                    Err(ArmError::new(name, problem))
                }
            },
        }
    }

    /// The arms of the reproduction: the letter's thirteen, and random admission redrawn every cycle.
    #[must_use]
    pub fn letter(&self) -> Vec<Arm> {
        self.iter().flat_map(|s| s.arms(s.letter)).collect()
    }

    /// The letter's arms and those beyond it: choice by demand at three budgets, the steps that lead to it, the rivals that a
    /// reviewer would ask for, and the yardstick.
    #[must_use]
    pub fn beyond(&self) -> Vec<Arm> {
        self.iter()
            .flat_map(|s| [s.arms(s.letter), s.arms(s.beyond)])
            .flatten()
            .collect()
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.allowance {
            Some(b) => write!(f, "{}@{b}", self.strategy.name),
            None => f.write_str(self.strategy.name),
        }
    }
}

impl FromStr for Arm {
    type Err = ArmError;

    /// One of the arms that come with Covey.
    fn from_str(name: &str) -> Result<Self, ArmError> {
        Arms::builtin().parse(name)
    }
}

#[cfg(test)]
mod tests {
    use covey_protocol::policy::ConditionalCoverage;

    use super::*;

    #[test]
    fn names_round_trip_and_no_two_arms_look_alike() {
        let all = Arms::builtin();
        assert_eq!(all.letter().len(), 16);
        for arm in all.beyond() {
            assert_eq!(arm.to_string().parse(), Ok(arm));
            assert_eq!(arm.allowance.is_some(), arm.strategy.has_allowance());
        }
        let adaptive: Arm = "demand".parse().unwrap();
        assert_eq!(
            (adaptive.to_string(), adaptive.allowance),
            ("demand".to_string(), None)
        );
        assert_eq!(
            "proposed@0.40".parse::<Arm>().unwrap().to_string(),
            "proposed@0.4"
        );
        for (at, one) in all.iter().enumerate() {
            for other in all.iter().skip(at + 1) {
                assert_ne!(one.name, other.name);
                assert_ne!(one.order, other.order, "{} {}", one.name, other.name);
                assert_ne!(one.look, other.look, "{} {}", one.name, other.name);
            }
        }
    }

    #[test]
    fn what_is_no_arm_is_explained() {
        let error = |name: &str| name.parse::<Arm>().unwrap_err().to_string();
        assert!(error("proposd@0.4").contains("`covey arms`"));
        assert!(error("proposed").contains("`proposed@0.4`"));
        assert!(error("oracle@0.4").contains("write `oracle`"));
        for b in ["0", "2", "-0.1", "nan", ""] {
            assert!(error(&format!("proposed@{b}")).contains("above 0 and at most 1"));
        }
    }

    #[test]
    fn own_arms_stand_beside_the_others_under_names_of_their_own() {
        let own = |name| Strategy::own(name, "mine", |_| Box::new(ConditionalCoverage));
        let arms = Arms::builtin().with(own("mine-2")).unwrap();
        let arm = arms.parse("mine-2@0.25").unwrap();
        assert!(arm.strategy.is_hosted() && arm.allowance == Some(0.25));
        assert!(arms.parse("mine-2").is_err());
        assert_eq!(arms.iter().last().map(|s| s.name), Some("mine-2"));
        for (name, problem) in [
            ("proposed", "there is one already"),
            ("mine-2", "there is one already"),
            ("Mine", "lower-case"),
            ("a@b", "lower-case"),
            ("", "lower-case"),
        ] {
            let error = arms.clone().with(own(name)).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
