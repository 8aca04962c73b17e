//! Files that are whole or not there.
//!
//! Everything is written under a temporary name in the folder it belongs to, synced, and renamed. Whoever looks at any instant,
//! after a kill or a power cut too, sees the old file, the new file, or none.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use thiserror::Error;

/// A folder or file could not be used.
#[derive(Debug, Error)]
#[error("{}: {doing}: {source}{}", path.display(), advice(source))]
pub struct FileError {
    /// The file or folder.
    pub path: PathBuf,
    /// What was tried, in words for people.
    pub doing: &'static str,
    /// What the system said.
    pub source: io::Error,
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room and run the same command again: what is finished is kept"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that can be written with --out"
        }
        _ => "",
    }
}

impl FileError {
    pub(crate) fn new(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self {
            path,
            doing,
            source,
        }
    }
}

/// Ends of temporary names: such files are left-overs of a process that was ended.
pub const TEMPORARY: &str = ".part";

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Makes a folder and those above it.
///
/// # Errors
/// The folder cannot be made.
pub fn make_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::new(path, "cannot make the folder"))
}

/// Writes a file whole or not at all.
///
/// # Errors
/// The file cannot be written; nothing is left behind then.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, |out| out.write_all(bytes))
}

/// A file that is being written under a temporary name; gone unless it is [committed](Self::commit). What is no file (a pipe, a
/// device, standard output as `-`) is written through as it comes; a link stays, and its file is written.
#[derive(Debug)]
pub struct Pending {
    path: PathBuf,
    temporary: PathBuf,
    out: Option<Out>,
}

#[derive(Debug)]
enum Out {
    File(BufWriter<File>),
    Through(File),
    Standard,
}

/// Where a file is written that is asked for at `path`: a link's file, also where there is none yet.
fn behind(path: &Path) -> PathBuf {
    /// Links that lead to links; as many as the system follows.
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// It is written through, and there is no file to look at afterwards.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
        || fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

impl Pending {
    /// Begins to write what will be `path`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn new(path: &Path) -> Result<Self, FileError> {
        if is_stream(path) {
            let out = match path.as_os_str() == "-" {
                true => Out::Standard,
                false => {
                    let file = fs::OpenOptions::new().write(true).open(path);
                    Out::Through(file.map_err(FileError::new(path, "cannot be written"))?)
                }
            };
            return Ok(Self {
                path: path.to_path_buf(),
                temporary: PathBuf::new(),
                out: Some(out),
            });
        }
        let path = &behind(path);
        let mut temporary = path.as_os_str().to_owned();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Another process, perhaps on another machine, may be writing the same file.
        let process = std::process::id();
        temporary.push(format!(".{}-{process}-{number}{TEMPORARY}", host()));
        let temporary = PathBuf::from(temporary);
        let file = File::create(&temporary).map_err(FileError::new(path, "cannot be written"))?;
        under_way().insert(temporary.clone());
        Ok(Self {
            path: path.to_path_buf(),
            temporary,
            out: Some(Out::File(BufWriter::new(file))),
        })
    }

    /// What went wrong while the content was written.
    #[must_use]
    pub fn failed(&self, error: io::Error) -> FileError {
        FileError::new(&self.path, "cannot be written")(error)
    }

    /// The file is whole: gives it its name.
    ///
    /// # Errors
    /// The last bytes or the name cannot be written.
    pub fn commit(mut self) -> Result<(), FileError> {
        let out = match self.out.take() {
            None => return Ok(()),
            Some(Out::Through(mut file)) => return file.flush().map_err(|e| self.failed(e)),
            Some(Out::Standard) => return io::stdout().flush().map_err(|e| self.failed(e)),
            Some(Out::File(out)) => out,
        };
        let outcome = out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.path));
        under_way().remove(&self.temporary);
        if let Err(error) = outcome {
            let _ = fs::remove_file(&self.temporary);
            return Err(self.failed(error));
        }
        // The name itself has to last, too. Some file systems cannot sync folders; the file is written all the same.
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            None => Ok(0),
            Some(Out::File(out)) => out.write(bytes),
            Some(Out::Through(file)) => file.write(bytes),
            Some(Out::Standard) => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            None => Ok(()),
            Some(Out::File(out)) => out.flush(),
            Some(Out::Through(file)) => file.flush(),
            Some(Out::Standard) => io::stdout().flush(),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(Out::File(_)) = self.out.take() {
            // A left-over does no harm, and there is nothing more to be done about it.
            let _ = fs::remove_file(&self.temporary);
            under_way().remove(&self.temporary);
        }
    }
}

/// Writes a file whole or not at all, piece by piece.
///
/// # Errors
/// The file cannot be written; nothing is left behind then.
pub fn write_with(
    path: &Path,
    content: impl FnOnce(&mut Pending) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut pending = Pending::new(path)?;
    content(&mut pending).map_err(|error| pending.failed(error))?;
    pending.commit()
}

/// Size of all files under `path`.
#[must_use]
pub fn size(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| size(&entry.path()))
            .sum(),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    }
}

/// How deep a folder is searched for left-overs: results lie no deeper.
const DEEPEST: usize = 3;

/// Partial files and folders under `folder` whose process has ended. Where nobody else writes there (`alone`), those of this machine
/// are all left-overs; those of other machines cannot be told from files that are being written.
#[must_use]
pub fn leftovers(folder: &Path, alone: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    search(folder, alone, DEEPEST, &mut found);
    found.sort();
    found
}

fn search(folder: &Path, alone: bool, deep: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(TEMPORARY) {
            if is_leftover(&name, alone) {
                found.push(path);
            }
        } else if deep > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            search(&path, alone, deep - 1, found);
        }
    }
}

/// A temporary name, `X.PROCESS.part` or `X.HOST-PROCESS-NUMBER.part`, whose process has ended on this machine.
fn is_leftover(name: &str, alone: bool) -> bool {
    let stem = name.strip_suffix(TEMPORARY).unwrap_or(name);
    let owner = stem.rsplit('.').next().unwrap_or_default();
    let mut parts = owner.rsplit('-');
    let (machine, process) = match (parts.next(), parts.next(), parts.next()) {
        (Some(process), None, _) => (None, process),
        (_, Some(process), machine) => (machine, process),
        (None, ..) => return false,
    };
    let Ok(process) = process.parse::<u32>() else {
        return false;
    };
    let here = machine.is_none_or(|machine| machine == host());
    let own = process == std::process::id();
    here && !own && (alone || !Path::new("/proc").join(process.to_string()).exists())
}

/// Removes what [`leftovers`] finds; how many there were.
pub fn remove_leftovers(folder: &Path, alone: bool) -> usize {
    let found = leftovers(folder, alone);
    for path in &found {
        remove(path);
    }
    found.len()
}

/// Removes a file or folder; that it cannot be removed, or is gone already, does no harm.
pub fn remove(path: &Path) {
    let _ = match path.is_dir() && !path.is_symlink() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
}

/// Temporary files of this process that are being written.
static UNDER_WAY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn under_way() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every temporary file that this process is writing, just before it ends without finishing them.
pub fn abandon() {
    for path in std::mem::take(&mut *under_way()) {
        let _ = fs::remove_file(path);
    }
}

/// The machine's name, so that temporary names of two machines on a shared folder differ.
pub(crate) fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .take(24)
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A fresh folder that goes away with the test.
    pub(crate) struct Folder(pub(crate) PathBuf);

    impl Folder {
        pub(crate) fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("covey-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn left_overs_of_ended_processes_are_removed_and_nothing_else() {
        let folder = Folder::new("leftovers");
        fs::create_dir_all(folder.0.join("seeds/0")).unwrap();
        let (host, own) = (host(), std::process::id());
        // No process has this number.
        let ended = u32::MAX;
        let there = |name: &str| folder.0.join(name).exists();
        let of_others = [
            format!("seeds/0/a.json.zst.elsewhere-{ended}-0.part"),
            format!("b.{host}-{own}-0.part"),
            "seeds/0/result.json.zst".to_string(),
            "mine.part".to_string(),
        ];
        let gone = [
            format!("seeds/0/a.json.zst.{host}-{ended}-0.part"),
            format!("seed-1.covey.{ended}.part"),
        ];
        for name in of_others.iter().chain(&gone) {
            fs::write(folder.0.join(name), "half").unwrap();
        }
        assert_eq!(remove_leftovers(&folder.0, false), 2);
        assert!(of_others.iter().all(|name| there(name)));
        assert!(!gone.iter().any(|name| there(name)));
        // A living process is no reason to keep what nobody can be writing.
        let living = format!("c.{host}-1-0.part");
        fs::write(folder.0.join(&living), "half").unwrap();
        assert_eq!(remove_leftovers(&folder.0, false), 0);
        assert_eq!(remove_leftovers(&folder.0, true), 1);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
        let folder = Folder::new("atomic");
        let path = folder.0.join("a");
        write(&path, b"old").unwrap();
        let error = write_with(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert!(error.to_string().contains("make room"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }
}
