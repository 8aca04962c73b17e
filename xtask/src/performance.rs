//! The head of docs/performance.md: what runs cost, measured one after the other on one revision and written between its marks.
//!
//! CPU time is asked of a shell (`times`), which every system has; memory is what the program `growth` tells of itself.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::metadata;
use crate::process::Call;
use crate::step_report::Report;

pub(crate) const HELP: &str = "\
Measures what runs cost and writes the tables at the head of docs/performance.md.

Usage: cargo xtask performance [--city] [--cold] [--short]

  --city    also a world of 100,000 vehicles (2 minutes, 7 GB)
  --cold    also a cold release build, in target/cold (some minutes)
  --short   short runs that show whether everything works; nothing is written

Takes about eight minutes without options once everything is built, and wants the machine to itself. The tables say which revision
and which machine they are of.
";

const FILE: &str = "docs/performance.md";
const BEGIN: &str = "<!-- begin: performance -->";
const END: &str = "<!-- end -->";
const SCENARIO: &str = "scenarios/tamagawa/scenario.toml";

/// What is to be measured.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub(crate) struct Wanted {
    city: bool,
    cold: bool,
    short: bool,
}

impl Wanted {
    /// Reads the arguments.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut wanted = Self::default();
        for word in arguments {
            match word.as_str() {
                "--city" => wanted.city = true,
                "--cold" => wanted.cold = true,
                "--short" => wanted.short = true,
                other => {
                    return Err(format!(
                        "`cargo xtask performance` takes --city, --cold and --short, found `{other}`"
                    ));
                }
            }
        }
        Ok(wanted)
    }
}

/// Measures everything and writes the tables.
pub(crate) fn run(root: &Path, wanted: Wanted, report: &mut Report) {
    let made = Bench::new(root, wanted, report).and_then(|mut bench| bench.tables());
    match made {
        Err(problem) => report.fail(&problem),
        Ok(tables) => {
            report.note(tables.clone());
            if !wanted.short
                && let Err(problem) = write(&root.join(FILE), &tables)
            {
                report.fail(&problem);
            }
        }
    }
}

/// What a program took.
#[derive(Debug, Clone, Default, PartialEq)]
struct Cost {
    /// User and system time.
    cpu_s: f64,
    wall_s: f64,
    output: String,
}

struct Bench<'a> {
    root: &'a Path,
    wanted: Wanted,
    report: &'a mut Report,
    covey: String,
    growth: String,
}

impl<'a> Bench<'a> {
    /// Builds what is measured, and a cold build before that where one is wanted.
    fn new(root: &'a Path, wanted: Wanted, report: &'a mut Report) -> Result<Self, String> {
        let release = PathBuf::from(metadata::target_folder(root)?).join("release");
        let mut bench = Self {
            root,
            wanted,
            report,
            covey: release.join("covey").to_string_lossy().into_owned(),
            growth: release
                .join("examples/growth")
                .to_string_lossy()
                .into_owned(),
        };
        let example = ["-p", "covey-simulator", "--example", "growth"];
        for more in [&[][..], &example] {
            bench.cost(&[&["cargo", "build", "--release", "--locked"], more].concat())?;
        }
        Ok(bench)
    }

    /// Runs a program to its end.
    fn cost(&mut self, words: &[&str]) -> Result<Cost, String> {
        let mut arguments = vec!["-c", "\"$@\" || exit 1; times", "sh"];
        arguments.extend(words);
        self.report.note(words.join(" "));
        let call = Call::new(self.root, "sh", &arguments).env("CARGO_TERM_COLOR", "never");
        let begin = Instant::now();
        let finished = call.run(|_, _| {});
        let wall_s = begin.elapsed().as_secs_f64();
        if !finished.ok {
            return Err(format!("`{}` failed\n{}", words.join(" "), finished.output));
        }
        let cpu_s = children_s(&finished.output)
            .ok_or_else(|| format!("the shell told no times:\n{}", finished.output))?;
        Ok(Cost {
            cpu_s,
            wall_s,
            output: finished.output,
        })
    }

    /// A run of the corridor with some arms (none: the letter's), over seconds of warm-up and as many of measurement.
    fn corridor(&mut self, arms: &[&str], seconds: u32, jobs: u32) -> Result<Cost, String> {
        let out = std::env::temp_dir().join(format!("covey-performance-{}", std::process::id()));
        let folder = out.to_string_lossy().into_owned();
        let (seconds, jobs) = (seconds.to_string(), jobs.to_string());
        let covey = self.covey.clone();
        let mut words = vec![&covey, "run", SCENARIO, "--seed", "1", "--quiet"];
        words.extend(["--warmup", &seconds, "--measure", &seconds]);
        words.extend(["--jobs", &jobs, "--out", &folder]);
        for arm in arms {
            words.extend(["--arm", arm]);
        }
        let cost = self.cost(&words);
        // What is left there is of no use to anybody.
        let _ = fs::remove_dir_all(&out);
        cost
    }

    fn tables(&mut self) -> Result<String, String> {
        let mut rows = String::new();
        self.seed(&mut rows)?;
        self.arms(&mut rows)?;
        self.host(&mut rows)?;
        let growth = self.growth(&mut rows)?;
        if self.wanted.cold {
            self.cold(&mut rows)?;
        }
        let head = self.revision()?;
        Ok(format!(
            "{head}\n\n| what | costs |\n|---|---|\n{rows}\n| vehicles, `proposed@0.4` | CPU s per simulated s | exponent | peak memory | a vehicle |\n\
             |---:|---:|---:|---:|---:|\n{growth}"
        ))
    }

    /// Which source, which machine.
    fn revision(&self) -> Result<String, String> {
        let read = |program: &str, words: &[&str]| Call::new(self.root, program, words).read();
        let revision = read("git", &["rev-parse", "--short", "HEAD"])?;
        let changed = !read("git", &["status", "--porcelain", "--untracked-files=no"])?.is_empty();
        let compiler = read("rustc", &["--version"])?;
        let day = read("date", &["-u", "+%Y-%m-%d"])?;
        let machine = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let machine = machine
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
            .map_or("an unknown processor", |(_, name)| name.trim());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let compiler: Vec<&str> = compiler.split_whitespace().take(2).collect();
        Ok(format!(
            "Made by `cargo xtask performance` of {}{}, {}, {}; {cores} cores of {machine}.",
            revision.trim(),
            if changed { " with changes" } else { "" },
            day.trim(),
            compiler.join(" "),
        ))
    }

    fn seed(&mut self, rows: &mut String) -> Result<(), String> {
        let seconds = if self.wanted.short { 1 } else { 40 };
        let one = self.corridor(&[], seconds, 1)?;
        let two = self.corridor(&[], seconds, 2)?;
        let _ = writeln!(
            rows,
            "| one seed of the letter's evaluation, 16 arms, {seconds} s + {seconds} s with 1,209 vehicles | {} CPU s |\n\
             | the same with one thread and with two | {} and {} s: {} times as fast |",
            figure(one.cpu_s),
            figure(one.wall_s),
            figure(two.wall_s),
            figure(one.wall_s / two.wall_s),
        );
        Ok(())
    }

    /// What arms cost besides what all share.
    fn arms(&mut self, rows: &mut String) -> Result<(), String> {
        let seconds = if self.wanted.short { 1 } else { 10 };
        let hosted: [&str; 9] = [
            "cam-only",
            "random@0.2",
            "random@0.4",
            "random@0.8",
            "coverage-only@0.4",
            "conditional@0.4",
            "proposed@0.2",
            "proposed@0.4",
            "proposed@0.8",
        ];
        let mut per_s = |arms: &[&str]| {
            self.corridor(arms, seconds, 1)
                .map(|cost| cost.cpu_s / f64::from(2 * seconds))
        };
        let alone = per_s(&hosted[..1])?;
        let with_hosted = per_s(&hosted)?;
        let with_senders = per_s(&["cam-only", "cpm-etsi", "cpm-rmr"])?;
        let with_demand = per_s(&["cam-only", "demand@0.15"])?;
        let _ = writeln!(
            rows,
            "| `cam-only`, start included | {} CPU s per simulated s |\n\
             | one more arm of the letter's hosted ones; a sender-side one; `demand@0.15` | {}; {}; {} CPU s per simulated s more |",
            figure(alone),
            figure((with_hosted - alone) / (hosted.len() - 1) as f64),
            figure((with_senders - alone) / 2.0),
            figure(with_demand - alone),
        );
        Ok(())
    }

    /// A host's cycle, by the bench of the protocol.
    fn host(&mut self, rows: &mut String) -> Result<(), String> {
        let words = "cargo bench -p covey-protocol --bench host_cycle -- --quick --noplot";
        let mut words: Vec<&str> = words.split(' ').collect();
        words.push("host cycle");
        let output = self.cost(&words)?.output;
        for (name, time) in criterion_times(&output) {
            let _ = writeln!(rows, "| `{name}` (bench `host_cycle`) | {time} |");
        }
        Ok(())
    }

    fn growth(&mut self, rows: &mut String) -> Result<String, String> {
        let mut sizes = vec![("1", "1"), ("4", "1"), ("13", "1")];
        if self.wanted.city {
            sizes.push(("83", "0.4"));
        }
        if self.wanted.short {
            sizes = vec![("1", "0.4"), ("2", "0.4")];
        }
        let growth = self.growth.clone();
        let mut lines = String::new();
        let mut first: Option<World> = None;
        for (copies, seconds) in sizes {
            let words = [&growth, SCENARIO, copies, seconds, seconds, "proposed@0.4"];
            let cost = self.cost(&words)?;
            let simulated: f64 = seconds.parse::<f64>().unwrap_or(1.0) * 2.0;
            let world = World::read(&cost, simulated)
                .ok_or_else(|| format!("`growth` told no vehicles:\n{}", cost.output))?;
            let exponent = first.as_ref().map(|first| first.exponent(&world));
            let _ = writeln!(
                lines,
                "| {} | {} | {} | {} MB | {} kB |",
                thousands(world.vehicles),
                figure(world.cpu_per_s),
                exponent.map_or_else(|| "–".to_owned(), |x| format!("{x:.2}")),
                (world.peak_kb / 1024.0).round(),
                (world.peak_kb / world.vehicles as f64).round(),
            );
            if let (Some(first), Some(exponent)) = (&first, exponent) {
                if copies == "13" {
                    let _ = writeln!(
                        rows,
                        "| 2 simulated seconds of one arm, {} / {} vehicles, start included | {} / {} CPU s: exponent {exponent:.2} |",
                        thousands(first.vehicles),
                        thousands(world.vehicles),
                        figure(2.0 * first.cpu_per_s),
                        figure(2.0 * world.cpu_per_s),
                    );
                }
            } else {
                first = Some(world);
            }
        }
        Ok(lines)
    }

    fn cold(&mut self, rows: &mut String) -> Result<(), String> {
        let folder = PathBuf::from(metadata::target_folder(self.root)?).join("cold");
        let remove = |folder: &Path| fs::remove_dir_all(folder);
        // Where there was nothing, there is nothing to remove.
        let _ = remove(&folder);
        let words = ["cargo", "build", "--release", "--locked", "--target-dir"];
        let cost = self.cost(&[&words[..], &[&folder.to_string_lossy()]].concat())?;
        let _ = remove(&folder);
        let wall = cost.wall_s.round() as u64;
        let _ = writeln!(
            rows,
            "| a cold `cargo build --release` | {} min {} s, {} CPU s |",
            wall / 60,
            wall % 60,
            figure(cost.cpu_s)
        );
        Ok(())
    }
}

/// One world that `growth` ran.
struct World {
    vehicles: u64,
    cpu_per_s: f64,
    peak_kb: f64,
}

impl World {
    fn read(cost: &Cost, simulated_s: f64) -> Option<Self> {
        let line = cost
            .output
            .lines()
            .find(|line| line.contains(" vehicles, "))?;
        let peak = line.split_once("VmHWM:")?.1.trim();
        Some(Self {
            vehicles: line.split_once(' ')?.0.parse().ok()?,
            cpu_per_s: cost.cpu_s / simulated_s,
            peak_kb: peak.strip_suffix("kB")?.trim().parse().ok()?,
        })
    }

    /// With which power of the vehicles the cost grows from here to `other`.
    fn exponent(&self, other: &Self) -> f64 {
        (other.cpu_per_s / self.cpu_per_s).ln()
            / (other.vehicles as f64 / self.vehicles as f64).ln()
    }
}

/// What children of the shell took, of the two last lines that `times` prints: `0m1.250s 0m0.010s`.
fn children_s(output: &str) -> Option<f64> {
    let seconds = |word: &str| {
        let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
    };
    let (user, system) = output.lines().last()?.trim().split_once(' ')?;
    Some(seconds(user)? + seconds(system)?)
}

/// Names and middle times in what criterion prints; a long name has a line of its own.
fn criterion_times(output: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut last = "";
    for line in output.lines() {
        // What changed since the last time is told in per cent.
        if let Some((before, times)) = line.split_once("time:").filter(|_| !line.contains('%')) {
            let words: Vec<&str> = times.trim().trim_matches(['[', ']']).split(' ').collect();
            let name = match before.trim() {
                "" => last,
                name => name,
            };
            if let [_, _, middle, unit, ..] = words[..] {
                found.push((name.to_owned(), format!("{middle} {unit}")));
            }
        }
        last = line.trim();
    }
    found
}

/// Two digits, or all before the point.
fn figure(value: f64) -> String {
    match value.abs() {
        x if x >= 10.0 => format!("{value:.0}"),
        x if x >= 1.0 => format!("{value:.1}"),
        x if x >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn thousands(value: u64) -> String {
    if value < 1000 {
        value.to_string()
    } else {
        format!("{},{:03}", thousands(value / 1000), value % 1000)
    }
}

/// Puts the tables between the marks of the file.
fn write(path: &Path, tables: &str) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{FILE}: {error}");
    let text = fs::read_to_string(path).map_err(told)?;
    fs::write(path, between(&text, tables)?).map_err(told)
}

fn between(text: &str, tables: &str) -> Result<String, String> {
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = parts.ok_or_else(|| format!("{FILE}: expected `{BEGIN}` and `{END}`"))?;
    Ok(format!("{before}{BEGIN}\n{tables}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_children_are_those_of_the_last_line() {
        let said = "done\n0m0.000000s 0m0.010000s\n1m1.250000s 0m0.750000s\n";
        assert_eq!(children_s(said), Some(62.0));
        assert_eq!(children_s("nothing"), None);
    }

    #[test]
    fn a_world_and_its_exponent_are_read() {
        let cost = |vehicles, cpu_s| Cost {
            cpu_s,
            output: format!(
                "{vehicles} vehicles, 1 arms: 1.0 s; Timing {{}}; VmHWM:\t  2048 kB\n0m0s"
            ),
            ..Cost::default()
        };
        let small = World::read(&cost(1000, 2.0), 2.0).unwrap();
        let large = World::read(&cost(10_000, 20.0), 2.0).unwrap();
        assert_eq!((small.vehicles, small.peak_kb), (1000, 2048.0));
        assert!((small.exponent(&large) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn times_of_benches_are_found_on_one_line_and_on_two() {
        let said = "host/cycle/150          time:   [150.1 µs 153.2 µs 160 µs]\nhost/a long name of a cycle\n                        time:   [1 ms 2 ms 3 ms]\n                 change:\n                        time:   [−72% −71% −70%] (p = 0.07 > 0.05)\n";
        let found = criterion_times(said);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], ("host/cycle/150".into(), "153.2 µs".into()));
        assert_eq!(
            found[1],
            ("host/a long name of a cycle".into(), "2 ms".into())
        );
    }

    #[test]
    fn tables_are_put_between_the_marks() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let new = between(&text, "new").unwrap();
        assert_eq!(new, format!("a\n{BEGIN}\nnew\n{END}\nb\n"));
        assert!(between("a", "new").is_err());
    }

    #[test]
    fn figures_have_two_digits_or_more() {
        let shown: Vec<String> = [66.7, 2.25, 0.523, 0.0214].map(figure).into();
        assert_eq!(shown, ["67", "2.2", "0.52", "0.021"]);
        assert_eq!(thousands(1_000_347), "1,000,347");
    }
}
