//! What cargo knows about the workspace, as far as the tasks need it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::process::Call;

/// Features that the test run leaves off, with the reason. Everything else is built and tested with all features.
const FEATURES_LEFT_OFF: &[(&str, &str)] = &[
    // Compiles LLVM's libFuzzer, C++ that `cargo xtask fuzz` alone builds.
    ("covey-fuzz", "libfuzzer"),
];

/// One package, of the workspace or of a registry.
pub(crate) struct Package {
    /// The name cargo gives it.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// The folder of its manifest.
    pub(crate) folder: String,
    /// The SPDX expression of its licence, if it states one.
    pub(crate) license: Option<String>,
    /// It names a file with a licence text.
    pub(crate) has_license_file: bool,
    /// Its description, empty if it has none.
    pub(crate) description: String,
    /// It comes from a registry or another repository.
    pub(crate) foreign: bool,
    /// Its features, by name.
    pub(crate) features: BTreeSet<String>,
    /// Dependencies on packages in folders of their own (the workspace's): kind and folder.
    pub(crate) local_dependencies: Vec<(Kind, String)>,
    /// It may be published.
    pub(crate) published: bool,
}

/// How one crate uses another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In the library or binary itself.
    Normal,
    /// In its build script.
    Build,
    /// In its tests, examples and benches.
    Dev,
}

impl Package {
    /// What people call the crate: the name of its folder (`protocol`, `xtask`).
    pub(crate) fn short_name(&self) -> &str {
        folder_name(&self.folder)
    }
}

/// The last part of a path, as a name.
pub(crate) fn folder_name(folder: &str) -> &str {
    Path::new(folder)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(folder)
}

/// The packages of the workspace itself.
pub(crate) fn workspace(root: &Path) -> Result<Vec<Package>, String> {
    read(root, &["--no-deps"])
}

/// The packages of the workspace and everything they depend on, on any platform, with any feature.
pub(crate) fn everything(root: &Path) -> Result<Vec<Package>, String> {
    read(root, &["--all-features", "--locked"])
}

/// The folder that cargo builds in.
pub(crate) fn target_folder(root: &Path) -> Result<String, String> {
    let value = call(root, &["--no-deps"])?;
    Ok(text(&value, "target_directory"))
}

/// The value of `--features` that turns on every feature of the workspace but those of `FEATURES_LEFT_OFF`.
pub(crate) fn test_features(packages: &[Package]) -> String {
    let mut features = Vec::new();
    for package in packages {
        for feature in &package.features {
            let left_off = FEATURES_LEFT_OFF.contains(&(package.name.as_str(), feature.as_str()));
            if !left_off && feature != "default" {
                features.push(format!("{}/{feature}", package.name));
            }
        }
    }
    features.join(",")
}

fn call(root: &Path, arguments: &[&str]) -> Result<Value, String> {
    let mut all = vec!["metadata", "--format-version", "1"];
    all.extend(arguments);
    let text = Call::new(root, "cargo", &all).read()?;
    serde_json::from_str(&text).map_err(|error| format!("`cargo metadata` gave no JSON: {error}"))
}

fn read(root: &Path, arguments: &[&str]) -> Result<Vec<Package>, String> {
    let value = call(root, arguments)?;
    let packages = value["packages"]
        .as_array()
        .ok_or("`cargo metadata` lists no packages")?;
    Ok(packages.iter().map(package).collect())
}

fn package(value: &Value) -> Package {
    let manifest = text(value, "manifest_path");
    let local_dependencies = value["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|dependency| {
            let kind = match dependency["kind"].as_str() {
                Some("dev") => Kind::Dev,
                Some("build") => Kind::Build,
                _ => Kind::Normal,
            };
            Some((kind, dependency["path"].as_str()?.to_owned()))
        })
        .collect();
    Package {
        name: text(value, "name"),
        version: text(value, "version"),
        folder: Path::new(&manifest)
            .parent()
            .map(|folder| folder.to_string_lossy().into_owned())
            .unwrap_or_default(),
        license: value["license"].as_str().map(str::to_owned),
        has_license_file: value["license_file"].is_string(),
        description: text(value, "description"),
        foreign: value["source"].is_string(),
        features: value["features"]
            .as_object()
            .map(|features| features.keys().cloned().collect())
            .unwrap_or_default(),
        local_dependencies,
        // No list is no limit; an empty one is `publish = false`.
        published: value["publish"].is_null(),
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}
