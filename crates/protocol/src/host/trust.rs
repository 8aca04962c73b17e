//! Whom a host has room for, whom it believes, and whom it asks no more.

use alloc::vec::Vec;

use super::costs::reported_share;
use super::members::Member;
use super::{Host, labelled};
use crate::grid::Cell;
use crate::ids::{AgentId, ObjectId};
use crate::inclusion::AT_LEAST_EVERY;
use crate::messages::{Beacon, Broadcast, ObjectState, Report};
use crate::policy::HeldObject;
use crate::time::{Duration, Instant};

/// So many others who look at a place and tell of nothing there contradict one who does.
const LOOKERS: usize = 2;
/// Whoever is heard at least so well would be heard if it reported.
const HEARD: f64 = 0.5;
/// Reports with objects that are all lost by no worse a chance than this are taken for bad luck.
const UNLUCKY: f64 = 1e-9;
/// So many objects where somebody says that it sees are something to tell of.
const SOMETHING: usize = 5;
/// No more than so many are barred at a time; who would be free first is let go.
const MOST_BARRED: usize = 256;

impl Host {
    /// Takes in a report: what its sender can have seen, as far as there is room. Those who were asked vouch for what they say.
    pub(super) fn take(&mut self, report: &Report) {
        if report.sender == self.id || !self.guard.is_fresh(self.now, report.at) {
            return;
        }
        let limits = &self.parameters.guard;
        let (now, sense_m) = (self.now, limits.sense_m);
        let member = self.members.get(report.sender);
        let place = member.map(|member| member.state.position);
        let credible = |o: &&ObjectState| {
            o.sensed_at <= now && place.is_none_or(|p| p.distance(o.position) <= sense_m)
        };
        let objects = report.objects.iter().take(limits.message_objects as usize);
        let objects = objects.filter(credible);
        let asked = self.contributors.binary_search(&report.sender).is_ok()
            && member.is_some_and(|member| member.reports.is_trusted(limits.contradicted));
        let past = &mut self.picture.past;
        let labels = self.picture.tracks.as_mut().map(|tracks| {
            past.clear();
            past.extend(objects.clone().copied());
            tracks.label(Some(report.sender.into()), past, true)
        });
        if let Some(member) = self.members.get_mut(report.sender)
            && member.reports.at.is_none_or(|at| report.at > at)
        {
            member.reports.at = Some(report.at);
            member.reports.objects.push(report.objects.len() as f64);
            let ids = &mut member.reports.ids;
            ids.clear();
            match &labels {
                None => ids.extend(report.objects.iter().map(|object| object.id)),
                Some(labels) => ids.extend(labels.iter().flatten()),
            }
            ids.sort_unstable();
            ids.dedup();
            member.reports.sensed_at = report.objects.iter().map(|o| o.sensed_at).min();
        }
        // Those who were asked find room beside all others.
        let most = (limits.objects as usize) << u8::from(asked);
        let fused = &mut self.picture.fused;
        let mut fuse = |state: &ObjectState, source: ObjectId| {
            if !fused.is_full(most, state.id) {
                fused.reported(report.sender, state, source, asked);
            }
        };
        match &labels {
            None => objects.for_each(|state| fuse(state, state.id)),
            Some(labels) => {
                labelled(past, labels).for_each(|(state, label)| fuse(&label, state.id));
            }
        }
    }

    /// Objects of this or the last cycle in a neighbour's broadcast cover their cells.
    pub(super) fn overhear(&mut self, broadcast: &Broadcast) {
        // A broadcast older than the own last decision was heard before it, or came too late to count.
        if broadcast.host == self.id || broadcast.at < self.term.decided || broadcast.at > self.now
        {
            return;
        }
        let objects = &broadcast.objects;
        let most = self.parameters.guard.message_objects as usize;
        let objects = &objects[..objects.len().min(most)];
        if let Some(tracks) = &mut self.picture.tracks {
            let labels = tracks.label(None, objects, false);
            for (_, state) in labelled(objects, &labels) {
                self.picture.fused.overheard(&state);
            }
        }
        for object in objects {
            if self.picture.tracks.is_none() {
                self.picture.fused.overheard(object);
            }
            if object.sensed_at >= broadcast.cycle_start
                && let Some(cell) = Cell::containing(object.position, self.parameters.cell_m)
                && let Some(at) = self.term.window.index(cell)
            {
                self.picture.overheard.push(at);
            }
        }
        // However much is overheard in a cycle, cells are kept once or twice.
        if self.picture.overheard.len() > 2 * self.term.window.len() {
            self.picture.sum_up();
        }
    }

    /// Makes room for a member more, where its sender is none yet: of those heard only once or twice the longest unheard is let go,
    /// else the farthest, if that is farther off than the new one. Contributors stay.
    pub(super) fn make_room(&mut self, beacon: &Beacon) -> bool {
        if self.members.get(beacon.sender).is_some() {
            return true;
        }
        let own = self.own.state.position;
        let (members, contributors) = (&self.members, &self.contributors);
        let gone = self.exits.take_name().or_else(|| {
            let all = || {
                let others = members.iter();
                let others = others.filter(|(id, _)| contributors.binary_search(id).is_err());
                others.map(|(id, m)| (m.state.position.distance(own), id))
            };
            let new = beacon.state.position.distance(own);
            let stays = |id| members.get(id).is_some();
            self.exits.take_farthest(new, all, stays)
        });
        let Some(gone) = gone else {
            return false;
        };
        self.members.remove(gone);
        self.picture.fused.let_go(gone.into());
        if let Some(tracks) = &mut self.picture.tracks {
            tracks.drop(gone.into());
        }
        true
    }

    /// Finds which objects somebody tells of alone although others look there and see nothing: less sure, and a word against who
    /// told of them.
    pub(super) fn weigh_reporters(&mut self, cycle_start: Instant) {
        let (own, members) = (&self.own.cells, &self.members);
        let reports = |member: &Member| member.reports.at.is_some_and(|at| at >= cycle_start);
        let looks = |by: AgentId, cell: Cell| {
            let others = self.contributors.iter().filter(|&&other| other != by);
            let others = others.filter_map(|&other| members.get(other));
            others
                .filter(|member| reports(member) && member.claims_to_see(cell))
                .take(LOOKERS)
                .count()
                == LOOKERS
        };
        let contradicted = |(number, (object, by)): (usize, (&HeldObject, AgentId))| {
            let cell = Cell::containing(object.state.position, self.parameters.cell_m)?;
            let seen = self.term.window.index(cell);
            let seen = seen.is_some_and(|at| own.binary_search(&at).is_ok());
            (seen || looks(by, cell)).then_some((number, by))
        };
        let lonely = self.picture.fused.lonely().enumerate();
        let found: Vec<(usize, AgentId)> = lonely.filter_map(contradicted).collect();
        for &id in &self.contributors {
            let backed = self.picture.fused.backed(id);
            if let Some(member) = self.members.get_mut(id) {
                let against = found.iter().filter(|&&(_, by)| by == id).count();
                member.reports.weigh(backed, against as f64);
            }
        }
        let numbers: Vec<usize> = found.iter().map(|&(number, _)| number).collect();
        self.picture.fused.doubt(&numbers);
    }

    /// A contributor was asked for long, and in vain: it is not asked for a while.
    fn bar(&mut self, id: AgentId) {
        if self.barred.len() >= MOST_BARRED {
            let first = self.barred.iter().min_by_key(|(_, until)| **until);
            if let Some((first, _)) = first {
                self.barred.remove(first);
            }
        }
        let wary = Duration::from_seconds(self.parameters.guard.wary_s);
        self.barred.insert(id, self.now + wary);
    }

    /// Bars contributors that were asked often and told of nothing, although there is something where they say that they see and
    /// they are heard too well for all that they told to be lost.
    pub(super) fn bar_idle(&mut self) {
        let p = &self.parameters;
        let idle = |&id: &AgentId| {
            let member = self.members.get(id)?;
            if member.reports.in_vain < p.guard.empty_reports {
                return None;
            }
            let interval = Duration::from_seconds(p.beacon_interval_s(member.state.speed));
            let share = member.beacon_share(self.now, interval, p.beacon_window);
            let told = f64::from(member.reports.in_vain) * p.cycle_s / AT_LEAST_EVERY.seconds();
            // The request has to get through, and the report.
            let lost = 1.0 - share.min(1.0) * share.min(1.0);
            if share < HEARD || libm::pow(lost, told) > UNLUCKY {
                return None;
            }
            let fresh = self.picture.fused.fresh().iter();
            let there = fresh.filter(|object| {
                let cell = Cell::containing(object.state.position, p.cell_m);
                object.state.id != id.into()
                    && reported_share(p, object) > 0.0
                    && cell.is_some_and(|c| member.claims_to_see(c))
            });
            (there.take(SOMETHING).count() == SOMETHING).then_some(id)
        };
        let found: Vec<AgentId> = self.contributors.iter().filter_map(idle).collect();
        found.into_iter().for_each(|id| self.bar(id));
    }
}
