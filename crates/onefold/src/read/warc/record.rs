//! Headers of WARC records, as the standard has them and as crawlers write them.
//!
//! Known faults that are read without a word: `WARC/0.18`, `\n` as line end, an empty line before Content-Length (ClueWeb09), angle
//! brackets around URIs (wget), spaces and control characters in URIs, bytes that are not UTF-8.

use super::fields::{self, Fields};
use super::heading::{HeaderEnd, Heading, Http, Kind, length};

/// How every record begins.
pub(super) const MAGIC: &[u8] = b"WARC/";
const LENGTH: &[u8] = b"content-length:";

/// Whether a record begins here, when one is expected here.
pub(super) fn continues(bytes: &[u8]) -> bool {
    bytes.strip_prefix(MAGIC).and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit)
}

/// Whether a record begins here for sure: a version line, and a named field after it.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(MAGIC).filter(|_| continues(bytes)) else { return false };
    let Some(end) = memchr::memchr(b'\n', &rest[..rest.len().min(20)]) else { return false };
    let version = rest[..end].trim_ascii();
    let dotted = version.contains(&b'.') && version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let name = &rest[end + 1..];
    let named = name.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_".contains(byte)));
    dotted && named.is_some_and(|at| at > 0 && name[at] == b':')
}

/// Where the header ends. An empty line does not end it while the length is still to come.
pub(super) fn header_end(bytes: &[u8], ended: bool) -> HeaderEnd {
    let (mut at, mut has_length) = (0, false);
    while let Some(length) = memchr::memchr(b'\n', &bytes[at..]) {
        let line = &bytes[at..at + length];
        let next = at + length + 1;
        if at > 0 && continues(line) {
            return HeaderEnd::Broken(at);
        }
        if line.is_empty() || line == b"\r" {
            let following = &bytes[next..];
            if !has_length && following.len() < LENGTH.len() && !ended {
                return HeaderEnd::Open;
            }
            if has_length || !names_length(following) {
                return HeaderEnd::At(next);
            }
        }
        has_length |= names_length(line);
        at = next;
    }
    HeaderEnd::Open
}

fn names_length(line: &[u8]) -> bool {
    line.len() >= LENGTH.len() && line[..LENGTH.len()].eq_ignore_ascii_case(LENGTH)
}

/// Reads a whole header.
pub(super) fn parse(header: &[u8]) -> Heading {
    let fields = Fields::parse(header);
    let kind = kind(fields.text("WARC-Type").unwrap_or_default());
    let content_type = fields.text("Content-Type");
    let is_http = content_type.as_deref().is_some_and(is_http);
    let is_response = fields.text("WARC-Type").is_some_and(|name| name.eq_ignore_ascii_case("response"));
    let uri = |name| fields.text(name).and_then(fields::uri);
    // A record in segments goes on in `continuation` records, which are not put together again.
    let segmented = fields.all("WARC-Segment-Number").next().is_some();
    Heading {
        http: if is_http {
            Http::Yes
        } else if is_response {
            Http::Perhaps
        } else {
            Http::No
        },
        length: declared_length(&fields),
        truncated: segmented || fields.all("WARC-Truncated").next().is_some(),
        record_id: uri("WARC-Record-ID"),
        trec_id: fields.text("WARC-TREC-ID"),
        uri: uri("WARC-Target-URI"),
        date: fields.text("WARC-Date"),
        content_type: if is_http { fields.text("WARC-Identified-Payload-Type") } else { content_type },
        refers_to: [uri("WARC-Refers-To"), uri("WARC-Refers-To-Target-URI"), fields.text("WARC-Refers-To-Date")],
        kind,
    }
}

fn kind(name: String) -> Kind {
    match name.to_ascii_lowercase().as_str() {
        "response" | "resource" | "conversion" => Kind::Content,
        "revisit" => Kind::Revisit,
        "request" | "metadata" | "warcinfo" | "continuation" => Kind::About,
        _ => Kind::Unknown(name),
    }
}

fn is_http(content_type: &str) -> bool {
    let name = content_type.split(';').next().unwrap_or_default().trim();
    name.eq_ignore_ascii_case("application/http")
}

/// One length, written once or several times alike.
fn declared_length(fields: &Fields) -> Result<u64, String> {
    let mut written = fields.all("Content-Length");
    let Some(first) = written.next() else { return Err("missing".into()) };
    let first = length(first)?;
    match written.find(|other| length(other) != Ok(first)) {
        Some(other) => Err(format!("{first} and {}", fields::text(&other[..other.len().min(40)]))),
        None => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_begins_with_a_version_and_a_field() {
        for good in ["WARC/1.0\r\nWARC-Type: x", "WARC/0.18\nA:", "WARC/1.1 \r\nContent-Length: 1"] {
            assert!(begins(good.as_bytes()), "{good}");
        }
        for bad in
            ["WARC/", "WARC/1.0", "WARC/1.0\n", "WARC/1.0\nx y: z", "WARC/x.0\nA:", "WARC/1.0 is a format\nA:", "WARC/.18\nA:"]
        {
            assert!(!begins(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn headers_end_at_the_empty_line() {
        assert_eq!(header_end(b"WARC/1.0\r\nContent-Length: 1\r\n\r\nx", false), HeaderEnd::At(31));
        assert_eq!(header_end(b"WARC/1.0\nContent-Length: 1\n\nx", false), HeaderEnd::At(28));
        assert_eq!(header_end(b"WARC/1.0\nContent-Length: 1\n", false), HeaderEnd::Open);
        assert_eq!(header_end(b"WARC/1.0\nA: b\nWARC/1.0\nA: c\n\n", false), HeaderEnd::Broken(14));
    }

    #[test]
    fn an_empty_line_before_the_length_is_passed_over() {
        let header = b"WARC/0.18\nWARC-Type: response\n\nContent-Length: 5\n\n";
        assert_eq!(header_end(header, false), HeaderEnd::At(header.len()));
        assert_eq!(parse(header).length, Ok(5));
        assert_eq!(header_end(b"WARC/0.18\nA: b\n\nConte", false), HeaderEnd::Open);
        assert_eq!(header_end(b"WARC/0.18\nA: b\n\nConte", true), HeaderEnd::At(16));
    }

    #[test]
    fn wrong_lengths_are_told() {
        let length = |lines: &str| parse(format!("WARC/1.0\r\n{lines}\r\n\r\n").as_bytes()).length;
        assert_eq!(length("A: b"), Err("missing".into()));
        assert_eq!(length("Content-Length: 3\r\nContent-Length: 3"), Ok(3));
        assert_eq!(length("Content-Length: 3\r\nContent-Length: 4"), Err("3 and 4".into()));
        assert_eq!(length("Content-Length: 1e3"), Err("1e3".into()));
    }

    #[test]
    fn types_and_what_they_are_to_us() {
        assert_eq!(kind("Response".into()), Kind::Content);
        assert_eq!(kind("revisit".into()), Kind::Revisit);
        assert_eq!(kind("continuation".into()), Kind::About);
        assert_eq!(kind(String::new()), Kind::Unknown(String::new()));
    }
}
