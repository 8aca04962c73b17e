//! A policy that is written in Python.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use covey::{Arms, Strategy};
use covey_protocol::admission::{Action, Admission, Because, Binding, Change};
use covey_protocol::policy::{Hints, Plan, Policy, Reporters, View};
use covey_protocol::{AgentId, Profile};
use covey_simulator::learned::Learned;
use pyo3::prelude::*;

use crate::attendant::Trouble;
use crate::errors;
use crate::view::{Gathered, PyView};

/// An arm of a Python program.
#[derive(FromPyObject)]
pub(crate) struct Own {
    /// Its name without allowance.
    pub(crate) name: String,
    /// A line for people.
    summary: String,
    /// Makes a policy, given the seed.
    factory: Py<PyAny>,
    /// Beacons carry digests for it.
    digests: bool,
    /// What it looks at.
    looks_at: String,
    /// It wants the numbers of learned policies, too.
    features: bool,
    /// The ONNX file of a network that chooses in place of Python.
    model: Option<PathBuf>,
    /// What tells it from another of its name.
    pub(crate) print: String,
}

/// What a policy that says so looks at.
fn hints(looks_at: &str) -> Option<Hints> {
    match looks_at {
        "all" => Some(Hints::ALL),
        "score" => Some(Hints::SCORE),
        "costs" => Some(Hints::COSTS),
        "no-coverage" => Some(Hints::NO_COVERAGE),
        _ => None,
    }
}

/// Names live as long as the program; each is kept once.
pub(crate) fn lasting(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeMap<String, &'static str>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = kept.get(text) {
        return text;
    }
    let lasting: &'static str = Box::leak(text.to_string().into_boxed_str());
    kept.insert(text.to_string(), lasting);
    lasting
}

/// Covey's arms and these.
pub(crate) fn arms_with(policies: Vec<Own>, trouble: &Arc<Trouble>) -> PyResult<Arms> {
    let mut arms = Arms::builtin();
    for own in policies {
        let Some(hints) = hints(&own.looks_at) else {
            return Err(errors::input(format!(
                "policies: {}: looks_at: found {:?}, expected all, score, costs or no-coverage",
                own.name, own.looks_at
            )));
        };
        let (name, summary) = (lasting(&own.name), lasting(&own.summary));
        let refused = |error| errors::input(format!("policies: {error}"));
        if let Some(file) = &own.model {
            let learned = Learned::read(file).map_err(errors::input)?;
            let strategy = Strategy::own(name, summary, move |_seed| Box::new(learned.clone()));
            arms = arms.with(strategy).map_err(refused)?;
            continue;
        }
        let (factory, trouble) = (Arc::new(own.factory), Arc::clone(trouble));
        let (digests, features) = (own.digests, own.features);
        let strategy = Strategy::of_profiles(name, summary, move |seat| {
            let parameters = match digests {
                true => seat.without_quota(),
                false => seat.without_digests(),
            };
            let (factory, trouble, seed) = (Arc::clone(&factory), Arc::clone(&trouble), seat.seed);
            Profile::new(parameters, move || {
                PythonPolicy::new(
                    name,
                    &factory,
                    seed,
                    (hints, features),
                    Arc::clone(&trouble),
                )
            })
        });
        arms = arms.with(strategy).map_err(refused)?;
    }
    Ok(arms)
}

/// One host's policy.
struct PythonPolicy {
    name: &'static str,
    /// None where it could not be made.
    object: Option<Py<PyAny>>,
    hints: Hints,
    features: bool,
    trouble: Arc<Trouble>,
}

impl PythonPolicy {
    fn new(
        name: &'static str,
        factory: &Py<PyAny>,
        seed: u64,
        (hints, features): (Hints, bool),
        trouble: Arc<Trouble>,
    ) -> Self {
        let object = match trouble.is_there() {
            true => None,
            false => match Python::attach(|py| factory.call1(py, (seed,))) {
                Ok(object) => Some(object),
                Err(error) => {
                    trouble.raise(error);
                    None
                }
            },
        };
        Self {
            name,
            object,
            hints,
            features,
            trouble,
        }
    }

    fn ask(&self, object: &Py<PyAny>, gathered: Gathered) -> PyResult<Reporters> {
        Python::attach(|py| {
            let known = Known::of(&gathered);
            let view = PyView::new(py, gathered)?;
            let answer = object.bind(py).call_method1("plan", (view,))?;
            reporters(self.name, &answer, &known)
        })
    }
}

/// Who may be named.
struct Known(Vec<u64>, Vec<u64>);

impl Known {
    fn of(view: &Gathered) -> Self {
        Self(view.contributors.id.clone(), view.candidates.id.clone())
    }

    fn agent(&self, name: &str, id: u64) -> PyResult<AgentId> {
        let there = self.0.binary_search(&id).is_ok() || self.1.binary_search(&id).is_ok();
        match there {
            true => Ok(AgentId(id)),
            false => Err(errors::input(format!(
                "policy {name}: plan() named {id}, which neither reports nor might; expected ids of view.contributors and view.candidates"
            ))),
        }
    }
}

/// Ids, from a list, a tuple or an array of whole numbers.
fn ids(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let listed = match value.hasattr("tolist")? {
        true => value.call_method0("tolist")?,
        false => value.clone(),
    };
    listed.extract().map_err(|_| {
        errors::input(format!(
            "policy {name}: plan() gave {}, expected ids in order, the most wanted first, covey.Changes, or None for no change",
            shortened(value)
        ))
    })
}

fn shortened(value: &Bound<'_, PyAny>) -> String {
    let text = value
        .repr()
        .map_or_else(|_| "something".to_string(), |t| t.to_string());
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What a plan says.
fn reporters(name: &str, answer: &Bound<'_, PyAny>, known: &Known) -> PyResult<Reporters> {
    if answer.is_none() {
        return Ok(Reporters::Changes(Vec::new()));
    }
    let agents = |value: &Bound<'_, PyAny>| -> PyResult<Vec<AgentId>> {
        ids(name, value)?
            .into_iter()
            .map(|id| known.agent(name, id))
            .collect()
    };
    if !answer.hasattr("admit")? {
        return Ok(Reporters::Ranking(agents(answer)?));
    }
    let change = |action| {
        move |id| Change {
            action,
            id,
            because: Because::Score,
            score: 0.0,
        }
    };
    let removed = agents(&answer.getattr("remove")?)?;
    let admitted = agents(&answer.getattr("admit")?)?;
    let removed = removed.into_iter().map(change(Action::Remove));
    let admitted = admitted.into_iter().map(change(Action::Admit));
    Ok(Reporters::Changes(removed.chain(admitted).collect()))
}

impl Policy for PythonPolicy {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        let asked = match &self.object {
            Some(object) if !self.trouble.is_there() => {
                self.ask(object, Gathered::new(view, admission, self.features))
            }
            _ => Ok(Reporters::Changes(Vec::new())),
        };
        let reporters = asked.unwrap_or_else(|error| {
            self.trouble.raise(error);
            Reporters::Changes(Vec::new())
        });
        Plan::new(reporters, Binding::Nothing, view.parameters)
    }

    fn hints(&self) -> Hints {
        self.hints
    }
}
