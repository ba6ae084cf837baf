//! HTTP messages as crawlers keep them → the page: header taken off, chunks joined, encodings undone.
//!
//! Many crawlers undo the encodings and keep the header that announced them, so an announcement alone proves nothing.

use super::encoding::{self, Decoded};
use super::fields::{Fields, lines, media_type};

/// Something to tell: a word and the particulars.
pub(super) type Note = (&'static str, String);

/// What a block holds.
#[derive(Debug, Default)]
pub(super) struct Payload {
    pub(super) body: Vec<u8>,
    pub(super) media_type: Option<String>,
    pub(super) charset: Option<String>,
    pub(super) status: Option<u16>,
    /// The body ends before its encoding does.
    pub(super) cut: bool,
    pub(super) notes: Vec<Note>,
}

/// Whether the block begins like a response.
pub(super) fn is_response(block: &[u8]) -> bool {
    block.starts_with(b"HTTP/")
}

/// Takes the message apart; the body may have at most `most` bytes.
pub(super) fn open(mut block: &[u8], most: u64) -> Result<Payload, Note> {
    let mut status = None;
    let mut header = &block[..0];
    // Interim answers (100 Continue) come before the real one.
    while is_response(block) && status.is_none_or(|code| (100..200).contains(&code)) {
        let end = header_end(block);
        (header, block) = block.split_at(end);
        status = lines(header).next().and_then(status_code);
        if status.is_none() {
            break;
        }
    }
    let fields = Fields::parse(header);
    let (media_type, charset) = media_type(&fields.text("Content-Type").unwrap_or_default());
    let mut payload = Payload { media_type, charset, status, ..Payload::default() };
    payload.body = dechunked(&fields, block, &mut payload);
    undo_encodings(&fields, &mut payload, most)?;
    Ok(payload)
}

fn status_code(line: &[u8]) -> Option<u16> {
    let word = line.split(|&byte| byte == b' ').skip(1).find(|word| !word.is_empty())?;
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The header ends with an empty line, or where the page begins without one.
fn header_end(block: &[u8]) -> usize {
    let mut at = 0;
    while let Some(length) = memchr::memchr(b'\n', &block[at..]) {
        let line = &block[at..at + length];
        if line.is_empty() || line == b"\r" {
            return at + length + 1;
        }
        if line.starts_with(b"<") {
            return at;
        }
        at += length + 1;
    }
    block.len()
}

fn dechunked(fields: &Fields, body: &[u8], payload: &mut Payload) -> Vec<u8> {
    let announced = fields.all("Transfer-Encoding").any(|value| value.to_ascii_lowercase().ends_with(b"chunked"));
    if !announced || body.is_empty() {
        return body.to_vec();
    }
    match join_chunks(body) {
        Some((joined, whole)) => {
            payload.cut |= !whole;
            joined
        }
        None => {
            payload.notes.push(("bad_chunking", "announced as chunked, but is not; taken as it is".into()));
            body.to_vec()
        }
    }
}

/// The chunks put together, and whether the last one is there; nothing if these are no chunks.
fn join_chunks(mut rest: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut joined = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let Some(end) = memchr::memchr(b'\n', rest) else {
            // A size that the end of the record cut short.
            return if joined.is_empty() { None } else { Some((joined, false)) };
        };
        let size = chunk_size(&rest[..end])?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some((joined, true));
        }
        let Some((chunk, after)) = rest.split_at_checked(size) else {
            joined.extend_from_slice(rest);
            return Some((joined, false));
        };
        joined.extend_from_slice(chunk);
        rest = match after {
            [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
            [] | [b'\r'] => &[],
            _ => return None,
        };
    }
    Some((joined, false))
}

/// A size in hexadecimal, with or without an extension.
fn chunk_size(line: &[u8]) -> Option<usize> {
    let size = line.split(|&byte| byte == b';').next()?.trim_ascii();
    let hexadecimal = !size.is_empty() && size.len() <= 15 && size.iter().all(u8::is_ascii_hexdigit);
    std::str::from_utf8(size).ok().filter(|_| hexadecimal).and_then(|text| usize::from_str_radix(text, 16).ok())
}

/// The last encoding that was put on comes off first.
fn undo_encodings(fields: &Fields, payload: &mut Payload, most: u64) -> Result<(), Note> {
    let announced: Vec<String> = fields.all("Content-Encoding").map(super::fields::text).collect();
    let names = announced.iter().flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase());
    let names: Vec<String> = names.filter(|name| !name.is_empty() && name != "identity").collect();
    if names.len() > encoding::MOST_LAYERS {
        return Err(("unsupported_encoding", format!("{} encodings one in another", names.len())));
    }
    for name in names.iter().rev() {
        match encoding::decode(name, &payload.body, most)? {
            Decoded::NotEncoded => (),
            Decoded::Whole(body) => payload.body = body,
            Decoded::Partial { body, problem } => {
                payload.body = body;
                payload.cut = true;
                payload.notes.push(("bad_encoding", format!("{name}: {problem}")));
            }
        }
    }
    if payload.body.len() as u64 > most { Err(("too_large", format!("more than {most} bytes"))) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(block: &str) -> Payload {
        open(block.as_bytes(), 1 << 20).unwrap()
    }

    #[test]
    fn headers_end_in_many_ways() {
        for end in ["\r\n\r\n", "\n\n", "\n\r\n", "\r\n\n"] {
            let found = page(&format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x{end}<p>text"));
            assert_eq!(found.body, b"<p>text", "{end:?}");
            assert_eq!((found.status, found.charset.as_deref()), (Some(200), Some("x")), "{end:?}");
        }
        assert_eq!(page("HTTP/1.1 304 Not Modified\r\nDate: x").body, b"");
        assert_eq!(page("HTTP/1.1 200 OK\nA: b\n<html>\n</html>").body, b"<html>\n</html>");
    }

    #[test]
    fn interim_answers_are_passed_over() {
        let found = page("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\nHTTP/ is a protocol");
        assert_eq!((found.status, found.body.as_slice()), (Some(404), &b"HTTP/ is a protocol"[..]));
    }

    fn chunked(body: &str) -> (String, bool, usize) {
        let found = page(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n{body}"));
        (String::from_utf8(found.body).unwrap(), found.cut, found.notes.len())
    }

    #[test]
    fn chunks_are_joined() {
        assert_eq!(chunked("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"), ("abcde".into(), false, 0));
        assert_eq!(chunked("3 \nabc\n2\nde\n0\n"), ("abcde".into(), false, 0));
        assert_eq!(chunked("3\r\nabc\r\n2\r\nd"), ("abcd".into(), true, 0));
        assert_eq!(chunked("3\r\nabc\r\n"), ("abc".into(), true, 0));
    }

    #[test]
    fn wrong_chunks_leave_the_body_as_it_is() {
        for body in ["<html>", "<html>\nx", "3\r\nabcdef\r\n", "fffffffffffffffff\r\nabc", "-3\r\nabc"] {
            assert_eq!(chunked(body), (body.into(), false, 1), "{body}");
        }
    }

    #[test]
    fn encodings_announced_but_gone() {
        for name in ["gzip", "deflate", "br", "zstd", "identity", "gzip, identity"] {
            let found = page(&format!("HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\n\r\n<html>page</html>"));
            assert_eq!((found.body.as_slice(), found.cut), (&b"<html>page</html>"[..], false), "{name}");
        }
        let layers = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {}\r\n\r\nx", "gzip,".repeat(50));
        assert_eq!(open(layers.as_bytes(), 9).unwrap_err().0, "unsupported_encoding");
    }
}
