//! What a flood of forged stations costs a host: time of an input and of a decision, and memory. Figures of docs/security.md.
//!
//! `cargo run --release -p covey-protocol --example flood`
//!
//! Times of single calls are by the clock, so they hold on an idle machine alone; means by CPU time, where the system tells it, hold beside
//! other work, too.

#![expect(clippy::print_stdout, reason = "it tells figures")]

use std::time::{Duration as Elapsed, Instant as Clock};

use covey_protocol::messages::{AgentState, Beacon, Size};
use covey_protocol::{AgentId, Duration, Input, Instant, Participant, Position, Profile};

fn beacon(sender: u64, at: Instant, x: f64, y: f64) -> Beacon {
    Beacon {
        sender: AgentId(sender),
        at,
        state: AgentState {
            position: Position::new(x, y),
            heading: sender as f64,
            speed: 10.0,
            size: Size {
                length: 4.5,
                width: 1.8,
                height: 1.5,
            },
        },
        digest: None,
        low_frequency: false,
    }
}

/// The most memory that the process had, in kB, where the system tells.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// CPU time of the process so far, where the system tells; to a few milliseconds.
fn cpu() -> Option<Elapsed> {
    let line = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanos = line.split_whitespace().next()?.parse().ok()?;
    Some(Elapsed::from_nanos(nanos))
}

/// Runs something and adds its CPU time to `sum`.
fn timed(sum: &mut Option<Elapsed>, run: impl FnOnce()) {
    let before = cpu();
    run();
    *sum = sum.and_then(|sum| Some(sum + (cpu()? - before?)));
}

/// Times of the calls: mean, 99 of 100, longest.
fn say(what: &str, mut times: Vec<Elapsed>) {
    times.sort_unstable();
    let Some(&longest) = times.last() else { return };
    let mean = times.iter().sum::<Elapsed>() / times.len() as u32;
    let most = times[times.len() * 99 / 100];
    println!(
        "  {what}: {} calls, mean {mean:?}, p99 {most:?}, longest {longest:?}",
        times.len()
    );
}

/// A host that hears `names` stations, each `times` times, and `steady` ones that beacon again and again.
fn flood(profile: &Profile, names: u64, times: i64, steady: u64, spread_m: f64) {
    let mut now = Instant::ZERO;
    let mut host = Participant::new(profile, AgentId(1), now);
    let (mut inputs, mut ticks) = (Vec::new(), Vec::new());
    let (mut inputs_cpu, mut ticks_cpu) = (Some(Elapsed::ZERO), Some(Elapsed::ZERO));
    let mut next = 1_000_000_u64;
    let per_step = names / 60;
    let earlier = |k| Duration::from_millis(100 * k);
    for step in 0..100 {
        let own = beacon(1, now, 250.0, 250.0).state;
        host.handle_input(now, Input::Moved(&own));
        let again = (0..steady).filter(|k| k % 2 == step % 2).map(|k| 10 + k);
        let new = (0..if step >= 40 { per_step } else { 0 }).map(|_| {
            next += 1;
            next.wrapping_mul(0x9E37_79B9) % 4_000_000_000
        });
        let again = again.map(|sender| (sender, now));
        let new = new.flat_map(|sender| (0..times).rev().map(move |k| (sender, now - earlier(k))));
        let said: Vec<Beacon> = again
            .chain(new)
            .map(|(sender, at)| {
                let place = |k: u64| {
                    let share = (AgentId(sender ^ k).mixed() >> 11) as f64 / (1_u64 << 53) as f64;
                    spread_m * (share - 0.5)
                };
                beacon(sender, at, 250.0 + place(0), 250.0 + place(77))
            })
            .collect();
        timed(&mut inputs_cpu, || {
            for said in &said {
                let begin = Clock::now();
                host.handle_input(now, Input::Beacon(said));
                inputs.push(begin.elapsed());
            }
        });
        let mut sum = ticks_cpu;
        let begin = Clock::now();
        timed(&mut sum, || host.handle_input(now, Input::Tick));
        if host.host().is_some() {
            ticks.push(begin.elapsed());
            ticks_cpu = sum;
        }
        while let Some(output) = host.poll_output() {
            if matches!(output, covey_protocol::Output::WakeAt(_)) {
                break;
            }
        }
        now = now + Duration::from_millis(50);
    }
    // One tick in four decides.
    let each = |sum: Option<Elapsed>, n: usize| sum.map(|sum| sum / n.max(1) as u32);
    if let (Some(input), Some(decision)) = (
        each(inputs_cpu, inputs.len()),
        each(ticks_cpu, ticks.len() / 4),
    ) {
        println!("  by CPU time: {input:?} an input, {decision:?} a decision");
    }
    say("inputs", inputs);
    ticks.sort_unstable();
    say("decisions", ticks.split_off(ticks.len() * 3 / 4));
    println!("  let go or not taken in: {:?}", host.refusals());
}

fn main() {
    for (name, profile) in [("letter", Profile::letter()), ("demand", Profile::demand())] {
        for (names, times, steady, spread_m) in [
            (0, 1, 150, 300.0),
            (0, 1, 1_000, 300.0),
            (0, 1, 1_000, 5.0),
            (100_000, 1, 300, 300.0),
            (33_000, 3, 300, 300.0),
        ] {
            println!(
                "{name}: {steady} stations within {spread_m} m, and {names} names in 3 s, each heard {times} times"
            );
            flood(&profile, names, times, steady, spread_m);
        }
    }
    if let Some(peak) = peak_kb() {
        println!("most memory: {peak} kB");
    }
}
