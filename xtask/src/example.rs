//! What `examples/own-policy` is made to do, and what it must have done: run, report, sweep and view on its own arm.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::process::Call;

/// Its arm, with the allowance of its plan.
const ARM: &str = "most-uncovered@0.03";
const SCENARIO: &str = "scenarios/toy/blind-junction/scenario.toml";

/// The built example, and a folder for what it leaves.
pub(crate) struct Example {
    program: PathBuf,
    out: PathBuf,
}

impl Example {
    /// The example in a target folder, with nothing left of former runs.
    pub(crate) fn new(target: &str) -> Self {
        let out = Path::new(target).join("tmp/own-policy");
        // Where there was nothing, there is nothing to remove.
        let _ = std::fs::remove_dir_all(&out);
        Self {
            program: Path::new(target).join("debug/own-policy"),
            out,
        }
    }

    fn folder(&self, name: &str) -> String {
        self.out.join(name).display().to_string()
    }

    /// The commands of docs/write-a-policy.md, the run on a short window.
    pub(crate) fn calls(&self, root: &Path) -> Vec<Call> {
        let program = self.program.display().to_string();
        let (run, sweep) = (self.folder("run"), self.folder("sweep"));
        let mut words = vec!["run", SCENARIO, "--record", "--quiet", "--out", &run];
        words.extend(["--warmup", "2", "--measure", "4"]);
        for arm in ["cam-only", "random@0.03", "proposed@0.03", ARM] {
            words.extend(["--arm", arm]);
        }
        for seed in ["1", "2", "3", "4", "5", "6"] {
            words.extend(["--seed", seed]);
        }
        let plan = "examples/own-policy/plan.toml";
        let sweep = ["sweep", plan, "--quiet", "--csv", "--out", &sweep];
        [&["arms"][..], &words, &["report", &run], &sweep]
            .iter()
            .map(|arguments| Call::new(root, &program, arguments))
            .collect()
    }

    /// What is wrong with what the calls left.
    pub(crate) fn check(&self) -> Result<Vec<String>, String> {
        let read = |path: PathBuf| {
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let run = self.out.join("run");
        let mut wrong = Vec::new();
        let mut expect = |fine: bool, complaint: &str| {
            if !fine {
                wrong.push(format!("examples/own-policy: {complaint}"));
            }
        };
        let html = read(run.join("report.html"))?;
        expect(html.contains(ARM), "the report does not name its arm");
        let summary = json(&read(run.join("summary.json"))?)?;
        let deficit = &summary["arms"][ARM]["deficit"];
        let interval = ["lo", "mean", "hi"].map(|field| deficit[field].as_f64());
        expect(
            interval.is_sorted() && interval.iter().all(Option::is_some),
            "the summary has no interval of its arm",
        );
        let paired = summary["paired"].as_array().into_iter().flatten();
        expect(
            paired.filter(|pair| pair["better"] == ARM).count() == 3,
            "its arm is not held against the three others",
        );
        let table = read(self.out.join("sweep/arms.csv"))?;
        expect(
            table.matches(ARM).count() == 2,
            "its sweep does not have its arm in both worlds",
        );
        let recordings = self.recordings(&run)?;
        let all = recordings.as_array().map_or(&[][..], Vec::as_slice);
        let has_arm = |recording: &Value| {
            let mut arms = recording["arms"].as_array().into_iter().flatten();
            arms.any(|arm| arm == ARM)
        };
        expect(
            all.len() == 6 && all.iter().all(has_arm),
            "the viewer does not show its arm in six recordings",
        );
        Ok(wrong)
    }

    /// What the example's viewer says of the recordings in a folder.
    fn recordings(&self, folder: &Path) -> Result<Value, String> {
        let failed = |error: std::io::Error| format!("{} view: {error}", self.program.display());
        let mut child = Command::new(&self.program)
            .arg("view")
            .arg(folder)
            .arg("--no-open")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let answer = first_line(child.stdout.take()).and_then(|url| list(&url));
        let ended = child.kill().and_then(|()| child.wait());
        ended.map_err(failed)?;
        json(&answer.map_err(failed)?)
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("examples/own-policy: no JSON: {error}"))
}

fn first_line(out: Option<impl Read>) -> std::io::Result<String> {
    let mut line = String::new();
    if let Some(out) = out {
        BufReader::new(out).read_line(&mut line)?;
    }
    Ok(line.trim().to_string())
}

/// The list of recordings that a viewer's server gives.
fn list(url: &str) -> std::io::Result<String> {
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host)?;
    let request =
        format!("GET /api/recordings HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok(body.to_string())
}
