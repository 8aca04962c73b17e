//! The nodes: processes, each with a local socket.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant as Monotonic};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::stage::{Place, Stage};
use super::{DriveError, Options};
use crate::vehicle::lines::{Answer, Line};

/// How long a node may take to start.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it has to answer.
const ANSWER: Duration = Duration::from_millis(25);

/// One node.
#[derive(Debug)]
pub(super) struct Node {
    /// The vehicle.
    pub(super) vehicle: u32,
    pub(super) alive: bool,
    place: Place,
    config: PathBuf,
    socket: PathBuf,
    log: PathBuf,
    program: PathBuf,
    child: Option<Child>,
    stream: Option<BufReader<UnixStream>>,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
}

impl Nodes {
    pub(super) fn start(
        options: &Options,
        stage: &Stage,
        vehicles: &[u32],
    ) -> Result<Self, DriveError> {
        let mut nodes = Self { all: Vec::new() };
        for (number, (&vehicle, place)) in vehicles.iter().zip(&stage.places).enumerate() {
            let mut node = Node::new(options, number, vehicle, place.clone())?;
            node.spawn()?;
            nodes.all.push(node);
        }
        for node in &mut nodes.all {
            node.connect()?;
        }
        Ok(nodes)
    }
}

fn fail(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> DriveError {
    let name = path.display().to_string();
    move |error| DriveError::Machine(format!("{name}: {error}"))
}

impl Node {
    fn new(
        options: &Options,
        number: usize,
        vehicle: u32,
        place: Place,
    ) -> Result<Self, DriveError> {
        let folder = std::path::absolute(&options.folder).map_err(fail(&options.folder))?;
        let scenario = std::path::absolute(&options.scenario).map_err(fail(&options.scenario))?;
        let config = folder.join(format!("node-{number}.toml"));
        let socket = folder.join(format!("node-{number}.sock"));
        let mut text = format!(
            "scenario = {:?}\narm = {:?}\nstatus_port = 0\n",
            scenario.display().to_string(),
            options.arm
        );
        text.push_str(&format!("station_id = {vehicle}\n"));
        text.push_str(&format!("\n[radio]\n{}", place.radio()));
        text.push_str(&format!(
            "\n[vehicle]\nsocket = {:?}\naccuracy_m = 0.1\n",
            socket.display().to_string()
        ));
        if options.signed {
            text.push_str(&format!(
                "\n[security]\nfolder = {:?}\ntickets = {:?}\nchange_s = {:?}\n",
                folder.join("pki").display().to_string(),
                folder
                    .join(format!("tickets-{number}"))
                    .display()
                    .to_string(),
                options.change_s
            ));
        }
        std::fs::write(&config, text).map_err(fail(&config))?;
        Ok(Self {
            vehicle,
            alive: false,
            place,
            config,
            socket,
            log: folder.join(format!("node-{number}.log")),
            program: options.program.clone(),
            child: None,
            stream: None,
        })
    }

    /// Where it lives.
    pub(super) fn place(&self) -> Place {
        self.place.clone()
    }

    /// Starts the process.
    pub(super) fn spawn(&mut self) -> Result<(), DriveError> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .map_err(fail(&self.log))?;
        let child = self
            .place
            .command(&self.program)
            .args(["node", "--while-stdin"])
            .arg(&self.config)
            // It ends with us, however we end.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(fail(&self.program))?;
        self.child = Some(child);
        self.stream = None;
        self.alive = true;
        Ok(())
    }

    /// Waits for its socket.
    pub(super) fn connect(&mut self) -> Result<(), DriveError> {
        let begin = Monotonic::now();
        loop {
            if self.try_connect() {
                return Ok(());
            }
            let ended = self
                .child
                .as_mut()
                .and_then(|child| child.try_wait().ok().flatten());
            if ended.is_some() || begin.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(&self.log).unwrap_or_default();
                let said = log.lines().last().unwrap_or("nothing");
                return Err(DriveError::Machine(format!(
                    "node of vehicle {}: did not start; it said: {said}",
                    self.vehicle
                )));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn try_connect(&mut self) -> bool {
        let Ok(stream) = UnixStream::connect(&self.socket) else {
            return false;
        };
        let _ = stream.set_read_timeout(Some(ANSWER));
        let _ = stream.set_write_timeout(Some(ANSWER));
        self.stream = Some(BufReader::new(stream));
        true
    }

    /// Tells it a line; whether it took it.
    pub(super) fn tell(&mut self, line: &Line) -> bool {
        if !self.alive {
            return false;
        }
        // One that was started again listens after a while.
        if self.stream.is_none() && !self.try_connect() {
            return false;
        }
        let Ok(mut text) = serde_json::to_string(line) else {
            return false;
        };
        text.push('\n');
        let stream = self.stream.as_mut().map(BufReader::get_mut);
        let told = stream.is_some_and(|stream| stream.write_all(text.as_bytes()).is_ok());
        if !told {
            self.stream = None;
        }
        told
    }

    /// The next answer for which `wanted` holds, if it comes in time.
    pub(super) fn answer(&mut self, wanted: impl Fn(&Answer) -> bool) -> Option<Answer> {
        let stream = self.stream.as_mut()?;
        loop {
            let mut line = String::new();
            match stream.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            match serde_json::from_str::<Answer>(&line) {
                Ok(answer) if wanted(&answer) => return Some(answer),
                _ => {}
            }
        }
    }

    /// Ends it at once, as if somebody had pulled the plug.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.stream = None;
        self.alive = false;
    }

    /// Asks it to end; gives how long that took, in seconds, where it did by itself.
    pub(super) fn stop(&mut self) -> Option<f64> {
        let mut child = self.child.take()?;
        self.alive = false;
        self.stream = None;
        let begin = Monotonic::now();
        let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM);
        while begin.elapsed() < Duration::from_secs(2) {
            if let Ok(Some(status)) = child.try_wait() {
                return status.success().then(|| begin.elapsed().as_secs_f64());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        let _ = child.wait();
        None
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}
