//! Opening files: never a device, a pipe or a link by accident; compression by content.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// Opens a regular file for reading, and nothing else: a pipe put in its place after the walk must not hang the run.
pub(super) fn open_regular(path: &Path, follow: bool) -> io::Result<File> {
    let file = open_without_waiting(path, follow)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

#[cfg(unix)]
fn open_without_waiting(path: &Path, follow: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let no_follow = if follow { 0 } else { libc::O_NOFOLLOW };
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC | no_follow).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path, _follow: bool) -> io::Result<File> {
    File::open(path)
}

/// Bytes that a reader holds.
pub(super) const BUFFER: usize = 256 << 10;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// What a file is packed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Nothing.
    Plain,
    /// gzip, in one member or many.
    Gzip,
    /// Zstandard, in one frame or many.
    Zstd,
}

impl Packing {
    /// Told by the first bytes.
    fn of(start: &[u8]) -> Packing {
        if start.starts_with(GZIP) {
            Packing::Gzip
        } else if start.starts_with(ZSTD) {
            Packing::Zstd
        } else {
            Packing::Plain
        }
    }

    /// Of a file, which is then back at its start.
    pub(super) fn of_file(file: &mut File) -> io::Result<Packing> {
        let start = first_bytes(file)?;
        file.rewind()?;
        Ok(Packing::of(&start))
    }
}

/// A stream with its compression taken off.
pub(super) type Plain = Box<dyn BufRead + Send>;

/// Opens a file or pipe and takes off gzip (all members) or zstd (all frames).
pub(super) fn open(path: &Path) -> io::Result<Plain> {
    decompress(Box::new(File::open(path)?))
}

/// Takes off gzip or zstd, told by the first bytes.
pub(super) fn decompress(mut reader: Box<dyn Read + Send>) -> io::Result<Plain> {
    let start = first_bytes(&mut reader)?;
    let whole = |start: Vec<u8>| BufReader::with_capacity(BUFFER, io::Cursor::new(start).chain(reader));
    Ok(match Packing::of(&start) {
        Packing::Gzip => Box::new(BufReader::with_capacity(BUFFER, Unpacked(MultiGzDecoder::new(whole(start))))),
        Packing::Zstd => {
            Box::new(BufReader::with_capacity(BUFFER, Unpacked(zstd::stream::read::Decoder::with_buffer(whole(start))?)))
        }
        Packing::Plain => Box::new(whole(start)),
    })
}

/// A decoder whose complaints are told from those of the system: data that can't be right is [`io::ErrorKind::InvalidData`].
struct Unpacked<R>(R);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::Other if error.raw_os_error().is_none() => {
                io::Error::new(io::ErrorKind::InvalidData, error)
            }
            _ => error,
        })
    }
}

/// Up to four bytes; a pipe may deliver them one by one.
fn first_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    reader.take(ZSTD.len() as u64).read_to_end(&mut start)?;
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn plain(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        decompress(Box::new(io::Cursor::new(bytes)))?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn all_members_and_frames_are_read() {
        assert_eq!(plain([gzip("one "), gzip("two")].concat()).unwrap(), "one two");
        let frame = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
        assert_eq!(plain([frame("one "), frame("two")].concat()).unwrap(), "one two");
        assert_eq!(plain(b"a".to_vec()).unwrap(), "a");
        assert_eq!(plain(Vec::new()).unwrap(), "");
    }

    #[test]
    fn a_cut_stream_is_an_error() {
        let whole = gzip(&"text ".repeat(1000));
        assert!(plain(whole[..whole.len() - 4].to_vec()).is_err());
    }
}
