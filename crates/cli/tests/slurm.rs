//! A sweep as a job array of a real Slurm: two nodes on this machine, a task and a node daemon killed on the way, and the
//! same tables as from a local run.
//!
//! Slurm and munge are started by the test with keys, ports and folders of their own, and ended by process id.

mod common;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::covey;

/// The whole test must be through within this time.
const PATIENCE: Duration = Duration::from_secs(400);

/// A process that ends with the test.
struct Daemon {
    child: Child,
}

impl Daemon {
    fn start(cluster: &Cluster, program: &str, arguments: &[&str]) -> Self {
        let log = |end: &str| {
            let name = format!("{program}-{}.{end}", arguments.last().unwrap_or(&""));
            let file = cluster.folder.join(name.replace('/', "_"));
            Stdio::from(std::fs::File::create(file).expect("a log"))
        };
        // Daemons live in folders that are not on everybody's path.
        let path = format!(
            "{}:/usr/sbin:/sbin",
            std::env::var("PATH").unwrap_or_default()
        );
        let child = Command::new(program)
            .args(arguments)
            .env("PATH", path)
            .env("SLURM_CONF", &cluster.conf)
            .stdin(Stdio::null())
            .stdout(log("out"))
            .stderr(log("err"))
            .spawn()
            .unwrap_or_else(|error| {
                panic!("{program}: {error}; `cargo xtask test setup` installs it")
            });
        Self { child }
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Folder and configuration of a Slurm of our own.
struct Cluster {
    folder: PathBuf,
    conf: PathBuf,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

impl Cluster {
    fn new() -> Self {
        // Not under the target folder: names of sockets may have 108 bytes at most.
        let folder = std::env::temp_dir().join(format!("covey-slurm-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for name in ["state", "n1", "n2"] {
            std::fs::create_dir_all(folder.join(name)).expect("a folder");
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a host name");
        let host = host.trim().split('.').next().expect("a name");
        let at = folder.display();
        let (controller, n1, n2) = (free_port(), free_port(), free_port());
        let text = format!(
            "ClusterName=covey\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\nSlurmUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\nStateSaveLocation={at}/state\n\
             SlurmdSpoolDir={at}/%n\nSlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd-%n.pid\n\
             SlurmctldLogFile={at}/slurmctld.log\nSlurmdLogFile={at}/slurmd-%n.log\nMpiDefault=none\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n\
             SlurmdParameters=config_overrides\nSlurmdTimeout=60\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1} CPUs=1\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={n2} CPUs=1\n\
             PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n"
        );
        let conf = folder.join("slurm.conf");
        std::fs::write(&conf, text).expect("a configuration");
        Self { folder, conf }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn munge(&self) -> Daemon {
        let key: Vec<u8> = (0..128u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        let file = self.path("munge.key");
        std::fs::write(&file, key).expect("a key");
        let status = Command::new("chmod").args(["600", &file]).status();
        assert!(status.expect("chmod").success());
        let option = |name: &str, file: &str| format!("--{name}={}", self.path(file));
        Daemon::start(
            self,
            "munged",
            &[
                "--foreground",
                "--force",
                &option("key-file", "munge.key"),
                &option("pid-file", "munge.pid"),
                &option("log-file", "munge.log"),
                &option("seed-file", "munge.seed"),
                &option("socket", "munge.socket"),
            ],
        )
    }

    /// The output of one of Slurm's commands; none if it failed.
    fn ask(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", &self.conf)
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Everything that the daemons said, for a test that failed.
    fn logs(&self) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "log" || e == "err") {
                let log = std::fs::read_to_string(&path).unwrap_or_default();
                let tail: Vec<&str> = log.lines().rev().take(15).collect();
                text.push_str(&format!("== {}\n", path.display()));
                text.extend(tail.iter().rev().map(|line| format!("{line}\n")));
            }
        }
        text
    }
}

fn wait_for(cluster: &Cluster, begin: Instant, what: &str, mut ready: impl FnMut() -> bool) {
    while !ready() {
        assert!(
            begin.elapsed() < PATIENCE,
            "no sign of {what}\n{}",
            cluster.logs()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A task of our array that is at work: a process whose arguments name our folder and a shard.
fn running_task(out: &str) -> Option<u32> {
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<_> = command
            .split(|&b| b == 0)
            .map(String::from_utf8_lossy)
            .collect();
        let ours = words
            .first()
            .is_some_and(|program| program.ends_with("covey"));
        if ours && words.iter().any(|w| w == out) && words.iter().any(|w| w == "--shard") {
            return Some(pid);
        }
    }
    None
}

fn results(out: &Path) -> usize {
    let mut count = 0;
    for world in std::fs::read_dir(out.join("seeds"))
        .into_iter()
        .flatten()
        .flatten()
    {
        for file in std::fs::read_dir(world.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            count += usize::from(file.file_name().to_string_lossy().ends_with(".json.zst"));
        }
    }
    count
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story on a real scheduler")]
fn a_job_array_gives_the_local_bytes_though_a_task_and_a_node_die() {
    let begin = Instant::now();
    let cluster = Cluster::new();
    let toy = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/toy/blind-junction/blind-junction"
    );
    let scenario = format!(
        "name = \"toy\"\n[map]\nnet = \"{toy}.net.xml\"\nbuildings = [\"{toy}.poly.xml\"]\n\
         [traffic]\nmain_density = 20.0\nside_density = 20.0\nwarmup_s = 2.0\ndead_ends = \"avoid\"\n"
    );
    std::fs::write(cluster.path("scenario.toml"), scenario).expect("a scenario");
    let plan = cluster.path("plan.toml");
    let text = "scenario = \"scenario.toml\"\narms = [\"cam-only\", \"proposed@0.4\"]\nseeds = \"1..=4\"\n\
        warmup_s = 0.4\nmeasure_s = 2.0\n[vary]\npenetration = [0.5, 1.0]\n";
    std::fs::write(&plan, text).expect("a plan");
    let (local, out) = (cluster.path("local"), cluster.path("out"));
    covey(&["sweep", &plan, "--quiet", "--out", &local], "").done();

    let _munge = cluster.munge();
    wait_for(&cluster, begin, "munge", || {
        cluster.folder.join("munge.socket").exists()
    });
    let _controller = Daemon::start(&cluster, "slurmctld", &["-D"]);
    let _first = Daemon::start(&cluster, "slurmd", &["-D", "-N", "n1"]);
    let mut second = Daemon::start(&cluster, "slurmd", &["-D", "-N", "n2"]);
    wait_for(&cluster, begin, "two idle nodes", || {
        let idle = cluster.ask("sinfo", &["-h", "-N", "-o", "%t"]);
        idle.is_some_and(|text| text.lines().filter(|line| line.trim() == "idle").count() == 2)
    });

    let script = covey(
        &[
            "sweep",
            &plan,
            "--emit-slurm",
            "--tasks",
            "4",
            "--out",
            &out,
        ],
        "",
    )
    .done();
    let file = cluster.path("submit.sh");
    std::fs::write(&file, script).expect("a script");
    let said = cluster.ask("bash", &[&file]);
    let said = said.unwrap_or_else(|| panic!("not submitted\n{}", cluster.logs()));
    assert!(said.starts_with("submitted: array "), "{said}");

    let mut victim = None;
    wait_for(&cluster, begin, "a task at work", || {
        victim = running_task(&out);
        victim.is_some() || results(Path::new(&out)) == 8
    });
    let victim = victim.expect("a task that can be killed").to_string();
    let status = Command::new("kill").args(["-9", &victim]).status();
    assert!(status.expect("kill").success(), "the task was gone already");
    second.kill();
    std::thread::sleep(Duration::from_secs(1));
    let _again = Daemon::start(&cluster, "slurmd", &["-D", "-N", "n2"]);

    wait_for(&cluster, begin, "the end of all jobs", || {
        cluster
            .ask("squeue", &["-h", "-t", "all", "-o", "%T"])
            .is_some_and(|text| {
                let unfinished = [
                    "PENDING",
                    "RUNNING",
                    "COMPLETING",
                    "CONFIGURING",
                    "REQUEUED",
                ];
                Path::new(&out).join("sweep.json").exists()
                    && !text.lines().any(|state| unfinished.contains(&state.trim()))
            })
    });
    assert_eq!(results(Path::new(&out)), 8);
    for table in [
        "runs.parquet",
        "arms.parquet",
        "paired.parquet",
        "sweep.json",
    ] {
        let read = |folder: &str| std::fs::read(format!("{folder}/{table}")).expect(table);
        assert!(
            read(&local) == read(&out),
            "{table} differs from the local run's"
        );
    }
}
