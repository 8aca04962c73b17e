//! Traffic lights: what each link shows at an instant.

use covey_world::network::Network;

/// What a link shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Light {
    /// Go, nobody crosses (`G`).
    Protected,
    /// Go, but yield by the junction's table (`g`, `o`, `O`, and links without a light).
    Permissive,
    /// Stop if possible (`y`).
    Yellow,
    /// Stop (`r`, `u` and anything else).
    Red,
    /// Stop, then go if nobody comes (`s`).
    StopFirst,
}

impl Light {
    fn of(letter: u8) -> Self {
        match letter {
            b'G' => Self::Protected,
            b'g' | b'o' | b'O' => Self::Permissive,
            b'y' | b'Y' => Self::Yellow,
            b's' => Self::StopFirst,
            _ => Self::Red,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Signals {
    programs: Vec<Program>,
    /// The links' lights of the current instant, program after program.
    lights: Vec<Light>,
}

#[derive(Debug, Clone)]
struct Program {
    /// Ends of the phases from the beginning of the cycle, microseconds.
    ends: Vec<i64>,
    offset: i64,
    states: Vec<Vec<Light>>,
    first_light: usize,
    links: usize,
    current: usize,
}

const MICRO: f64 = 1e6;

impl Signals {
    /// The programs of `network`. A program without phases, or whose phases take no time, shows green by the table.
    pub(crate) fn new(network: &Network) -> Self {
        let mut lights = Vec::new();
        let mut programs = Vec::new();
        for signal in &network.signals {
            let links = signal
                .phases
                .iter()
                .map(|p| p.state.len())
                .max()
                .unwrap_or(0);
            let mut ends = Vec::new();
            let mut end = 0_i64;
            for phase in &signal.phases {
                end = end.saturating_add((phase.duration.clamp(0.0, 1e6) * MICRO).round() as i64);
                ends.push(end);
            }
            programs.push(Program {
                ends,
                offset: (signal.offset.clamp(-1e6, 1e6) * MICRO).round() as i64,
                states: signal
                    .phases
                    .iter()
                    .map(|p| p.state.iter().map(|&l| Light::of(l)).collect())
                    .collect(),
                first_light: lights.len(),
                links,
                current: usize::MAX,
            });
            lights.extend(std::iter::repeat_n(Light::Permissive, links));
        }
        Self { programs, lights }
    }

    /// Sets all lights to those of `time_us`.
    pub(crate) fn set(&mut self, time_us: i64) {
        for program in &mut self.programs {
            let Some(&cycle) = program.ends.last() else {
                continue;
            };
            if cycle <= 0 {
                continue;
            }
            // SUMO: an offset delays the program.
            let at = (time_us - program.offset).rem_euclid(cycle);
            let phase = program.ends.partition_point(|&end| end <= at);
            if phase == program.current {
                continue;
            }
            program.current = phase;
            let state = &program.states[phase];
            for link in 0..program.links {
                self.lights[program.first_light + link] =
                    state.get(link).copied().unwrap_or(Light::Red);
            }
        }
    }

    /// What a link shows; a link that its program does not have shows red.
    pub(crate) fn light(&self, signal: Option<(u32, u32)>) -> Light {
        let Some((s, link)) = signal else {
            return Light::Permissive;
        };
        let program = &self.programs[s as usize];
        if (link as usize) < program.links {
            self.lights[program.first_light + link as usize]
        } else {
            Light::Red
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use covey_world::network::{Phase, Signal};

    #[test]
    fn phases_follow_the_clock_and_the_offset_delays_them() {
        let phase = |duration, state: &str| Phase {
            duration,
            state: state.bytes().collect(),
        };
        let network = Network {
            signals: vec![Signal {
                name: "s".into(),
                offset: 5.0,
                phases: vec![phase(10.0, "Gr"), phase(3.0, "yr"), phase(7.0, "rg")],
            }],
            ..Network::default()
        };
        let mut signals = Signals::new(&network);
        let mut at = |seconds: f64| {
            signals.set((seconds * 1e6) as i64);
            (signals.light(Some((0, 0))), signals.light(Some((0, 1))))
        };
        assert_eq!(at(5.0), (Light::Protected, Light::Red));
        assert_eq!(at(14.999), (Light::Protected, Light::Red));
        assert_eq!(at(15.0), (Light::Yellow, Light::Red));
        assert_eq!(at(18.0), (Light::Red, Light::Permissive));
        assert_eq!(at(25.0), (Light::Protected, Light::Red));
        assert_eq!(at(0.0), (Light::Red, Light::Permissive));
        assert_eq!(at(-15.0), (Light::Protected, Light::Red));
        assert_eq!(signals.light(Some((0, 2))), Light::Red);
        assert_eq!(signals.light(None), Light::Permissive);
    }
}
