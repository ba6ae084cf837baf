//! ARC, the format before WARC: one header line, then the message as it came from the network.
//!
//! Version 1: `URL IP date type length`; version 2 has a status, a checksum, a location, an offset and a file name before the length.
//! URLs may have spaces, so the line is read around the date, the only field whose form is sure.

use super::fields;
use super::heading::{Heading, Http, Kind, length};

/// Longer header lines are not believed.
pub(super) const LONGEST_LINE: usize = 16 << 10;
const VERSION_BLOCK: &[u8] = b"filedesc:";

/// Whether a header line begins here: a scheme, and a date among the last words.
pub(super) fn begins(bytes: &[u8]) -> bool {
    has_scheme(bytes) && line(bytes).and_then(parts).is_some()
}

fn has_scheme(bytes: &[u8]) -> bool {
    let scheme = bytes.iter().take(20).take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    scheme > 1 && bytes.get(scheme) == Some(&b':') && bytes.get(scheme + 1).is_some_and(|byte| !byte.is_ascii_whitespace())
}

fn line(bytes: &[u8]) -> Option<&[u8]> {
    let line = &bytes[..memchr::memchr(b'\n', &bytes[..bytes.len().min(LONGEST_LINE)])?];
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// The parts of a header line.
struct Parts<'a> {
    url: &'a [u8],
    date: &'a [u8],
    media_type: &'a [u8],
    length: &'a [u8],
}

fn parts(line: &[u8]) -> Option<Parts<'_>> {
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let is_date = |word: &[u8]| (12..=18).contains(&word.len()) && word.iter().all(u8::is_ascii_digit);
    // Before it the URL and the IP address, after it at least the type and the length.
    let at = (2..words.len().saturating_sub(2)).rev().find(|&at| is_date(words[at]))?;
    let url_length = words[..at - 1].iter().map(|word| word.len() + 1).sum::<usize>().checked_sub(1)?;
    Some(Parts { url: &line[..url_length], date: words[at], media_type: words[at + 1], length: words.last()? })
}

/// Reads a header line. The version block is about the crawl, all else is content.
pub(super) fn parse(header: &[u8]) -> Heading {
    let parts = line(header).and_then(parts);
    let word = |word: Option<&[u8]>| word.filter(|word| !word.is_empty()).map(fields::text);
    Heading {
        kind: if header.starts_with(VERSION_BLOCK) { Kind::About } else { Kind::Content },
        length: parts.as_ref().map_or(Err("missing".into()), |parts| length(parts.length)),
        http: Http::Perhaps,
        truncated: false,
        record_id: None,
        trec_id: None,
        uri: word(parts.as_ref().map(|parts| parts.url)),
        date: word(parts.as_ref().map(|parts| parts.date)),
        content_type: word(parts.as_ref().map(|parts| parts.media_type)).filter(|name| name.contains('/')),
        refers_to: [None, None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines_of_both_versions() {
        let one = parse(b"http://a/b 1.2.3.4 20140216050221 text/html 1591\n");
        assert_eq!((one.uri.as_deref(), one.length, one.kind), (Some("http://a/b"), Ok(1591), Kind::Content));
        assert_eq!((one.date.as_deref(), one.content_type.as_deref()), (Some("20140216050221"), Some("text/html")));
        let two = parse(b"http://a/ 1.2.3.4 20140216050221 text/html 200 fac069 - 2000 a.arc.gz 99\r\n");
        assert_eq!((two.uri.as_deref(), two.length), (Some("http://a/"), Ok(99)));
        let version = parse(b"filedesc://a.arc 0.0.0.0 20140216050221 text/plain 75\n");
        assert_eq!(version.kind, Kind::About);
    }

    #[test]
    fn urls_may_have_spaces() {
        let heading = parse(b"http://a/?t=Examples From The Live Web 1.2.3.4 20140216050221 text/html 7\n");
        assert_eq!(heading.uri.as_deref(), Some("http://a/?t=Examples From The Live Web"));
    }

    #[test]
    fn lines_that_are_no_headers() {
        assert!(begins(b"http://a/ 1.2.3.4 201404010000000000 text/html abc\n"));
        assert!(begins(b"dns:a.org 1.2.3.4 20080430204825 text/dns 56\n"));
        for line in [
            "",
            "\n",
            "URL IP-address Archive-date Content-type Archive-length\n",
            "a: 1 20140216050221 x 1\n",
            "20080430204825\n",
        ] {
            assert!(!begins(line.as_bytes()), "{line}");
        }
        assert!(!begins(b"http://a/ 1.2.3.4 20140216050221 text/html 12"), "no line end");
    }

    #[test]
    fn lengths_that_are_none() {
        assert_eq!(parse(b"http://a/ 1.2.3.4 20140216050221 text/html -1\n").length, Err("-1".into()));
        assert_eq!(parse(b"nothing\n").length, Err("missing".into()));
    }
}
