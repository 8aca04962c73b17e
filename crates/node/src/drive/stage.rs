//! The network between nodes: namespaces joined by pairs of interfaces, or ports of the loopback interface.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::process::{Command, Stdio};

use super::{DriveError, Network};
use crate::link::Link;

/// A place for every node. Namespaces go when it goes.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) places: Vec<Place>,
    why_loopback: Option<String>,
}

/// Where a node lives, and how the relay reaches it.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In a namespace; the interface outside that leads there.
    Namespace { name: String, outside: String },
    /// On ports: the relay's and the node's.
    Ports {
        relay: SocketAddrV4,
        node: SocketAddrV4,
    },
}

/// The interface inside a namespace.
const INSIDE: &str = "radio0";

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("ip: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "ip {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

impl Stage {
    pub(super) fn build(network: Network, count: usize) -> Result<Self, DriveError> {
        let mut stage = Self {
            places: Vec::new(),
            why_loopback: None,
        };
        if network != Network::Loopback {
            clear_stale();
            match stage.build_namespaces(count) {
                Ok(()) => return Ok(stage),
                Err(problem) if network == Network::Namespaces => {
                    return Err(DriveError::Machine(format!(
                        "--network namespaces: {problem}"
                    )));
                }
                Err(problem) => {
                    stage.clear();
                    stage.why_loopback = Some(problem);
                }
            }
        }
        stage
            .build_ports(count)
            .map_err(|error| DriveError::Machine(format!("UDP ports: {error}")))?;
        Ok(stage)
    }

    fn build_namespaces(&mut self, count: usize) -> Result<(), String> {
        let process = std::process::id();
        for number in 0..count {
            let name = format!("covey-{process}-{number}");
            // At most 15 letters.
            let outside = format!("cv{}n{number}", process % 10_000_000);
            ip(&["netns", "add", &name])?;
            self.places.push(Place::Namespace {
                name: name.clone(),
                outside: outside.clone(),
            });
            ip(&[
                "link", "add", &outside, "type", "veth", "peer", "name", INSIDE, "netns", &name,
            ])?;
            ip(&["link", "set", &outside, "up"])?;
            ip(&["-n", &name, "link", "set", INSIDE, "up"])?;
            ip(&["-n", &name, "link", "set", "lo", "up"])?;
        }
        Ok(())
    }

    fn build_ports(&mut self, count: usize) -> std::io::Result<()> {
        // Held until all are found, so that none is found twice.
        let mut held = Vec::new();
        let mut free = || -> std::io::Result<SocketAddrV4> {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = socket.local_addr()?.port();
            held.push(socket);
            Ok(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
        };
        for _ in 0..count {
            self.places.push(Place::Ports {
                relay: free()?,
                node: free()?,
            });
        }
        Ok(())
    }

    fn clear(&mut self) {
        for place in self.places.drain(..) {
            if let Place::Namespace { name, .. } = place {
                let _ = ip(&["netns", "del", &name]);
            }
        }
    }

    /// What it is, in words.
    pub(super) fn describe(&self) -> String {
        match (self.places.first(), &self.why_loopback) {
            (Some(Place::Namespace { .. }), _) => "raw Ethernet in network namespaces".to_string(),
            (_, Some(why)) => format!("UDP on the loopback interface (no namespaces: {why})"),
            _ => "UDP on the loopback interface".to_string(),
        }
    }
}

/// Takes namespaces away that drives left which were killed.
fn clear_stale() {
    clear_of(|process| !std::path::Path::new(&format!("/proc/{process}")).exists());
}

/// Takes the namespaces of this process away, which is about to end in the middle of a drive. Nodes end by themselves.
pub fn abandon() {
    clear_of(|process| process == std::process::id());
}

/// Takes the namespaces away of the processes for which it holds.
fn clear_of(holds: impl Fn(u32) -> bool) {
    let Ok(entries) = std::fs::read_dir("/run/netns") else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if maker(&name).is_some_and(&holds) {
            let _ = ip(&["netns", "del", &name]);
        }
    }
}

/// The process that made a namespace of this name, where it is one of ours.
fn maker(name: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix("covey-")?.split_once('-')?;
    number.parse::<usize>().ok()?;
    process.parse().ok()
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Place {
    /// The relay's end.
    pub(super) fn link(&self) -> std::io::Result<Link> {
        match self {
            Self::Namespace { outside, .. } => Link::ethernet(outside),
            Self::Ports { relay, node } => Link::unicast(*relay, *node),
        }
    }

    /// A way in besides the relay's.
    pub(super) fn side_entrance(&self) -> std::io::Result<Link> {
        match self {
            Self::Namespace { outside, .. } => Link::ethernet(outside),
            Self::Ports { node, .. } => {
                Link::unicast(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0), *node)
            }
        }
    }

    /// The node's end, as keys of its configuration.
    pub(super) fn radio(&self) -> String {
        match self {
            Self::Namespace { .. } => {
                format!("link = \"ethernet\"\ninterface = \"{INSIDE}\"\n")
            }
            Self::Ports { relay, node } => {
                format!("link = \"udp\"\nlisten = \"{node}\"\npeer = \"{relay}\"\n")
            }
        }
    }

    /// The call that starts `program` there.
    pub(super) fn command(&self, program: &std::path::Path) -> Command {
        match self {
            Self::Namespace { name, .. } => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", name]).arg(program);
                command
            }
            Self::Ports { .. } => Command::new(program),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_namespaces_are_taken_away() {
        assert_eq!(maker("covey-123-0"), Some(123));
        for other in [
            "covey",
            "covey-123",
            "covey-x-0",
            "covey-123-x",
            "other-123-0",
        ] {
            assert_eq!(maker(other), None, "{other}");
        }
    }
}
