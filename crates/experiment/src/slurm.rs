//! A sweep as a Slurm job array.

use std::path::Path;

/// What a script needs to know.
#[derive(Debug, Clone)]
pub struct Script<'a> {
    /// The plan's name, by which the job array is called.
    pub name: &'a str,
    /// The program, by its full path.
    pub program: &'a Path,
    /// The plan, by its full path.
    pub plan: &'a Path,
    /// Where results go, by its full path; a folder that all nodes share.
    pub out: &'a Path,
    /// Runs of the whole sweep.
    pub runs: usize,
    /// Array tasks; each takes every n-th run.
    pub tasks: usize,
    /// CPU seconds that one run is expected to take, if known.
    pub seconds_per_run: Option<f64>,
    /// Arguments to be handed on, such as `--csv`.
    pub more: &'a [String],
}

/// Slurm's own limit on arrays is 1,001 unless its administrator says otherwise.
pub const MOST_TASKS: usize = 1000;

/// The script: submits an array of tasks and a job that makes the tables when they have ended. It can be run by a shell or by
/// `sbatch`.
#[must_use]
pub fn script(s: &Script<'_>) -> String {
    let per_task = s.runs.div_ceil(s.tasks.max(1));
    // Three times the estimate and ten minutes; a task that is ended too early is merely continued by the last job.
    let minutes = s.seconds_per_run.map_or(24 * 60, |seconds| {
        ((seconds * per_task as f64 * 3.0 / 60.0).ceil() as usize + 10).max(15)
    });
    let all_minutes = s.seconds_per_run.map_or(24 * 60, |seconds| {
        ((seconds * per_task as f64 * 6.0 / 60.0).ceil() as usize + 60).max(60)
    });
    let more: String = s
        .more
        .iter()
        .map(|word| format!(" {}", quote(word)))
        .collect();
    let name: String = s
        .name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '-'
            }
        })
        .collect();
    format!(
        r#"#!/bin/bash
#SBATCH --job-name=covey-submit
#SBATCH --time=10
# {runs} runs in {tasks} tasks of a job array, {per_task} each at most, then a job that makes the tables.
# Start it with `bash` or `sbatch`. Tasks may be requeued, cancelled or killed at any time: what is finished is kept, and the
# last job computes whatever is missing. Submitting again goes on where the last submission stopped.
set -eu
COVEY={program}
PLAN={plan}
OUT={out}
mkdir -p "$OUT/slurm"

ARRAY=$(sbatch --parsable --job-name=covey-{name} --array=1-{tasks} --cpus-per-task=1 --time={minutes} \
  --requeue --open-mode=append --output="$OUT/slurm/%A_%a.log" <<EOF
#!/bin/bash
exec $(printf %q "$COVEY") sweep $(printf %q "$PLAN") --out $(printf %q "$OUT") --shard "\$SLURM_ARRAY_TASK_ID/{tasks}" --jobs 1{more}
EOF
)
ARRAY=${{ARRAY%%;*}}

REDUCE=$(sbatch --parsable --job-name=covey-{name}-tables --dependency="afterany:$ARRAY" --cpus-per-task=1 --time={all_minutes} \
  --requeue --open-mode=append --output="$OUT/slurm/%j.log" <<EOF
#!/bin/bash
exec $(printf %q "$COVEY") sweep $(printf %q "$PLAN") --out $(printf %q "$OUT") --jobs "\${{SLURM_CPUS_PER_TASK:-1}}"{more}
EOF
)
echo "submitted: array $ARRAY, tables ${{REDUCE%%;*}}; results in $OUT"
"#,
        runs = s.runs,
        tasks = s.tasks,
        program = quote(&s.program.to_string_lossy()),
        plan = quote(&s.plan.to_string_lossy()),
        out = quote(&s.out.to_string_lossy()),
    )
}

/// A word as the shell reads it.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The shard of a task of an array, from the variables that Slurm sets (`get` looks one up): number from 1, and how many. None
/// outside an array.
#[must_use]
pub fn shard_from(get: impl Fn(&str) -> Option<String>) -> Option<(usize, usize)> {
    let number = |name: &str| get(name)?.parse::<usize>().ok();
    let id = number("SLURM_ARRAY_TASK_ID")?;
    let first = number("SLURM_ARRAY_TASK_MIN").unwrap_or(0);
    let last = number("SLURM_ARRAY_TASK_MAX")?;
    (first <= id && id <= last).then(|| (id - first + 1, last - first + 1))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    fn example() -> String {
        script(&Script {
            name: "density x",
            program: Path::new("/opt/co vey"),
            plan: Path::new("/p/it's.toml"),
            out: Path::new("/out"),
            runs: 25,
            tasks: 10,
            seconds_per_run: Some(60.0),
            more: &["--csv".to_string()],
        })
    }

    #[test]
    fn the_script_is_a_shell_script() {
        let mut shell = Command::new("bash")
            .args(["-n", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        shell
            .stdin
            .take()
            .unwrap()
            .write_all(example().as_bytes())
            .unwrap();
        assert!(shell.wait().unwrap().success());
    }

    #[test]
    fn the_script_hands_on_what_it_was_given() {
        let text = example();
        assert!(text.contains("--array=1-10 "), "{text}");
        assert!(text.contains("--time=19 "), "{text}");
        assert!(text.contains(r"PLAN='/p/it'\''s.toml'"), "{text}");
        assert!(text.contains("--job-name=covey-density-x "), "{text}");
        assert_eq!(text.matches(" '--csv'\n").count(), 2, "{text}");
    }

    #[test]
    fn a_task_of_an_array_knows_its_shard() {
        let shard = |variables: &[(&str, &str)]| {
            shard_from(|name| {
                variables
                    .iter()
                    .find(|(n, _)| *n == name)
                    .map(|(_, v)| (*v).to_string())
            })
        };
        let (id, min, max) = (
            "SLURM_ARRAY_TASK_ID",
            "SLURM_ARRAY_TASK_MIN",
            "SLURM_ARRAY_TASK_MAX",
        );
        assert_eq!(shard(&[(id, "3"), (min, "0"), (max, "9")]), Some((4, 10)));
        assert_eq!(shard(&[(id, "3"), (min, "1"), (max, "9")]), Some((3, 9)));
        assert_eq!(shard(&[]), None);
        assert_eq!(shard(&[(id, "x"), (min, "1"), (max, "9")]), None);
    }
}
