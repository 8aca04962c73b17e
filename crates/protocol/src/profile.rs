//! What a participant is like: parameters, policy and content rule in one value.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use crate::associate::Accuracy;
use crate::beacons::Decides;
use crate::demand::{Demand, DemandOptions};
use crate::ids::AgentId;
use crate::map::RoadMap;
use crate::parameters::{Handover, Parameters, ReportContent};
use crate::policy::{ConditionalCoverage, Policy};

/// Makes the policy of a participant that takes office: every term has one of its own.
pub type PolicyMaker = Arc<dyn Fn() -> Box<dyn Policy> + Send + Sync>;

/// Numbers from 0 to 1, by agent, number of its beacon and what is decided: always the same for the same. The crate draws nothing itself.
pub type Chance = Arc<dyn Fn(AgentId, u32, Decides) -> f64 + Send + Sync>;

/// All that [`Participant::new`](crate::Participant::new) has to know.
///
/// ```
/// use covey_protocol::{AgentId, Instant, Participant, Profile};
///
/// let mut profile = Profile::letter();
/// profile.parameters.allowance = 0.2;
/// let vehicle = Participant::new(&profile, AgentId(17), Instant::ZERO);
/// # let _ = vehicle;
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Profile {
    /// Every number of the protocol.
    pub parameters: Parameters,
    /// Makes the policy by which it chooses while it hosts.
    pub policy: PolicyMaker,
    /// How it judges what others need when it contributes; none where it cannot, and reports what sends no beacon instead.
    pub judgement: Option<DemandOptions>,
    /// How perceived objects are told apart by place where ids cannot be believed, for policies that leave it open; none where
    /// whoever hands over what was sensed and heard has associated it before, as the letter assumes.
    pub association: Option<Accuracy>,
    /// Numbers that measured beacons are drawn by; none where it does not beacon so.
    pub chance: Option<Chance>,
    /// Roads and buildings, as far as it carries a map of them. Without one, everybody is taken to go straight on.
    pub map: Option<Arc<dyn RoadMap>>,
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile")
            .field("parameters", &self.parameters)
            .field("judgement", &self.judgement)
            .finish_non_exhaustive()
    }
}

/// Digests of lean profiles go with every fifth beacon: at 2 Hz.
const LEAN_DIGEST_EVERY: u32 = 5;

impl Profile {
    /// Any policy, with the letter's numbers.
    #[must_use]
    pub fn new<P: Policy + 'static>(
        parameters: Parameters,
        policy: impl Fn() -> P + Send + Sync + 'static,
    ) -> Self {
        Self {
            parameters,
            policy: Arc::new(move || Box::new(policy())),
            judgement: None,
            association: None,
            chance: None,
            map: None,
        }
    }

    /// The letter's protocol, with the numbers of its table of parameters.
    #[must_use]
    pub fn letter() -> Self {
        Self::letter_with(Parameters::default())
    }

    /// The letter's protocol with these numbers.
    #[must_use]
    pub fn letter_with(parameters: Parameters) -> Self {
        Self::new(parameters, || ConditionalCoverage)
    }

    /// The letter's ablation that ranks by visible cells alone.
    #[must_use]
    pub fn coverage_only_with(parameters: Parameters) -> Self {
        Self::ablation(parameters, [false, false, false])
    }

    /// The letter's ablation with novelty as its only factor.
    #[must_use]
    pub fn conditional_with(parameters: Parameters) -> Self {
        Self::ablation(parameters, [true, false, false])
    }

    /// The letter's ablation with novelty and risk, without timeliness.
    #[must_use]
    pub fn conditional_risk_with(parameters: Parameters) -> Self {
        Self::ablation(parameters, [true, true, false])
    }

    fn ablation(parameters: Parameters, [novelty, risk, timeliness]: [bool; 3]) -> Self {
        Self::letter_with(Parameters {
            novelty,
            risk,
            timeliness,
            ..parameters
        })
    }

    /// The letter's protocol with reports of silent objects only and digests at 2 Hz.
    #[must_use]
    pub fn lean_with(parameters: Parameters) -> Self {
        Self::letter_with(Parameters {
            report_content: ReportContent::Silent,
            digest_every: LEAN_DIGEST_EVERY,
            ..parameters
        })
    }

    /// Choice by demand with its usual numbers.
    #[must_use]
    pub fn demand() -> Self {
        Self::demand_with(Parameters::default(), DemandOptions::default())
    }

    /// Choice by demand with these numbers. There are no digests, unless views come from them, and no quota; hosts hand over to
    /// those nearer the centre.
    #[must_use]
    pub fn demand_with(parameters: Parameters, options: DemandOptions) -> Self {
        let made = options.clone();
        Self::demanding(parameters, options, move || Demand::new(made.clone()))
    }

    /// The same with another policy over the same content rule.
    #[must_use]
    pub fn demanding<P: Policy + 'static>(
        parameters: Parameters,
        options: DemandOptions,
        policy: impl Fn() -> P + Send + Sync + 'static,
    ) -> Self {
        let parameters = Parameters {
            digest_every: match options.views {
                crate::demand::Views::SightLines => 0,
                crate::demand::Views::Digests => LEAN_DIGEST_EVERY,
            },
            handover: Some(Handover::USUAL),
            n_max: u32::MAX,
            // Whoever has nothing to tell of stays silent, whatever it is asked for.
            empty_reports: parameters.empty_reports && !options.on_road,
            ..parameters
        };
        Self {
            judgement: Some(options),
            ..Self::new(parameters, policy)
        }
    }

    /// The same with a map of roads and buildings.
    #[must_use]
    pub fn with_map(mut self, map: Arc<dyn RoadMap>) -> Self {
        self.map = Some(map);
        self
    }

    /// Contributors must keep what others say to judge what is needed.
    pub(crate) fn keeps_sayings(&self) -> bool {
        self.judgement.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_reports_are_made_where_they_are_wanted_and_roads_are_not_known() {
        let empty = |empty_reports: bool, on_road: bool| {
            let parameters = Parameters {
                empty_reports,
                ..Parameters::default()
            };
            let options = DemandOptions {
                on_road,
                ..DemandOptions::default()
            };
            let profile = Profile::demand_with(parameters, options);
            assert!(profile.keeps_sayings());
            profile.parameters.empty_reports
        };
        assert!(empty(true, false));
        assert!(!empty(true, true) && !empty(false, false) && !empty(false, true));
    }
}
