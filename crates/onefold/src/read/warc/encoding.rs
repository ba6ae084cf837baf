//! Content encodings undone, with bounds: gzip, deflate (with and without its header), zstd.
//!
//! Brotli is refused by name: it has no magic number, and no page was found in the samples that still had it on.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::http::Note;
use super::member::{SURELY_HARMLESS, bomb};

/// More encodings than this are not undone.
pub(super) const MOST_LAYERS: usize = 4;
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Frames that want more memory than 2^27 bytes are refused by the decoder.
const LARGEST_WINDOW_LOG: u32 = 27;

/// What decoding came to.
#[derive(Debug)]
pub(super) enum Decoded {
    /// The bytes do not have the announced encoding on them.
    NotEncoded,
    Whole(Vec<u8>),
    /// What came before the fault.
    Partial {
        body: Vec<u8>,
        problem: String,
    },
}

/// Undoes one encoding; at most `most` bytes may come out.
pub(super) fn decode(name: &str, bytes: &[u8], most: u64) -> Result<Decoded, Note> {
    if bytes.is_empty() {
        return Ok(Decoded::NotEncoded);
    }
    match name {
        "gzip" | "x-gzip" if bytes.starts_with(&[0x1f, 0x8b]) => drain(MultiGzDecoder::new(bytes), bytes.len(), most),
        "zstd" if bytes.starts_with(ZSTD) => unframe(bytes, most),
        "deflate" => inflate(bytes, most),
        "gzip" | "x-gzip" | "zstd" => Ok(Decoded::NotEncoded),
        _ if looks_plain(bytes) => Ok(Decoded::NotEncoded),
        _ => Err(("unsupported_encoding", format!("Content-Encoding {name}"))),
    }
}

fn unframe(bytes: &[u8], most: u64) -> Result<Decoded, Note> {
    let failed = |error: io::Error| ("bad_encoding", format!("zstd: {error}"));
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes).map_err(failed)?;
    decoder.window_log_max(LARGEST_WINDOW_LOG).map_err(failed)?;
    drain(decoder, bytes.len(), most)
}

/// `deflate` means zlib, but some servers send it bare.
fn inflate(bytes: &[u8], most: u64) -> Result<Decoded, Note> {
    if looks_plain(bytes) {
        return Ok(Decoded::NotEncoded);
    }
    let zlib = matches!(bytes, [first, second, ..] if first & 15 == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0);
    if zlib { drain(ZlibDecoder::new(bytes), bytes.len(), most) } else { drain(DeflateDecoder::new(bytes), bytes.len(), most) }
}

/// Reads all that comes out. A fault before the first byte means that there is nothing to have.
fn drain(mut decoder: impl Read, taken: usize, most: u64) -> Result<Decoded, Note> {
    let mut body = Vec::new();
    let mut piece = [0; 16 << 10];
    loop {
        match decoder.read(&mut piece) {
            Ok(0) => return Ok(Decoded::Whole(body)),
            Ok(count) => body.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            // Bytes after the last gzip member that are no member.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput && !body.is_empty() && is_junk(&error) => {
                return Ok(Decoded::Whole(body));
            }
            Err(error) if body.is_empty() => return Err(("bad_encoding", error.to_string())),
            Err(error) => return Ok(Decoded::Partial { body, problem: error.to_string() }),
        }
        if bomb(taken as u64, body.len() as u64, SURELY_HARMLESS) {
            return Err(("bomb", format!("{taken} bytes grow to more than {}", body.len())));
        }
        if body.len() as u64 > most {
            return Err(("too_large", format!("more than {most} bytes")));
        }
    }
}

fn is_junk(error: &io::Error) -> bool {
    error.to_string().contains("header")
}

/// Whether the bytes begin like text: no control characters but white space. Compressed bytes fail that within a few bytes.
fn looks_plain(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(256)];
    start.iter().all(|byte| *byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
        && start.iter().filter(|byte| byte.is_ascii()).count() * 10 >= start.len() * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;

    const PAGE: &[u8] = b"<html><body>a page that is long enough to be a page, and then some more of it</body></html>";

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn whole(name: &str, bytes: &[u8]) -> Vec<u8> {
        match decode(name, bytes, 1 << 30) {
            Ok(Decoded::Whole(body)) => body,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn every_encoding_is_undone() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(PAGE).unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(PAGE).unwrap();
        assert_eq!(whole("gzip", &gzip(PAGE)), PAGE);
        assert_eq!(whole("x-gzip", &[gzip(PAGE), gzip(PAGE)].concat()), [PAGE, PAGE].concat());
        assert_eq!(whole("gzip", &[gzip(PAGE), b"\r\njunk and more junk".to_vec()].concat()), PAGE);
        assert_eq!(whole("deflate", &zlib.finish().unwrap()), PAGE);
        assert_eq!(whole("deflate", &bare.finish().unwrap()), PAGE);
        assert_eq!(whole("zstd", &zstd::encode_all(PAGE, 3).unwrap()), PAGE);
    }

    #[test]
    fn a_cut_body_gives_what_is_there() {
        let noise: Vec<u8> = (0..5000_u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let packed = gzip(&noise);
        match decode("gzip", &packed[..packed.len() / 2], 1 << 30).unwrap() {
            Decoded::Partial { body, .. } => assert!(!body.is_empty() && noise.starts_with(&body)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bombs_and_giants_are_refused() {
        let zeros = vec![0; 20 << 20];
        assert_eq!(decode("gzip", &gzip(&zeros), 1 << 30).unwrap_err().0, "bomb");
        assert_eq!(decode("zstd", &zstd::encode_all(zeros.as_slice(), 3).unwrap(), 1 << 30).unwrap_err().0, "bomb");
        assert_eq!(decode("gzip", &gzip(&zeros[..1 << 20]), 1000).unwrap_err().0, "too_large");
    }

    #[test]
    fn brotli_is_refused_by_name() {
        let packed = [0x1b, 0x5b, 0, 0xf8, 0x8d, 0xd4, 1, 2, 3];
        assert_eq!(decode("br", &packed, 1 << 20).unwrap_err(), ("unsupported_encoding", "Content-Encoding br".into()));
    }
}
