//! What a node is told by its file and its flags.
//!
//! Every key is a row of `parameters!`: file, flags (`--set KEY=VALUE`), checks and the table in docs/node.md come from it. Paths are
//! relative to the file's folder.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};

use covey_parameters::{Field, Kind, Value, choices, choices_by_name, parameters, unknown_field};
use covey_simulator::scenario::line;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::de::DeTable;

use crate::link::GROUP;

choices! {
    /// How frames travel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LinkKind {
        /// In UDP datagrams, to a multicast group or to one peer.
        Udp = "udp",
        /// As Ethernet frames of type 0x8947 on an interface; opening it needs CAP_NET_RAW.
        Ethernet = "ethernet",
    }
}

choices! {
    /// How much the log tells.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LogLevel {
        /// What keeps it from working.
        Error = "error",
        /// What is odd, too.
        Warn = "warn",
        /// Offices, pseudonyms, beginning and end.
        Info = "info",
        /// Every decision.
        Debug = "debug",
    }
}

choices_by_name!(LinkKind, LogLevel);

parameters! {
    /// The radio side.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Radio {
        /// How frames travel.
        link: LinkKind = LinkKind::Udp, source "design";
        /// The interface of `ethernet`.
        interface: String = String::new(), source "design";
        /// Group and port of `udp`.
        group: String = GROUP.to_string(), source "Vanetza's socktap";
        /// Address of the interface that takes part in the group; 0.0.0.0: the machine's choice.
        local: String = "0.0.0.0".to_string(), source "design";
        /// Address and port that `udp` listens on in place of a group, for a relay.
        listen: String = String::new(), source "design";
        /// Address and port that `udp` then sends to.
        peer: String = String::new(), source "design";
        /// How long after its slot a host decides: beacons of the same instant are on their way.
        decide_after_ms: f64 = 5.0, unit "ms", range at_least(0.0).at_most(40.0), source "design";
        /// A file with the busy ratio that the modem measures, 0 to 1, read once a cycle; left out: own counts.
        busy_file: String = String::new(), source "design";
    }
}

parameters! {
    /// The vehicle side.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Vehicle {
        /// Local socket for JSON lines, in and out.
        socket: String = String::new(), source "design";
        /// A file or device with NMEA lines.
        nmea: String = String::new(), source "design";
        /// Address and port of gpsd.
        gpsd: String = String::new(), source "design";
        /// A file of JSON lines that is played once, at the pace of its times.
        replay: String = String::new(), source "design";
        /// Local address and port for CPMs of the own perception, one a datagram.
        cpm: String = String::new(), source "design";
        /// Length of the vehicle, where it does not tell.
        length_m: f64 = 4.5, unit "m", range above(0.0).at_most(100.0), source "design";
        /// Width of the vehicle.
        width_m: f64 = 1.8, unit "m", range above(0.0).at_most(6.0), source "design";
        /// Height of the vehicle.
        height_m: f64 = 1.5, unit "m", range above(0.0).at_most(10.0), source "design";
        /// What kind of station messages say it is.
        station_type: u32 = 5, range at_least(0.0).at_most(15.0), source "ETSI TS 102 894-2";
        /// How far its sensors see.
        range_m: f64 = 150.0, unit "m", range at_least(0.0).at_most(409.0), source "letter, table I";
        /// Standard deviation of positions, by which objects that several tell of are told apart.
        accuracy_m: f64 = 0.5, unit "m", range at_least(0.0).at_most(20.0), source "design";
    }
}

parameters! {
    /// Signed frames.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Signing {
        /// Folder with root.cert and authority.cert; left out: frames are neither signed nor checked.
        folder: String = String::new(), source "design";
        /// Folder with the station's own tickets.
        tickets: String = String::new(), source "design";
        /// How often the name changes; 0: never.
        change_s: f64 = 0.0, unit "s", range at_least(0.0).at_most(1e6), source "design";
        /// How much longer a host waits for the end of its office before it changes all the same.
        patience_s: f64 = 60.0, unit "s", range at_least(0.0).at_most(1e6), source "design";
    }
}

parameters! {
    /// All that a node is told.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Config {
        /// The station's number; with signatures that of its ticket takes its place.
        station_id: Option<u64> = None, range at_least(0.0).at_most(4_294_967_295.0), source "ETSI TS 102 894-2";
        /// The scenario file whose map, grid and protocol parameters all nodes of a region share.
        scenario: String = String::new(), source "design";
        /// By what a host chooses: an arm with hosts, as `covey arms` lists them.
        arm: String = "proposed@0.4".to_string(), source "letter";
        /// Port of status page and metrics on the loopback address; 0: any; left out: none.
        status_port: Option<u32> = None, range at_least(0.0).at_most(65_535.0), source "design";
        /// How much the log tells.
        log: LogLevel = LogLevel::Info, source "design";
        /// The user to go on as, once sockets are open.
        user: String = String::new(), source "design";
        /// The radio side.
        radio: Radio = Radio::default(), source "design";
        /// The vehicle side.
        vehicle: Vehicle = Vehicle::default(), source "design";
        /// Signed frames.
        security: Signing = Signing::default(), source "design";
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {problem}")]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// Which key, what was found, what is expected.
    pub problem: String,
}

/// A configuration that was checked, with the folder that its paths start from.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What it says.
    pub config: Config,
    /// Where it comes from.
    pub file: PathBuf,
}

fn join(group: &str, name: &str) -> String {
    match group {
        "" => name.to_string(),
        group => format!("{group}.{name}"),
    }
}

/// The first key that there is not, with its line.
fn unknown(
    text: &str,
    group: &str,
    table: &DeTable<'_>,
    fields: &'static [Field],
) -> Option<(usize, String)> {
    let mut all = Vec::new();
    for (key, value) in table {
        let name: &str = key.get_ref();
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
            let at = line(text, key.span().start);
            all.push((at, unknown_field(group, name, &known)));
            continue;
        };
        if let (Kind::Group(inner), toml::de::DeValue::Table(table)) = (field.kind, value.get_ref())
        {
            all.extend(unknown(text, &join(group, name), table, inner));
        }
    }
    all.into_iter().min_by_key(|(at, _)| *at)
}

/// The definition of a dotted key.
fn field_of(key: &str) -> Result<&'static Field, String> {
    let mut fields = Config::FIELDS;
    let mut group = String::new();
    let mut found = None;
    for name in key.split('.') {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
            return Err(unknown_field(&group, name, &known));
        };
        group = join(&group, name);
        fields = field.kind.fields();
        found = Some(field);
    }
    match found {
        Some(field) if !matches!(field.kind, Kind::Group(_)) => Ok(field),
        _ => Err(format!("`{key}` is a section, expected a key in it")),
    }
}

impl Checked {
    /// Reads a file, with these keys set otherwise. Without a file there are only these.
    ///
    /// # Errors
    /// The file cannot be read, has an unknown key or a value that is none for its key.
    pub fn read(file: Option<&Path>, set: &[(String, toml::Value)]) -> Result<Self, ConfigError> {
        let name = file.map_or("the flags".to_string(), |file| file.display().to_string());
        let fail = |problem: String| ConfigError {
            file: name.clone(),
            problem,
        };
        let text = match file {
            None => String::new(),
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| fail(format!("cannot be read: {error}")))?,
        };
        let parse = |error: toml::de::Error| fail(error.to_string().trim_end().to_string());
        let document = DeTable::parse(&text).map_err(parse)?;
        if let Some((line, problem)) = unknown(&text, "", document.get_ref(), Config::FIELDS) {
            return Err(fail(format!("line {line}: {problem}")));
        }
        // First alone, so that a wrong value is shown with its line.
        let _: Config = toml::from_str(&text).map_err(parse)?;
        let mut table: toml::Table = toml::from_str(&text).map_err(parse)?;
        for (key, value) in set {
            field_of(key).map_err(|problem| ConfigError {
                file: "--set".to_string(),
                problem,
            })?;
            put(&mut table, key, value.clone());
        }
        let config: Config = table.try_into().map_err(|error: toml::de::Error| {
            let key = set.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>();
            fail(format!(
                "--set {}: {}",
                key.join(", "),
                error.to_string().trim_end()
            ))
        })?;
        config.validate().map_err(|error| fail(error.to_string()))?;
        let checked = Self {
            config,
            file: file.map(Path::to_path_buf).unwrap_or_default(),
        };
        checked.agree().map_err(fail)?;
        Ok(checked)
    }

    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self.file.as_os_str().is_empty() {
            true => "the flags".to_string(),
            false => self.file.display().to_string(),
        }
    }

    /// A path of the configuration; none where it is empty.
    #[must_use]
    pub fn path(&self, text: &str) -> Option<PathBuf> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        (!text.is_empty()).then(|| folder.join(text))
    }

    /// Rules between keys.
    fn agree(&self) -> Result<(), String> {
        let config = &self.config;
        if config.scenario.is_empty() {
            return Err("scenario: found nothing, expected the scenario file whose map all nodes of the region share".to_string());
        }
        let signed = !config.security.folder.is_empty();
        if config.station_id.is_none() && !signed {
            return Err("station_id: found nothing, expected a number up to 4294967295 (or `security.folder`, whose tickets have one)".to_string());
        }
        if signed && config.security.tickets.is_empty() {
            return Err(
                "security.tickets: found nothing, expected the folder of the station's own tickets"
                    .to_string(),
            );
        }
        for (key, given) in [
            ("security.tickets", !config.security.tickets.is_empty()),
            ("security.change_s", config.security.change_s > 0.0),
        ] {
            if given && !signed {
                return Err(format!(
                    "security.folder: found nothing beside `{key}`, expected the folder with root.cert and authority.cert: without it nothing is signed"
                ));
            }
        }
        let radio = &config.radio;
        match radio.link {
            LinkKind::Ethernet if radio.interface.is_empty() => {
                return Err("radio.interface: found nothing, expected the name of an interface such as \"eth0\"".to_string());
            }
            LinkKind::Ethernet => {}
            LinkKind::Udp => {
                self.group()?;
                self.local()?;
                self.relay()?;
            }
        }
        let gpsd = &config.vehicle.gpsd;
        let port = |(host, port): (&str, &str)| !host.is_empty() && port.parse::<u16>().is_ok();
        if !gpsd.is_empty() && !gpsd.rsplit_once(':').is_some_and(port) {
            return Err(format!(
                "vehicle.gpsd: found {:?}, expected ADDRESS:PORT such as \"127.0.0.1:2947\"",
                config.vehicle.gpsd
            ));
        }
        if !config.vehicle.cpm.is_empty() {
            let address = self.address("vehicle.cpm", &config.vehicle.cpm)?;
            if !address.ip().is_loopback() {
                return Err(format!(
                    "vehicle.cpm: found {address}, expected a loopback address: whoever can write there is believed as the own sensors are"
                ));
            }
        }
        Ok(())
    }

    fn address(&self, key: &str, text: &str) -> Result<SocketAddrV4, String> {
        text.parse().map_err(|_| {
            format!("{key}: found {text:?}, expected ADDRESS:PORT such as \"127.0.0.1:40001\"")
        })
    }

    /// The multicast group.
    ///
    /// # Errors
    /// It is none.
    pub fn group(&self) -> Result<SocketAddrV4, String> {
        let group = self.address("radio.group", &self.config.radio.group)?;
        match group.ip().is_multicast() {
            true => Ok(group),
            false => Err(format!(
                "radio.group: found {group}, expected a multicast address such as {GROUP}"
            )),
        }
    }

    /// The address of the interface that takes part in the group.
    ///
    /// # Errors
    /// It is none.
    pub fn local(&self) -> Result<Ipv4Addr, String> {
        let text = &self.config.radio.local;
        text.parse().map_err(|_| {
            format!("radio.local: found {text:?}, expected an address such as \"192.168.1.7\"")
        })
    }

    /// Where to listen and where to send, where there is a relay.
    ///
    /// # Errors
    /// One is given without the other, or is no address.
    pub fn relay(&self) -> Result<Option<[SocketAddrV4; 2]>, String> {
        let radio = &self.config.radio;
        match (radio.listen.is_empty(), radio.peer.is_empty()) {
            (true, true) => Ok(None),
            (false, false) => Ok(Some([
                self.address("radio.listen", &radio.listen)?,
                self.address("radio.peer", &radio.peer)?,
            ])),
            (true, false) => Err(
                "radio.listen: found nothing beside `radio.peer`, expected ADDRESS:PORT"
                    .to_string(),
            ),
            (false, true) => Err(
                "radio.peer: found nothing beside `radio.listen`, expected ADDRESS:PORT"
                    .to_string(),
            ),
        }
    }
}

fn put(table: &mut toml::Table, key: &str, value: toml::Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_string(), value);
        }
        Some((group, rest)) => {
            let inner = table
                .entry(group.to_string())
                .or_insert_with(|| toml::Table::new().into());
            if let toml::Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// The keys as a table for docs/node.md.
#[must_use]
pub fn markdown() -> String {
    let mut text = "| key | default | what |\n|---|---|---|\n".to_string();
    Config::default().each(&mut |key, field, value| {
        let default = match value {
            Value::None => String::new(),
            Value::Text(text) if text.is_empty() => String::new(),
            Value::Text(text) => format!("`\"{text}\"`"),
            Value::Name(name) => format!("`\"{name}\"`"),
            Value::Number(number) => format!("`{number:?}`"),
            Value::Whole(number) => format!("`{number}`"),
            other => format!("`{other:?}`"),
        };
        let mut what = field.text.to_string();
        if let Kind::Choice(choices) = field.kind {
            let names: Vec<String> = choices.iter().map(|c| format!("`{}`", c.name)).collect();
            what.push_str(&format!(" One of {}.", names.join(", ")));
        }
        let unit = match field.unit {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        text.push_str(&format!("| `{key}` | {default}{unit} | {what} |\n"));
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, set: &[(&str, toml::Value)]) -> Result<Checked, String> {
        let folder = std::env::temp_dir().join(format!("covey-config-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let hash = text.len() as u64 + text.bytes().map(u64::from).sum::<u64>();
        let file = folder.join(format!("node-{hash}-{}.toml", set.len()));
        std::fs::write(&file, text).unwrap();
        let set: Vec<(String, toml::Value)> = set
            .iter()
            .map(|(k, v)| ((*k).to_string(), v.clone()))
            .collect();
        let read = Checked::read(Some(&file), &set);
        let name = file.display().to_string();
        read.map_err(|error| error.to_string().replace(&name, "FILE"))
    }

    const GOOD: &str = "station_id = 7\nscenario = \"x.toml\"\n";

    #[test]
    fn errors_name_file_key_found_and_expected() {
        assert!(read(GOOD, &[]).is_ok());
        for (text, expected) in [
            ("station = 7\n", "FILE: line 1: unknown field `station`"),
            (
                "station_id = 7\n[radio]\nlnk = \"udp\"\n",
                "FILE: line 3: unknown field `lnk` in `radio`: did you mean `link`?",
            ),
            (
                "station_id = 7\n",
                "FILE: scenario: found nothing, expected",
            ),
            (
                "scenario = \"x\"\n",
                "FILE: station_id: found nothing, expected a number",
            ),
            (
                "station_id = 5000000000\nscenario = \"x\"\n",
                "FILE: station_id: found 5000000000",
            ),
            ("station_id = \"seven\"\n", "expected u64"),
            (
                "station_id = 7\nscenario = \"x\"\n[radio]\nlink = \"ethernet\"\n",
                "FILE: radio.interface: found nothing, expected the name",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[radio]\nlink = \"wifi\"\n",
                "wifi",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[radio]\ngroup = \"10.0.0.1:8947\"\n",
                "FILE: radio.group: found 10.0.0.1:8947, expected a multicast",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[radio]\npeer = \"127.0.0.1:1\"\n",
                "FILE: radio.listen: found nothing",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[vehicle]\ncpm = \"0.0.0.0:9\"\n",
                "FILE: vehicle.cpm: found 0.0.0.0:9, expected a loopback",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[vehicle]\nlength_m = -1.0\n",
                "vehicle.length_m",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[security]\nfolder = \"pki\"\n",
                "FILE: security.tickets: found nothing",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[security]\ntickets = \"t\"\n",
                "FILE: security.folder: found nothing beside `security.tickets`",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[security]\nchange_s = 300.0\n",
                "FILE: security.folder: found nothing beside `security.change_s`",
            ),
            (
                "station_id = 7\nscenario = \"x\"\n[vehicle]\ngpsd = \"localhost:\"\n",
                "FILE: vehicle.gpsd: found \"localhost:\", expected ADDRESS:PORT",
            ),
            ("station_id = \n", "FILE: "),
        ] {
            let error = read(text, &[]).unwrap_err();
            assert!(error.contains(expected), "{text}\n{error}\n{expected}");
        }
        let missing = Checked::read(Some(Path::new("/nowhere/node.toml")), &[]).unwrap_err();
        assert!(
            missing
                .to_string()
                .starts_with("/nowhere/node.toml: cannot be read")
        );
    }

    #[test]
    fn flags_come_before_the_file() {
        let checked = read(
            GOOD,
            &[
                ("station_id", 9.into()),
                ("radio.decide_after_ms", 7.5.into()),
            ],
        )
        .unwrap();
        assert_eq!(checked.config.station_id, Some(9));
        assert_eq!(checked.config.radio.decide_after_ms, 7.5);
        let error = read(GOOD, &[("radio.grup", "x".into())]).unwrap_err();
        assert!(
            error.contains("--set: unknown field `grup` in `radio`: did you mean `group`?"),
            "{error}"
        );
        assert!(
            read(GOOD, &[("radio", "x".into())])
                .unwrap_err()
                .contains("is a section")
        );
    }

    #[test]
    fn the_document_lists_every_key() {
        let document = include_str!("../../../docs/node.md");
        assert!(
            document.contains(&markdown()),
            "docs/node.md should have:\n{}",
            markdown()
        );
    }
}
