//! Opening an input a second time, and making sure that it is the one that was read the first time.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::SystemTime;

use super::catalog::{FileId, FileKind, file_id};
use super::open::{self, Packing, Plain};

/// What it takes to read a file a second time.
#[derive(Clone, Debug)]
pub(crate) struct Again {
    /// What the file holds.
    pub(crate) kind: FileKind,
    /// Whether its path may be a symbolic link.
    pub(crate) follow: bool,
    /// As it was when it was catalogued.
    pub(crate) seen: Seen,
}

/// A file as the system describes it: if any of this differs, it is not what was read.
///
/// The time of the last change of status is left out: a backup that makes a hard link changes it, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    id: FileId,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Seen {
    pub(super) fn of(metadata: &Metadata) -> Seen {
        Seen { id: file_id(metadata), bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// A file that was opened a second time.
pub(crate) struct Reopened {
    file: File,
    seen: Seen,
}

impl Reopened {
    /// Opens a file that must be as it was.
    pub(crate) fn open(path: &Path, again: &Again) -> io::Result<Reopened> {
        let reopened = Reopened { file: open::open_regular(path, again.follow)?, seen: again.seen };
        reopened.check()?;
        Ok(reopened)
    }

    /// An error if the file is not as it was.
    pub(crate) fn check(&self) -> io::Result<()> {
        let now = Seen::of(&self.metadata()?);
        let problem = match self.seen {
            seen if seen == now => return Ok(()),
            seen if seen.id != now.id => "another file has taken its place".to_string(),
            seen if seen.bytes != now.bytes => format!("it had {} bytes and has {}", seen.bytes, now.bytes),
            _ => "it was written to".to_string(),
        };
        Err(io::Error::other(problem))
    }

    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// What the file is packed with; leaves it at its start.
    pub(crate) fn packing(&mut self) -> io::Result<Packing> {
        Packing::of_file(&mut self.file)
    }

    /// The file as it is stored, from its start. There is one place of reading, so only one reader at a time.
    pub(crate) fn stored(&self) -> io::Result<File> {
        use std::io::Seek;
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        Ok(file)
    }

    /// The file with its packing taken off.
    pub(crate) fn plain(&self) -> io::Result<Plain> {
        open::decompress(Box::new(self.stored()?))
    }

    /// Bytes from a place in the file, whoever reads it elsewhere; fewer only at its end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
}
