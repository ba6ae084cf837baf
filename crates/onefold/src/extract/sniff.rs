//! What a document's bytes are, from their first bytes: a known format that is not text, unknown binary data, HTML, or text.
//!
//! In: the bytes. Out: an answer to one question for each function. Invariant: looks at 8 KiB at most. Cost: constant.
//! Drops nothing itself; the caller turns the answers into refusals.
//!
//! A magic must not occur at the start of prose, so short ones ("BM", "MZ", "RIFF") are tied to bytes that no text has.

use memchr::memmem;

/// How much of a document the binary test reads.
const SAMPLE_BYTES: usize = 8 * 1024;
/// Where the first tag of a page must begin, as in the HTML standard's prescan.
const HTML_HEAD_BYTES: usize = 1024;
/// Where a file that is called `.html` must have a tag.
const HTML_NAMED_BYTES: usize = 4 * 1024;

/// Offset, bytes, what it is.
const MAGICS: &[(usize, &[u8], &str)] = &[
    (0, b"%PDF-", "PDF document"),
    (0, b"{\\rtf", "RTF document"),
    (0, b"%!PS", "PostScript document"),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "OLE2 office document"),
    (0, b"PK\x03\x04", "ZIP archive or office document"),
    (0, b"PK\x05\x06", "ZIP archive or office document"),
    (0, b"PK\x07\x08", "ZIP archive or office document"),
    (0, b"\xFFWPC", "WordPerfect document"),
    (0, b"AT&TFORM", "DjVu document"),
    (0, b"ITSF\x03", "CHM help file"),
    (60, b"BOOKMOBI", "Mobipocket e-book"),
    (0, b"WARC/1.", "WARC web archive"),
    (0, b"WARC/0.", "WARC web archive"),
    (0, b"filedesc://", "ARC web archive"),
    (0, b"\x1F\x8B", "gzip compressed data"),
    (0, b"\x28\xB5\x2F\xFD", "zstd compressed data"),
    (4, b"1AY&SY", "bzip2 compressed data"),
    (0, b"\xFD7zXZ\0", "xz compressed data"),
    (0, b"7z\xBC\xAF\x27\x1C", "7z archive"),
    (0, b"Rar!\x1A\x07", "RAR archive"),
    (0, b"\x04\x22\x4D\x18", "LZ4 compressed data"),
    (0, b"LZIP\x01", "lzip compressed data"),
    (0, b"\x1F\x9D", "compress data"),
    (0, b"MSCF\0\0\0\0", "cabinet archive"),
    (0, b"!<arch>\n", "ar archive or Debian package"),
    (0, b"\xED\xAB\xEE\xDB", "RPM package"),
    (257, b"ustar", "tar archive"),
    (0, b"\x89PNG\r\n\x1A\n", "PNG image"),
    (0, b"\xFF\xD8\xFF", "JPEG image"),
    (0, b"GIF87a", "GIF image"),
    (0, b"GIF89a", "GIF image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"8BPS\0", "Photoshop image"),
    (0, b"\0\0\x01\0", "icon"),
    (0, b"\0\0\0\x0CjP  ", "JPEG 2000 image"),
    (0, b"ID3\x02", "MP3 audio"),
    (0, b"ID3\x03", "MP3 audio"),
    (0, b"ID3\x04", "MP3 audio"),
    (0, b"OggS\0", "Ogg audio or video"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"MThd\0", "MIDI music"),
    (0, b"\x1A\x45\xDF\xA3", "Matroska or WebM video"),
    (0, b"\0\0\x01\xBA", "MPEG video"),
    (0, b"\0\0\x01\xB3", "MPEG video"),
    (0, b"FLV\x01", "Flash video"),
    (0, b"\x30\x26\xB2\x75\x8E\x66\xCF\x11", "Windows Media file"),
    (0, b"\x7FELF", "ELF program or library"),
    (0, b"\xCA\xFE\xBA\xBE", "Java class file or universal Mach-O program"),
    (0, b"\xFE\xED\xFA\xCE", "Mach-O program"),
    (0, b"\xCE\xFA\xED\xFE", "Mach-O program"),
    (0, b"\xCF\xFA\xED\xFE", "Mach-O program"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"dex\n0", "Android DEX file"),
    (0, b"BC\xC0\xDE", "LLVM bitcode"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"PAR1", "Parquet file"),
    (0, b"ARROW1\0\0", "Arrow file"),
    (0, b"Obj\x01", "Avro file"),
    (0, b"\x89HDF\r\n\x1A\n", "HDF5 file"),
    (0, b"\x93NUMPY", "NumPy array"),
    (0, b"\xD4\xC3\xB2\xA1", "packet capture"),
    (0, b"!BDN", "Outlook mailbox"),
    (0, b"\x78\x9F\x3E\x22", "TNEF mail attachment (winmail.dat)"),
    (0, b"PACK\0\0\0", "git pack"),
    (0, b"\0\x01\0\0\0", "TrueType font"),
    (0, b"OTTO\0", "OpenType font"),
    (0, b"ttcf\0", "TrueType font collection"),
    (0, b"wOFF", "WOFF font"),
    (0, b"wOF2", "WOFF2 font"),
];

/// The name of a known format that is not text.
pub(super) fn known_format(bytes: &[u8]) -> Option<&'static str> {
    let found = MAGICS.iter().find(|(at, magic, _)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    found
        .map(|(_, _, format)| *format)
        .or_else(|| conditional_format(bytes))
        .or_else(|| late_pdf(bytes))
        .or_else(|| office_xml(bytes))
}

/// Formats whose magic alone could be the first letters of a text.
fn conditional_format(bytes: &[u8]) -> Option<&'static str> {
    let head = bytes.get(..16)?;
    match (&head[..4], &head[8..12]) {
        (b"RIFF", b"WEBP") => return Some("WebP image"),
        (b"RIFF", b"WAVE") => return Some("WAVE audio"),
        (b"RIFF", b"AVI ") => return Some("AVI video"),
        (b"FORM", b"AIFF" | b"AIFC") => return Some("AIFF audio"),
        _ => {}
    }
    if head[0] == 0 && head[4..].starts_with(b"ftyp") {
        return Some("MP4, QuickTime or HEIF media");
    }
    if head.starts_with(b"BM") && head[6..10] == [0; 4] {
        return Some("BMP image");
    }
    (head.starts_with(b"MZ") && head.contains(&0)).then_some("Windows program")
}

/// A PDF after a few stray bytes, which readers accept; that the rest is not UTF-8 tells it from a text about PDFs.
fn late_pdf(bytes: &[u8]) -> Option<&'static str> {
    let at = memmem::find(&bytes[..bytes.len().min(1024)], b"%PDF-")?;
    let sample = &bytes[at..bytes.len().min(at + SAMPLE_BYTES)];
    (!is_utf8_sample(sample)).then_some("PDF document")
}

/// Word and Excel documents saved as one XML file say so before the first tag; as text they would be mostly markup.
fn office_xml(bytes: &[u8]) -> Option<&'static str> {
    let head = &bytes[..bytes.len().min(HTML_HEAD_BYTES)];
    let is_office = head.starts_with(b"<?xml") && memmem::find(head, b"<?mso-application").is_some();
    is_office.then_some("office document as XML")
}

/// The share of control characters if it is so high that the bytes can't be text in a charset without NULs.
///
/// Text that is valid UTF-8 may have 10 % of them (logs, records ended by NULs). Otherwise 5 %: random and compressed
/// data have 10.2 % (26 of 256 values) and would pass half of the time, text in legacy charsets has none.
pub(super) fn binary_percent(bytes: &[u8]) -> Option<usize> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let controls = sample.iter().filter(|byte| is_control(**byte)).count();
    if controls == 0 {
        return None;
    }
    let limit_percent = if is_utf8_sample(sample) { 10 } else { 5 };
    (controls * 100 > limit_percent * sample.len()).then(|| controls * 100 / sample.len())
}

/// C0 controls that text does not use; backspace and escape occur in terminal output and ISO-2022.
pub(super) fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x08 | 0x1B)
}

/// Whether a sample is UTF-8, apart from a character that the end of the sample may have cut.
fn is_utf8_sample(sample: &[u8]) -> bool {
    std::str::from_utf8(sample).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// Whether ASCII-compatible bytes are an HTML page: by their first tag, or by name if there is any tag.
pub(super) fn is_html(bytes: &[u8], name: &str) -> bool {
    opens_like_html(&bytes[..bytes.len().min(HTML_HEAD_BYTES)])
        || (is_html_name(name) && has_tag(&bytes[..bytes.len().min(HTML_NAMED_BYTES)]))
}

fn opens_like_html(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    while let Some(after) = skip_past(rest, b"<!--", b"-->").or_else(|| skip_past(rest, b"<?", b">")) {
        rest = after.trim_ascii_start();
    }
    [&b"<!doctype html"[..], b"<html", b"<head", b"<body"].iter().any(|tag| {
        let Some((start, after)) = rest.split_at_checked(tag.len()) else {
            return false;
        };
        let ends = after.first().is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'));
        ends && start.eq_ignore_ascii_case(tag)
    })
}

fn skip_past<'a>(bytes: &'a [u8], open: &[u8], close: &[u8]) -> Option<&'a [u8]> {
    let inside = bytes.strip_prefix(open)?;
    memmem::find(inside, close).map(|at| &inside[at + close.len()..])
}

fn is_html_name(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["html", "htm", "xhtml", "shtml"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

fn has_tag(head: &[u8]) -> bool {
    memchr::memchr_iter(b'<', head)
        .any(|at| head.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magics_are_named() {
        assert_eq!(known_format(b"\x89PNG\r\n\x1A\n...."), Some("PNG image"));
        assert_eq!(known_format(b"RIFF\x10\0\0\0WEBPVP8 "), Some("WebP image"));
        assert_eq!(known_format(b"\0\0\0\x18ftypmp42\0\0\0\0"), Some("MP4, QuickTime or HEIF media"));
        assert_eq!(known_format(b"BZh91AY&SY"), Some("bzip2 compressed data"));
        assert_eq!(known_format(b"WARC/1.0\r\n"), Some("WARC web archive"));
        let tar = [&[b'a'; 257][..], b"ustar\x0000"].concat();
        assert_eq!(known_format(&tar), Some("tar archive"));
        let word = b"<?xml version='1.0'?>\n<?mso-application progid='Word.Document'?>";
        assert_eq!(known_format(word), Some("office document as XML"));
        assert_eq!(known_format(b"\r\n%PDF-1.4\n%\xE2\xE3\xCF\xD3\n"), Some("PDF document"));
    }

    #[test]
    fn prose_that_begins_like_a_magic_is_text() {
        for text in ["RIFFs are short musical phrases", "BM is short for British Museum", "MZ is the mark of Mark Zbikowski"] {
            assert_eq!(known_format(text.as_bytes()), None, "{text}");
        }
        let prose = ["GIF is a format", "PK yields", "OTTO", "ID3 tags", "A PDF begins with %PDF-1.4", "From a@b Sat Jan"];
        assert!(prose.iter().all(|text| known_format(text.as_bytes()).is_none()));
    }

    #[test]
    fn binary_needs_more_than_a_tenth_of_controls() {
        let with = |controls: usize| [vec![1; controls], vec![b'a'; 1000 - controls]].concat();
        assert_eq!(binary_percent(&with(100)), None);
        assert_eq!(binary_percent(&with(101)), Some(10));
        assert_eq!(binary_percent(b"\x1B[1m\x08\x0C\r\n\t"), None);
        let late = [vec![b'a'; SAMPLE_BYTES], vec![0; SAMPLE_BYTES]].concat();
        assert_eq!(binary_percent(&late), None);
    }

    #[test]
    fn random_data_is_binary() {
        for seed in 1..200_u32 {
            let mut state = seed.wrapping_mul(0x9E37_79B9);
            let noise: Vec<u8> = (0..4096)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    state.to_be_bytes()[0]
                })
                .collect();
            assert!(binary_percent(&noise).is_some(), "seed {seed}");
        }
    }

    #[test]
    fn html_by_content() {
        for page in [
            "<!DOCTYPE html>",
            "<!doctype HTML PUBLIC \"x\">",
            "<html lang=de>",
            "<HEAD>",
            "<body\n>",
            "\u{FEFF} \n<html>",
            "<?xml version='1.0'?>\n<!-- <p> -->\n<!-- b --><html>",
        ] {
            assert!(is_html(page.as_bytes(), "a.txt"), "{page}");
        }
        for text in ["a <html>", "<header>", "<htmlx>", "<!doctype book>", "<p>", "<!-- <html>", "<", ""] {
            assert!(!is_html(text.as_bytes(), "a.txt"), "{text}");
        }
        let late = format!("{}<html>", " ".repeat(HTML_HEAD_BYTES - 4));
        assert!(!is_html(late.as_bytes(), "a.txt"));
        assert!(is_html(&late.as_bytes()[1..], "a.txt"));
    }

    #[test]
    fn html_by_name_needs_a_tag() {
        for name in ["a.html", "a.HTM", "b/a.xhtml", "a.shtml"] {
            assert!(is_html(b"x </p>", name), "{name}");
        }
        assert!(!is_html(b"x </p>", "html") && !is_html(b"x </p>", "a.html.txt"));
        assert!(!is_html(b"a < b, <3", "a.html"));
        assert!(!is_html(format!("{}<p>", " ".repeat(HTML_NAMED_BYTES)).as_bytes(), "a.html"));
    }
}
