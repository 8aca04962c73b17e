//! Opens what a configuration names: the link, the vehicle's sources, the user to go on as.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use nix::unistd::{User, setgid, setgroups, setuid};
use tokio::sync::mpsc::Sender;

use crate::config::{Checked, LinkKind};
use crate::failure::NodeError;
use crate::link::{Link, Multicast};
use crate::vehicle::sources::{self, Word};

/// The link.
pub(crate) fn link(checked: &Checked) -> Result<Link, NodeError> {
    let radio = &checked.config.radio;
    let wrong = |problem: String| NodeError::input(checked, problem);
    let machine = |what: String, error: &io::Error| NodeError::machine(checked, &what, error);
    if radio.link == LinkKind::Ethernet {
        let what = format!("radio.interface: {}", radio.interface);
        return Link::ethernet(&radio.interface).map_err(|error| machine(what, &error));
    }
    if let Some([listen, peer]) = checked.relay().map_err(wrong)? {
        let what = format!("radio.listen: {listen}");
        return Link::unicast(listen, peer).map_err(|error| machine(what, &error));
    }
    let group = checked.group().map_err(wrong)?;
    let local = checked.local().map_err(wrong)?;
    Link::multicast(group, local).map_err(|error| match error {
        Multicast::Group(error) => machine(format!("radio.group: {group}"), &error),
        Multicast::Local(error) => machine(format!("radio.local: {local}"), &error),
    })
}

/// The file to replay, where there is one.
pub(crate) fn replay(checked: &Checked) -> Result<Option<(PathBuf, File)>, NodeError> {
    let Some(path) = checked.path(&checked.config.vehicle.replay) else {
        return Ok(None);
    };
    let file = File::open(&path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(io::ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    match file {
        Ok(file) => Ok(Some((path, file))),
        Err(error) => {
            let path = path.display();
            let problem = format!(
                "vehicle.replay: {path}: cannot be read: {error}; expected a file of JSON lines"
            );
            Err(NodeError::input(checked, problem))
        }
    }
}

/// All sources of the vehicle; gives the path of the local socket, which goes when the node goes.
pub(crate) async fn sources(
    checked: &Checked,
    words: &Sender<Word>,
    user: Option<&User>,
) -> Result<Option<PathBuf>, NodeError> {
    let vehicle = &checked.config.vehicle;
    let socket = checked.path(&vehicle.socket);
    if let Some(path) = &socket {
        let what = format!("vehicle.socket: {}", path.display());
        let listener = sources::open_socket(path)
            .map_err(|error| NodeError::machine(checked, &what, &error))?;
        // The vehicle's programs run as the user that the node goes on as.
        if let Some(user) = user {
            let (uid, gid) = (user.uid.as_raw(), user.gid.as_raw());
            std::os::unix::fs::chown(path, Some(uid), Some(gid)).map_err(|error| {
                NodeError::machine(checked, &format!("user: {}", user.name), &error)
            })?;
        }
        tokio::spawn(sources::serve_socket(listener, words.clone()));
    }
    if let Some(path) = checked.path(&vehicle.nmea) {
        sources::follow_nmea(path, words.clone());
    }
    if let Some((path, file)) = replay(checked)? {
        sources::play(&path, file, words.clone());
    }
    if !vehicle.gpsd.is_empty() {
        tokio::spawn(sources::follow_gpsd(vehicle.gpsd.clone(), words.clone()));
    }
    if let Ok(address) = vehicle.cpm.parse() {
        let open = sources::open_cpm(address).await.map_err(|error| {
            NodeError::machine(checked, &format!("vehicle.cpm: {address}"), &error)
        })?;
        tokio::spawn(sources::follow_cpm(open, words.clone()));
    }
    Ok(socket)
}

/// The user to go on as, where one is named.
pub(crate) fn user(checked: &Checked) -> Result<Option<User>, NodeError> {
    let name = &checked.config.user;
    if name.is_empty() {
        return Ok(None);
    }
    let found = User::from_name(name).map_err(io::Error::from);
    let nobody = || io::Error::new(io::ErrorKind::NotFound, "found no such user");
    let found = found.and_then(|user| user.ok_or_else(nobody));
    let what = format!("user: {name}");
    found
        .map(Some)
        .map_err(|error| NodeError::machine(checked, &what, &error))
}

/// Goes on as another user: all rights beyond its own are given up.
pub(crate) fn go_on_as(checked: &Checked, user: &User) -> Result<(), NodeError> {
    setgroups(&[user.gid])
        .and_then(|()| setgid(user.gid))
        .and_then(|()| setuid(user.uid))
        .map_err(|error| {
            NodeError::machine(checked, &format!("user: {}", user.name), &error.into())
        })
}
