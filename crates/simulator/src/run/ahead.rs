//! Several threads in one run: while the arms do the steps from one look of the sensors to the next, the world of the steps from
//! there to the one after is made. Nothing of it depends on what arms do.

use std::thread;

use super::crew::{Crew, Moment};
use super::{FrameSource, RunError, Window};
use crate::cpu::thread_cpu_s;
use crate::gang::Gang;
use crate::measure::Nobody;
use crate::world::World;

/// Goes through all steps of the window. The traffic stays with the caller's thread.
pub(super) fn go(
    world: &mut World<'_>,
    crews: &mut [Crew],
    window: Window,
    gang: &Gang,
    traffic: &mut dyn FrameSource,
) -> Result<(), RunError> {
    let interval = world.prepared.timeline.beacon.max(1) as usize;
    let mut arms = Arms {
        crews,
        world: world.leave(),
        gang,
    };
    arms.world.take_over(world);
    let mut steps = window.steps();
    let mut make = || {
        let steps = steps.by_ref().take(interval);
        let made = steps.map(|step| {
            let moment = window.make(world, step, traffic, gang)?;
            Ok((moment, world.leave()))
        });
        made.collect::<Result<Vec<_>, RunError>>()
    };
    let mut made = make()?;
    while !made.is_empty() {
        made = thread::scope(|scope| {
            // Everyone else is idle.
            gang.take();
            let acting = scope.spawn(|| arms.act(made));
            let next = make();
            // Whatever is left of the arms' work may be done in this one's place.
            gang.give();
            if let Err(panic) = acting.join() {
                std::panic::resume_unwind(panic);
            }
            gang.take();
            next
        })?;
    }
    Ok(())
}

/// What follows the world.
struct Arms<'a, 'p> {
    crews: &'a mut [Crew],
    /// As they knew it at their last step.
    world: World<'p>,
    gang: &'a Gang,
}

impl<'p> Arms<'_, 'p> {
    /// Do some steps, on a thread of their own.
    fn act(&mut self, steps: Vec<(Moment, World<'p>)>) {
        let mut counted = 0.0;
        let mut count = |crew: &mut Crew| {
            let now = thread_cpu_s();
            crew.helpers_cpu_s += now - counted;
            counted = now;
        };
        let alone = self.crews.len() == 1;
        for (moment, mut world) in steps {
            world.take_over(&mut self.world);
            for (turn, crew) in self.crews.iter_mut().enumerate() {
                world.turn_to(turn);
                crew.step(&mut world, &moment, &mut Nobody, self.gang);
                if !alone {
                    count(crew);
                }
            }
            self.world = world;
        }
        if let [crew] = &mut *self.crews {
            count(crew);
        }
        self.gang.give();
    }
}
