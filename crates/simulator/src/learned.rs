//! A policy that was learned elsewhere: a network scores every agent, those above 0 are wanted, the highest first.

use std::path::Path;
use std::sync::Arc;

use covey_protocol::AgentId;
use covey_protocol::admission::{Admission, Binding};
use covey_protocol::policy::{Hints, Plan, Policy, Reporters, View};

use crate::features::{AGENT, Features, HOST};
use crate::onnx::{Network, OnnxError};

/// Numbers of a row: those of the agent, then those of its host.
pub const INPUTS: usize = AGENT.len() + HOST.len();

/// A policy by a network; all hosts share its weights.
#[derive(Debug, Clone)]
pub struct Learned {
    network: Arc<Network>,
}

impl Learned {
    /// Reads the network of an ONNX file: rows of [`INPUTS`] features in, a score per row out.
    ///
    /// # Errors
    /// It cannot be read, or is no such network.
    pub fn read(file: &Path) -> Result<Self, OnnxError> {
        let network = Arc::new(Network::read(file, INPUTS)?);
        Ok(Self { network })
    }

    /// Who is wanted, the most wanted first; of equals the lower id.
    #[must_use]
    pub fn ranking(&self, features: &Features) -> Vec<AgentId> {
        let mut row = [0.0; INPUTS];
        row[AGENT.len()..].copy_from_slice(&features.host);
        let mut wanted = Vec::new();
        for (&id, agent) in features.ids.iter().zip(&features.agents) {
            row[..AGENT.len()].copy_from_slice(agent);
            let score = self.network.score(&row);
            if score > 0.0 {
                wanted.push((score, id));
            }
        }
        wanted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        wanted.into_iter().map(|(_, id)| id).collect()
    }
}

impl Policy for Learned {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        let ranking = self.ranking(&Features::new(view, admission));
        Plan::new(
            Reporters::Ranking(ranking),
            Binding::Nothing,
            view.parameters,
        )
    }

    fn hints(&self) -> Hints {
        // Risk, which follows from paths, is among the features.
        let mut hints = Hints::SCORE;
        hints.paths = true;
        hints
    }
}
