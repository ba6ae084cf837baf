//! A file that is being written, packed as its original is.

use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::read::Packing;

/// Bytes gathered before they are written.
const BUFFER: usize = 256 << 10;

/// A file to be.
pub(super) struct Output {
    packed: Packed,
    /// Where it will be, for messages.
    shown: PathBuf,
}

enum Packed {
    Plain(BufWriter<File>),
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<File>>),
}

impl Output {
    /// Makes the file and the folders above it. Until it is finished nobody else may look: the original may be secret.
    pub(super) fn create(path: &Path, shown: PathBuf) -> Result<Output> {
        let created = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
            Ok(Packed::Plain(BufWriter::with_capacity(BUFFER, file)))
        });
        match created {
            Ok(packed) => Ok(Output { packed, shown }),
            Err(e) => Err(Error::output("create", &shown, e)),
        }
    }

    /// Packs what is written from here on. To be called before anything is.
    pub(super) fn packed(self, packing: Packing) -> Result<Output> {
        let Output { packed: Packed::Plain(file), shown } = self else {
            return Err(Error::Bug("an output is packed twice".into()));
        };
        let packed = match packing {
            Packing::Plain => Ok(Packed::Plain(file)),
            Packing::Gzip => Ok(Packed::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))),
            Packing::Zstd => zstd_encoder(file).map(Packed::Zstd),
        };
        packed.map(|packed| Output { packed, shown: shown.clone() }).map_err(|e| Error::output("write", &shown, e))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.packed {
            Packed::Plain(file) => file.write_all(bytes),
            Packed::Gzip(file) => file.write_all(bytes),
            Packed::Zstd(file) => file.write_all(bytes),
        };
        written.map_err(|e| self.failed(e))
    }

    /// The file itself, for who packs it in a way of their own.
    #[cfg(feature = "parquet")]
    pub(super) fn file(&mut self) -> Result<&mut (dyn Write + Send)> {
        match &mut self.packed {
            Packed::Plain(file) => Ok(file),
            _ => Err(Error::Bug("a packed output is written to directly".into())),
        }
    }

    pub(super) fn failed(&self, cause: io::Error) -> Error {
        Error::output("write", &self.shown, cause)
    }

    /// Ends the file and gives it the rights of its original, and its time if it is a copy of it. Returns its size.
    pub(super) fn finish(self, original: &Metadata, copy: bool) -> Result<u64> {
        let Output { packed, shown } = self;
        let attempt = || {
            let file = match packed {
                Packed::Plain(file) => file,
                Packed::Gzip(file) => file.finish()?,
                Packed::Zstd(file) => file.finish()?,
            };
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            let bytes = file.metadata()?.len();
            if copy {
                // Not every file system keeps times; the content is what counts.
                let _ = original.modified().and_then(|time| file.set_times(FileTimes::new().set_modified(time)));
            } else {
                // Copies of whole files may be a million, and are not waited for one by one.
                file.sync_all()?;
            }
            let _ = file.set_permissions(Permissions::from_mode(original.permissions().mode() & 0o777));
            Ok(bytes)
        };
        attempt().map_err(|e| Error::output("write", &shown, e))
    }
}

/// Bytes as a member of their own.
pub(super) fn member(bytes: &[u8], packing: Packing) -> io::Result<Vec<u8>> {
    match packing {
        Packing::Plain => Ok(bytes.to_vec()),
        Packing::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes)?;
            encoder.finish()
        }
        Packing::Zstd => {
            let mut encoder = zstd_encoder(Vec::new())?;
            encoder.write_all(bytes)?;
            encoder.finish()
        }
    }
}

fn zstd_encoder<W: Write>(to: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut encoder = zstd::stream::write::Encoder::new(to, zstd::DEFAULT_COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}
