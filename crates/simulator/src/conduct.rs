//! Participants that do not play by the rules.
//!
//! A share of the participants misbehaves, drawn by address, whatever the arm. Some lie when they may be asked, some when they are
//! in office, some in all that they say; on the road they do as everyone does. Sender-side arms ask nobody: they see no more of it
//! than that nobody hears the beacons of a liar far off or ahead of time, and the omniscient yardstick not even that.

use covey_draws::{Draws, Purpose};
use covey_parameters::{choices, choices_by_name, parameters};
use serde::{Deserialize, Serialize};

parameters! {
    /// How participants behave.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Conduct {
        /// Participants that misbehave.
        misbehaving: f64 = 0.0, unit "share of participants", range at_least(0.0).at_most(1.0), source "reading 45";
        /// What they do.
        misbehaviour: Misbehaviour = Misbehaviour::ClaimViews, source "reading 45";
    }
}

choices! {
    /// What a misbehaving participant does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Misbehaviour {
        /// It claims views that it does not have: its digest marks every cell within its sensor's range, and when it is asked
        /// it sends reports without any object. Policies that predict views without digests believe in its sight lines, as
        /// they do with everyone.
        ClaimViews = "claim-views",
        /// It is silent when it is named; its digest is true.
        Silent = "silent",
        /// Its reports tell of 30 objects around it that are not there, besides what it sees.
        Ghosts = "ghosts",
        /// In office it claims the tile and does nothing: its broadcasts list nothing and ask nobody.
        ServeNobody = "serve-nobody",
        /// In office it asks everybody within its footprint to report all that they see, for as long as a message can say.
        AskEverybody = "ask-everybody",
        /// In office it tells the highest price that a message can hold.
        HighPrice = "high-price",
        /// In office it says that it has been there for 49 days, so that no other host stays beside it.
        LongTenure = "long-tenure",
        /// In office it says nothing, and goes on to beacon.
        SilentHost = "silent-host",
        /// In office it says its first broadcast again and again.
        Replay = "replay",
        /// Its messages tell that it is at the centre of its tile, where hosts are sought; it takes no office for that.
        AtCentre = "at-centre",
        /// Its messages tell a place 150 m from where it is, always in the same direction.
        Elsewhere = "elsewhere",
        /// Its messages tell a place that is twice as far off as anybody is heard: nobody believes them.
        FarOff = "far-off",
        /// Its messages are from four times as far ahead as is let pass: nobody believes them.
        ClockAhead = "clock-ahead",
        /// Its messages are so old by their own word that they count for 0.1 s.
        ClockBehind = "clock-behind",
    }
}
choices_by_name!(Misbehaviour);

/// What is wrong with all that a vehicle says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// It says it is at the centre of its tile.
    Centre,
    /// It says it is near by, and is not there.
    Elsewhere,
    /// It says it is out of reach.
    FarOff,
    /// Its clock is ahead.
    Ahead,
    /// Its clock is behind.
    Behind,
}

impl Misbehaviour {
    /// What is wrong with all that such a vehicle says of itself, if anything.
    pub(crate) fn lie(self) -> Option<Lie> {
        match self {
            Self::AtCentre => Some(Lie::Centre),
            Self::Elsewhere => Some(Lie::Elsewhere),
            Self::FarOff => Some(Lie::FarOff),
            Self::ClockAhead => Some(Lie::Ahead),
            Self::ClockBehind => Some(Lie::Behind),
            Self::ClaimViews
            | Self::Silent
            | Self::Ghosts
            | Self::ServeNobody
            | Self::AskEverybody
            | Self::HighPrice
            | Self::LongTenure
            | Self::SilentHost
            | Self::Replay => None,
        }
    }
}

impl Conduct {
    /// Vehicle `id` misbehaves, if it participates.
    pub(crate) fn misbehaves(&self, seed: u64, id: u32) -> bool {
        self.misbehaving > 0.0
            && Draws::new(seed, Purpose::Conduct, 0, 0).at(id, 0).uniform() < self.misbehaving
    }

    /// In which direction vehicle `id` lies of its place, in radians.
    pub(crate) fn bearing(&self, seed: u64, id: u32) -> f64 {
        let turn = Draws::new(seed, Purpose::Conduct, 0, 0).at(id, 1);
        core::f64::consts::TAU * turn.uniform()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_misbehaves_is_drawn_once_and_for_all() {
        let conduct = |misbehaving| Conduct {
            misbehaving,
            ..Conduct::default()
        };
        let count = |share, seed| {
            (0..10_000)
                .filter(|&id| conduct(share).misbehaves(seed, id))
                .count()
        };
        assert_eq!((count(0.0, 1), count(1.0, 1)), (0, 10_000));
        assert!((400..600).contains(&count(0.05, 1)));
        // Who misbehaves at a share still does at a larger one; another seed has others.
        let at = |share, seed| (0..1_000).filter(move |&id| conduct(share).misbehaves(seed, id));
        assert!(at(0.05, 1).all(|id| conduct(0.2).misbehaves(1, id)));
        assert!(at(0.05, 1).ne(at(0.05, 2)));
    }
}
