//! Files that are whole or not there.
//!
//! Everything is written under a temporary name in the folder it belongs to, synced, and renamed. Whoever looks at any instant,
//! after a kill or a power cut too, sees the old file, the new file, or none.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// A file that is being written under a temporary name; gone unless it is [committed](Self::commit).
#[derive(Debug)]
pub struct Pending {
    path: PathBuf,
    temporary: PathBuf,
    out: Option<BufWriter<File>>,
}

impl Pending {
    /// Begins to write what will be `path`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn new(path: &Path) -> Result<Self, FileError> {
        let mut temporary = path.as_os_str().to_owned();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Another process, perhaps on another machine, may be writing the same file.
        let process = std::process::id();
        temporary.push(format!(".{}-{process}-{number}{TEMPORARY}", host()));
        let temporary = PathBuf::from(temporary);
        let file = File::create(&temporary).map_err(FileError::new(path, "cannot be written"))?;
        Ok(Self {
            path: path.to_path_buf(),
            temporary,
            out: Some(BufWriter::new(file)),
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
        let Some(out) = self.out.take() else {
            return Ok(());
        };
        let outcome = out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.path));
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
        self.out.as_mut().map_or(Ok(0), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.out.take().is_some() {
            // A left-over does no harm, and there is nothing more to be done about it.
            let _ = fs::remove_file(&self.temporary);
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

/// The machine's name, so that temporary names of two machines on a shared folder differ.
fn host() -> String {
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
