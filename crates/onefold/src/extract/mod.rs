//! Stage 2, extract: a document's bytes → its text, for plain text and HTML.
//!
//! *In:* the bytes of one document and its name (a hint). *Out:* [`Extracted`], or [`Refused`] with a stable code.
//! *Invariant:* the same bytes and name give the same text on every run; the text holds no NUL; no bytes make this
//! stage panic, recurse or take more than linear time. *Cost:* one pass to decode, for HTML a second to tokenize; memory is
//! the input and its text, for HTML that is not UTF-8 the decoded page as well.
//! *Drops:* binary files, as `Refused`; undecodable bytes and NULs, as U+FFFD with `lossy` set; from HTML the
//! markup, title, scripts and styles (`html.rs` has the list), silently: they are not what a page says.
//!
//! Other formats (PDF, office, archives) are refused here by name, so that the caller can offer them to a parser in a worker.

mod charset;
mod declared;
mod html;
mod sniff;

/// What a document's bytes turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Plain text, mail and everything else that is written in characters.
    Text,
    /// HTML or XHTML.
    Html,
}

/// The text of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// What a reader would see; empty for an empty document.
    pub text: String,
    /// How the bytes were read.
    pub kind: Kind,
    /// Whether some bytes had no meaning in the charset and became U+FFFD (NULs among them).
    pub lossy: bool,
}

/// Why bytes could not be read as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Stable, for `skipped.jsonl`: `unsupported_type` or `binary`.
    pub code: &'static str,
    /// For people.
    pub detail: String,
}

/// Reads the text out of a document's bytes.
///
/// `name` is the file name, used only as a hint (`.html`, `.htm`, `.xhtml`, `.shtml`); the content decides. A caller that knows
/// the media type from elsewhere (an HTTP header) passes a name with the fitting ending.
///
/// # Errors
///
/// [`Refused`] for known formats that are not text and for unknown binary data.
pub fn extract(bytes: &[u8], name: &str) -> Result<Extracted, Refused> {
    if let Some(format) = sniff::known_format(bytes) {
        return Err(Refused { code: "unsupported_type", detail: format.to_owned() });
    }
    // UTF-16 and UTF-32 come first: for every other question their NULs look like binary data and hide the tags.
    if let Some(decoded) = charset::decode_wide(bytes) {
        let html = sniff::is_html(decoded.text.as_bytes(), name);
        return Ok(read(decoded, html));
    }
    if let Some(percent) = sniff::binary_percent(bytes) {
        let detail = format!("binary data: {percent} % control characters at the start");
        return Err(Refused { code: "binary", detail });
    }
    let html = sniff::is_html(bytes, name);
    Ok(read(charset::decode(bytes, html), html))
}

fn read(decoded: charset::Decoded<'_>, html: bool) -> Extracted {
    let lossy = decoded.lossy;
    if html {
        Extracted { text: html::text(&decoded.text), kind: Kind::Html, lossy }
    } else {
        Extracted { text: decoded.text.into_owned(), kind: Kind::Text, lossy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16le(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn text_of(bytes: &[u8], name: &str) -> (String, Kind, bool) {
        let extracted = extract(bytes, name).unwrap();
        (extracted.text, extracted.kind, extracted.lossy)
    }

    #[test]
    fn empty_and_tiny_documents_are_text() {
        assert_eq!(text_of(b"", "x"), (String::new(), Kind::Text, false));
        assert_eq!(text_of(b"", "x.html"), (String::new(), Kind::Text, false));
        assert_eq!(text_of(b" \r\n\t", "x").0, " \r\n\t");
        assert_eq!(text_of(b"a", "x").0, "a");
        assert_eq!(text_of(b"\xEF\xBB\xBF", "x"), (String::new(), Kind::Text, false));
        assert_eq!(text_of(b"\xFF\xFE", "x"), (String::new(), Kind::Text, false));
    }

    #[test]
    fn html_is_found_in_every_charset() {
        let page = "<!DOCTYPE html><title>t</title><p>Grüße<p>aus Köln";
        let expected = ("Grüße\naus Köln".to_owned(), Kind::Html, false);
        assert_eq!(text_of(page.as_bytes(), "x"), expected);
        assert_eq!(text_of(&utf16le(page), "x"), expected);
        let utf32: Vec<u8> = "\u{FEFF}".chars().chain(page.chars()).flat_map(|c| u32::from(c).to_be_bytes()).collect();
        assert_eq!(text_of(&utf32, "x"), expected);
        let (latin, ..) = encoding_rs::WINDOWS_1252.encode(page);
        assert_eq!(text_of(&latin, "x"), expected);
    }

    #[test]
    fn content_decides_and_the_name_is_a_hint() {
        let fragment = b"one <b>two</b>";
        assert_eq!(text_of(fragment, "notes.txt"), ("one <b>two</b>".to_owned(), Kind::Text, false));
        assert_eq!(text_of(fragment, "Notes.HTM"), ("one two".to_owned(), Kind::Html, false));
        assert_eq!(text_of(b"1 < 2, no tags", "a.html").1, Kind::Text);
        assert_eq!(text_of(b"<html>a", "a.txt"), ("a".to_owned(), Kind::Html, false));
    }

    #[test]
    fn refusals_have_stable_codes() {
        let pdf = extract(b"%PDF-1.7\n", "a.txt").unwrap_err();
        assert_eq!((pdf.code, pdf.detail.as_str()), ("unsupported_type", "PDF document"));
        let unknown = extract(&[1, 2, 3, b'a', b'b', b'c'], "a.html").unwrap_err();
        assert_eq!(unknown.code, "binary");
        assert!(unknown.detail.contains("50 %"), "{}", unknown.detail);
        assert_eq!(extract(&[0; 100], "zeros").unwrap_err().code, "binary");
    }

    #[test]
    fn nuls_never_reach_the_text() {
        let long = "twenty letters or so";
        let (text, kind, lossy) = text_of(format!("{long}\0{long}").as_bytes(), "x");
        assert_eq!((text, kind, lossy), (format!("{long}\u{FFFD}{long}"), Kind::Text, true));
        let (text, kind, lossy) = text_of(format!("<html>{long}\0{long}").as_bytes(), "x");
        assert_eq!((text, kind, lossy), (format!("{long}\u{FFFD}{long}"), Kind::Html, true));
        let (text, _, lossy) = text_of(&utf16le("\u{FEFF}a\0b"), "x");
        assert_eq!((text.as_str(), lossy), ("a\u{FFFD}b", true));
        assert_eq!(text_of(b"<html>a&#0;b", "x").0, "a\u{FFFD}b");
    }

    #[test]
    fn a_file_of_ff_bytes_has_a_defined_result() {
        let once = extract(&[0xFF; 5000], "x").unwrap();
        assert_eq!(once, extract(&[0xFF; 5000], "x").unwrap());
        assert!(once.lossy && once.text.chars().all(|c| c == '\u{FFFD}'));
    }
}
