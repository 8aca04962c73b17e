//! A user's `.sumocfg`.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::error::SumoError;
use super::outputs::output_of;
use crate::recorded::VehicleTypes;
use crate::recorded::elements::{attribute, visit_elements};

/// A configuration is text made by hand or by SUMO's tools: a larger file is something else.
const LARGEST: u64 = 8 << 20;

/// A user's `.sumocfg`, as published.
///
/// Options may stand in sections or outside, as `<net-file value="..."/>`, `<net-file v="..."/>` or
/// `<net-file>...</net-file>`, under any of SUMO's names for them; lists are separated by commas, spaces or semicolons;
/// `${NAME}` stands for an environment variable; relative paths count from the configuration's folder.
///
/// All options are handed on to SUMO except those that would write files or tables of its own (outputs, logs, saved
/// states), restrict the floating-car data, wait for another program (TraCI), concern the graphical program, or set the
/// seed: see [`Self::left_out`].
#[derive(Debug, Clone, PartialEq)]
pub struct SumoConfig {
    /// The `.sumocfg` itself.
    pub file: PathBuf,
    /// Its folder, from which relative paths count.
    pub folder: PathBuf,
    /// The net, plain or gzipped.
    pub net: PathBuf,
    /// In the order of the configuration, from its folder.
    pub routes: Vec<PathBuf>,
    /// Likewise; polygons among them are listed in `polygons`, too.
    pub additional: Vec<PathBuf>,
    /// Those of the additional files (and of the files they include) that hold polygons: candidates for buildings.
    pub polygons: Vec<PathBuf>,
    /// When the simulation begins, in seconds. Default 0.
    pub begin_s: f64,
    /// When it ends, in seconds, where it says so.
    pub end_s: Option<f64>,
    /// Its step, in seconds. Default 1.
    pub step_s: f64,
    /// The vehicle types of all route and additional files.
    pub types: VehicleTypes,
    /// What is handed on to SUMO, in order: names and values.
    pub options: Vec<(String, String)>,
    /// Options of the configuration that are not handed on.
    pub left_out: Vec<String>,
    /// All files that the traffic depends on, the configuration among them.
    pub inputs: Vec<PathBuf>,
    /// Those of them that name outputs (detectors, edge data, ...), which are left out when SUMO is run.
    pub naming_outputs: BTreeSet<PathBuf>,
    /// The first and last instant at which route files let somebody depart, in seconds; none where they do not say.
    pub departures_s: Option<(f64, f64)>,
}

impl SumoConfig {
    /// Reads a configuration and looks through the files it names.
    ///
    /// # Errors
    /// A file cannot be read or is no XML; no net is named; a time is no number.
    pub fn read(file: &Path) -> Result<Self, SumoError> {
        let given = read_options(file)?;
        let folder = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let mut config = Self {
            file: file.to_owned(),
            net: PathBuf::new(),
            routes: Vec::new(),
            additional: Vec::new(),
            polygons: Vec::new(),
            begin_s: 0.0,
            end_s: None,
            step_s: 1.0,
            types: VehicleTypes::sumo_defaults(),
            options: Vec::new(),
            left_out: Vec::new(),
            inputs: vec![file.to_owned()],
            naming_outputs: BTreeSet::new(),
            departures_s: None,
            folder,
        };
        let mut net = None;
        for option in given {
            config.take(option, &mut net)?;
        }
        config.net = net.ok_or_else(|| {
            config.wrong(
                None,
                "no net is named; expected <net-file value=\"....net.xml\"/>".into(),
            )
        })?;
        config.inputs.push(config.net.clone());
        config.look_through_net();
        config.look_through()?;
        // Further inputs by other options (weights, loaded states, ...): whatever names a file.
        for (_, value) in &config.options {
            for path in config.files(value) {
                if path.is_file() && !config.inputs.contains(&path) {
                    config.inputs.push(path);
                }
            }
        }
        Ok(config)
    }

    /// Takes over one option; the net apart, which must be named in the end.
    fn take(&mut self, option: Given, net: &mut Option<PathBuf>) -> Result<(), SumoError> {
        let Given {
            section,
            name,
            value,
            line,
        } = option;
        let wrong = |expected: &str| {
            let problem = format!("`{name}` is `{value}`, expected {expected}");
            self.wrong(Some(line), problem)
        };
        let seconds = || {
            crate::recorded::time_us(&value)
                .map(|us| us as f64 / 1e6)
                .ok_or_else(|| wrong("a number of seconds"))
        };
        let mut listed = false;
        match name.as_str() {
            "net-file" | "net" | "n" => *net = Some(self.resolve(&value)),
            "route-files" | "route" | "routes" | "r" => {
                self.routes = self.files(&value);
                listed = true;
            }
            "additional-files" | "additional" | "a" => {
                self.additional = self.files(&value);
                listed = true;
            }
            "begin" | "b" => self.begin_s = seconds()?,
            // SUMO takes a negative end as none.
            "end" | "e" => self.end_s = Some(seconds()?).filter(|end| *end >= 0.0),
            "step-length" => {
                let step_s = seconds()?;
                if step_s <= 0.0 {
                    return Err(wrong("more than 0 s"));
                }
                self.step_s = step_s;
            }
            _ => {}
        }
        if is_ours(&section, &name) {
            self.left_out.push(name);
        } else if listed {
            // SUMO's own reading of lists on the command line has changed over time; commas always worked.
            let value = self.names(&value).join(",");
            self.options.push((name, value));
        } else {
            self.options.push((name, value));
        }
        Ok(())
    }

    fn wrong(&self, line: Option<u64>, problem: String) -> SumoError {
        SumoError::Config {
            file: self.file.clone(),
            line,
            problem,
        }
    }

    /// The names in a list: separated by commas or semicolons, or by spaces where these are not part of a file's name.
    pub(super) fn names<'v>(&self, value: &'v str) -> Vec<&'v str> {
        let mut names = Vec::new();
        for part in value.split([',', ';']).map(str::trim) {
            if part.contains(char::is_whitespace) && !self.resolve(part).is_file() {
                names.extend(part.split_whitespace());
            } else if !part.is_empty() {
                names.push(part);
            }
        }
        names
    }

    fn files(&self, value: &str) -> Vec<PathBuf> {
        let names = self.names(value);
        names.into_iter().map(|name| self.resolve(name)).collect()
    }

    fn resolve(&self, name: &str) -> PathBuf {
        // An absolute name takes the folder's place.
        self.folder.join(name)
    }

    /// Finds out whether signal programs of the net name outputs.
    fn look_through_net(&mut self) {
        let mut outputs = false;
        // A net that cannot be read is told by whoever needs its roads.
        let _ = visit_elements(&self.net, |tag| {
            outputs |= tag.name().as_ref() == "param" && output_of(tag).is_some();
        });
        if outputs {
            self.naming_outputs.insert(self.net.clone());
        }
    }

    /// Finds types, polygons, outputs and included files in all route and additional files.
    fn look_through(&mut self) -> Result<(), SumoError> {
        let mut waiting: Vec<(PathBuf, bool)> = self
            .additional
            .iter()
            .map(|f| (f.clone(), true))
            .chain(self.routes.iter().map(|f| (f.clone(), false)))
            .collect();
        waiting.reverse();
        let mut seen = BTreeSet::new();
        while let Some((path, additional)) = waiting.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            self.inputs.push(path.clone());
            let content = scan(&path, &mut self.types)?;
            if content.polygons && additional {
                self.polygons.push(path.clone());
            }
            if content.outputs {
                self.naming_outputs.insert(path.clone());
            }
            if let Some((first, last)) = content.departures_s {
                let (a, b) = self.departures_s.unwrap_or((first, last));
                self.departures_s = Some((a.min(first), b.max(last)));
            }
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            for named in &content.files {
                let file = folder.join(named);
                if file.is_file() && !self.inputs.contains(&file) {
                    self.inputs.push(file);
                }
            }
            for included in content.includes.iter().rev() {
                waiting.push((folder.join(included), additional));
            }
        }
        Ok(())
    }
}

/// An option as given.
struct Given {
    section: String,
    name: String,
    value: String,
    line: u64,
}

impl Given {
    fn new(section: &str, name: &str, value: &str, line: u64) -> Self {
        Self {
            section: section.to_owned(),
            name: name.to_owned(),
            value: with_environment(value),
            line,
        }
    }
}

/// Sections of options that are ours to set, or of no use here.
const OUR_SECTIONS: [&str; 4] = ["output", "gui_only", "traci_server", "report"];

/// How the names of such options begin.
const OUR_BEGINNINGS: [&str; 14] = [
    "device.fcd.",
    "person-device.fcd.",
    "fcd-output",
    "save-state",
    "duration-log",
    "no-duration-log",
    "step-log",
    "log.",
    "output-",
    "output.",
    "precision",
    "gui-",
    "vehroute-output",
    "tripinfo-output",
];

/// Names of such options.
const OUR_NAMES: [&str; 62] = [
    // Begin and net stay as they are; the end and the seed are ours.
    "end",
    "e",
    "seed",
    "srand",
    "random",
    "fcd",
    "netstate",
    "netstate-dump",
    "ndump",
    "summary",
    "tripinfo",
    "vehroutes",
    "human-readable-time",
    "write-license",
    "configuration-file",
    "configuration",
    "c",
    "save-configuration",
    "save-config",
    "C",
    "save-template",
    "save-schema",
    "save-commented",
    "help",
    "version",
    "V",
    "verbose",
    "v",
    "print-options",
    "p",
    "xml-validation",
    "xml-validation.net",
    "xml-validation.routes",
    "X",
    "no-warnings",
    "suppress-warnings",
    "W",
    "aggregate-warnings",
    "language",
    "log",
    "log-file",
    "l",
    "message-log",
    "error-log",
    "no-step-log",
    "remote-port",
    "num-clients",
    "python-script",
    "start",
    "S",
    "quit-on-end",
    "Q",
    "delay",
    "d",
    "breakpoints",
    "B",
    "g",
    "G",
    "D",
    "window-size",
    "window-pos",
    "demo",
];

/// Whether an option is ours to set, or of no use here.
fn is_ours(section: &str, name: &str) -> bool {
    OUR_SECTIONS.contains(&section)
        || OUR_NAMES.contains(&name)
        || name.ends_with("-output")
        || name.contains("-output.")
        || name.ends_with(".output")
        || ["device.ssm.file", "device.toc.file"].contains(&name)
        || OUR_BEGINNINGS.iter().any(|b| name.starts_with(b))
}

/// `${NAME}` stands for an environment variable, as in SUMO; nothing where it is not set.
fn with_environment(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        out.push_str(before);
        out.push_str(&env::var(name).unwrap_or_default());
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The bytes of a configuration, unpacked, at most one more than [`LARGEST`].
fn read_bytes(file: &Path) -> Result<Vec<u8>, io::Error> {
    let mut bytes = Vec::new();
    File::open(file)?
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(&bytes[..])
            .take(LARGEST + 1)
            .read_to_end(&mut plain)?;
        bytes = plain;
    }
    Ok(bytes)
}

fn read_options(file: &Path) -> Result<Vec<Given>, SumoError> {
    let bytes = read_bytes(file).map_err(|source| SumoError::Read {
        file: file.to_owned(),
        source,
    })?;
    if bytes.len() as u64 > LARGEST {
        return Err(SumoError::Config {
            file: file.to_owned(),
            line: Some(1),
            problem: format!("found more than {LARGEST} bytes, expected a .sumocfg"),
        });
    }
    parse_options(file, &bytes)
}

fn parse_options(file: &Path, bytes: &[u8]) -> Result<Vec<Given>, SumoError> {
    let line_at = |position: u64| {
        let end = usize::try_from(position)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        1 + bytes[..end].iter().filter(|b| **b == b'\n').count() as u64
    };
    let wrong = |position: u64, problem: String| SumoError::Config {
        file: file.to_owned(),
        line: Some(line_at(position)),
        problem,
    };
    let mut reader = Reader::from_reader(bytes);
    let mut buffer = Vec::new();
    let mut options = Vec::new();
    // The open elements, and whether each had a value of its own.
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut root_seen = false;
    loop {
        buffer.clear();
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|e| (reader.buffer_position(), e));
        let at = reader.buffer_position();
        let (tag, empty) = match event {
            Ok(Event::Start(tag)) => (tag, false),
            Ok(Event::Empty(tag)) => (tag, true),
            Ok(Event::End(_)) => {
                open.pop();
                continue;
            }
            Ok(Event::Text(text)) => {
                let value = text.xml_content(XmlVersion::Implicit1_0);
                let value = value.trim();
                if let [.., (section, _), (name, false)] = &open[..]
                    && !value.is_empty()
                {
                    options.push(Given::new(section, name, value, line_at(at)));
                }
                continue;
            }
            Ok(Event::Eof) => break,
            Ok(_) => continue,
            Err((position, error)) => return Err(wrong(position, error.to_string())),
        };
        let name = tag.name().as_ref().to_owned();
        if open.is_empty() {
            // SUMO itself takes any root; these are the ones of other files.
            if matches!(
                name.as_str(),
                "net" | "routes" | "additional" | "fcd-export"
            ) || root_seen
            {
                return Err(wrong(
                    at,
                    format!("found <{name}>, expected <configuration> or <sumoConfiguration>"),
                ));
            }
            root_seen = true;
        }
        let value = attribute(&tag, "value").or_else(|| attribute(&tag, "v"));
        if let Some(value) = &value
            && let Some((section, _)) = open.last()
        {
            options.push(Given::new(section, &name, value, line_at(at)));
        }
        if !empty {
            open.push((name, value.is_some()));
        }
    }
    if !open.is_empty() || !root_seen {
        return Err(wrong(
            bytes.len() as u64,
            "the file breaks off, expected </configuration> or </sumoConfiguration>".into(),
        ));
    }
    Ok(options)
}

/// What a route or additional file holds.
#[derive(Default)]
struct Content {
    polygons: bool,
    /// It names files that SUMO would write.
    outputs: bool,
    includes: Vec<String>,
    /// Other files that it reads.
    files: Vec<String>,
    departures_s: Option<(f64, f64)>,
}

impl Content {
    fn see(&mut self, tag: &BytesStart<'_>) {
        self.outputs |= output_of(tag).is_some();
        match tag.name().as_ref() {
            "poly" | "polygon" => self.polygons = true,
            "include" => {
                let included = attribute(tag, "href").map(Cow::into_owned);
                self.includes.extend(included);
            }
            "rerouter" | "variableSpeedSign" | "calibrator" => {
                let file = attribute(tag, "file").map(Cow::into_owned);
                self.files.extend(file);
            }
            "vehicle" | "trip" | "person" | "personFlow" | "flow" => {
                for name in ["depart", "begin", "end"] {
                    let instant = attribute(tag, name);
                    let instant = instant.and_then(|text| crate::recorded::time_us(&text));
                    if let Some(us) = instant {
                        let s = us as f64 / 1e6;
                        let (a, b) = self.departures_s.unwrap_or((s, s));
                        self.departures_s = Some((a.min(s), b.max(s)));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Looks through a route or additional file, plain or gzipped.
fn scan(path: &Path, types: &mut VehicleTypes) -> Result<Content, SumoError> {
    let mut content = Content::default();
    visit_elements(path, |tag| {
        content.see(tag);
        types.see(tag);
    })
    .map_err(SumoError::Scenario)?;
    Ok(content)
}
