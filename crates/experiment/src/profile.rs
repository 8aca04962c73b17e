//! Profiles: readings that go together, under one name.
//!
//! `letter` is the bundled scenario as it stands: nothing in it but d_min is fitted. The others are files of scenario keys whose
//! constants were chosen to come near the letter's figures; whatever shows their figures shows [`LABEL`] too.

use toml::{Table, Value};

/// What has to be said of figures of a fitted profile, wherever they appear.
pub const LABEL: &str = "fitted to the letter's figures, evidence for nothing";

/// The profile that changes nothing.
pub const LETTER: &str = "letter";

/// A bundle of scenario keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// By which it is asked for.
    pub name: &'static str,
    /// Its file, as in `scenarios/tamagawa/profiles`; none for the scenario as it stands.
    text: Option<&'static str>,
}

/// Every profile, that of the letter first.
pub const ALL: [Profile; 3] = [
    Profile {
        name: LETTER,
        text: None,
    },
    Profile {
        name: "closest",
        text: Some(include_str!(
            "../../../scenarios/tamagawa/profiles/closest.toml"
        )),
    },
    Profile {
        name: "closest-hosted",
        text: Some(include_str!(
            "../../../scenarios/tamagawa/profiles/closest-hosted.toml"
        )),
    },
];

impl Profile {
    /// The profile called `name`.
    ///
    /// # Errors
    /// There is none: which there are.
    pub fn find(name: &str) -> Result<Self, String> {
        ALL.into_iter()
            .find(|profile| profile.name == name)
            .ok_or_else(|| {
                let names = ALL.map(|profile| format!("`{}`", profile.name));
                format!("found `{name}`, expected one of {}", names.join(", "))
            })
    }

    /// [`LABEL`] for a profile whose constants were fitted.
    #[must_use]
    pub fn label(&self) -> Option<&'static str> {
        self.text.map(|_| LABEL)
    }

    /// What it changes: dotted keys with their values, a law of losses and the like as a whole.
    ///
    /// # Errors
    /// Its file is not TOML, which a test rules out.
    pub fn changes(&self) -> Result<Vec<(String, Value)>, String> {
        let Some(text) = self.text else {
            return Ok(Vec::new());
        };
        let table: Table =
            toml::from_str(text).map_err(|error| format!("profile `{}`: {error}", self.name))?;
        let mut changes = Vec::new();
        for (section, value) in table {
            match value {
                Value::Table(keys) => changes.extend(
                    keys.into_iter()
                        .map(|(key, value)| (format!("{section}.{key}"), value)),
                ),
                value => changes.push((section, value)),
            }
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundled;
    use crate::files::tests::Folder;
    use crate::world::Base;

    #[test]
    fn every_key_of_a_profile_changes_the_bundled_scenario() {
        let folder = Folder::new("profiles");
        let base = Base::read(&bundled::unpack(&folder.0).unwrap()).unwrap();
        let plain = serde_json::to_value(base.with(&[]).unwrap().scenario.readings()).unwrap();
        for profile in ALL {
            let changes = profile.changes().unwrap();
            assert_eq!(changes.is_empty(), profile.name == LETTER);
            let all = base.with(&changes).unwrap().scenario.readings();
            assert_eq!(
                all == base.with(&[]).unwrap().scenario.readings(),
                changes.is_empty()
            );
            for change in changes {
                // d_min may have been fitted to what it was.
                if change.0 == "evaluation.margin_m" {
                    continue;
                }
                let one = base.with(std::slice::from_ref(&change)).unwrap();
                let one = serde_json::to_value(one.scenario.readings()).unwrap();
                assert_ne!(one, plain, "{}: {change:?}", profile.name);
            }
        }
    }

    #[test]
    fn fitted_profiles_say_so_in_their_first_line() {
        for profile in ALL {
            assert_eq!(profile.label().is_some(), profile.name != LETTER);
            if let Some(text) = profile.text {
                let first = text.lines().next().unwrap();
                assert!(
                    first.contains(profile.name) && first.contains(LABEL),
                    "{first}"
                );
            }
            assert_eq!(Profile::find(profile.name), Ok(profile));
        }
        let problem = Profile::find("closer").unwrap_err();
        assert!(problem.contains("`closer`") && problem.contains("`closest-hosted`"));
    }
}
