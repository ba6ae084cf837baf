//! Header blocks as WARC and HTTP write them: `Name: value` lines, folded lines, any line end, any bytes.

/// The fields of a header block, in order.
#[derive(Debug, Default)]
pub(super) struct Fields<'a>(Vec<(&'a [u8], Vec<u8>)>);

impl<'a> Fields<'a> {
    /// Reads the lines that have a name; others say nothing.
    pub(super) fn parse(block: &'a [u8]) -> Self {
        let mut fields: Vec<(&[u8], Vec<u8>)> = Vec::new();
        for line in lines(block) {
            match (line.first(), fields.last_mut()) {
                (Some(b' ' | b'\t'), Some((_, value))) => {
                    value.push(b' ');
                    value.extend_from_slice(line.trim_ascii());
                }
                _ => {
                    if let Some(colon) = memchr::memchr(b':', line) {
                        fields.push((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii().to_vec()));
                    }
                }
            }
        }
        Fields(fields)
    }

    /// The values under a name, without empty ones.
    pub(super) fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s [u8]> {
        let of_name = move |field: &&(&[u8], Vec<u8>)| field.0.eq_ignore_ascii_case(name.as_bytes());
        self.0.iter().filter(of_name).map(|(_, value)| value.as_slice()).filter(|value| !value.is_empty())
    }

    /// The first value under a name.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.all(name).next().map(text)
    }
}

/// The lines of a block without their line ends.
pub(super) fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    block.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Bytes as text; what is not UTF-8 is written `%XX`, so that two names never become one.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// A URI without the angle brackets that wget put around it.
pub(super) fn uri(text: String) -> Option<String> {
    let bare = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).map(|bare| bare.trim().to_owned());
    Some(bare.unwrap_or(text)).filter(|uri| !uri.is_empty())
}

/// `text/html; charset="utf-8"` → the type in lower case and the character set.
pub(super) fn media_type(value: &str) -> (Option<String>, Option<String>) {
    let mut parts = value.split(';').map(str::trim);
    let media_type = parts.next().filter(|name| !name.is_empty()).map(str::to_ascii_lowercase);
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    });
    (media_type, charset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_kind() {
        let fields = Fields::parse(b"WARC/1.0\r\nName: value \r\nfolded: one\n\ttwo\nempty:\nNAME:again\nno colon\n\r\n");
        assert_eq!(fields.text("name").as_deref(), Some("value"));
        assert_eq!(fields.all("Name").count(), 2);
        assert_eq!(fields.text("Folded").as_deref(), Some("one two"));
        assert_eq!(fields.text("empty"), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_written_out() {
        assert_eq!(text(b"a\x08\xc3\x80\xff\xe4b"), "a\u{8}\u{c0}%FF%E4b");
    }

    #[test]
    fn uris_lose_their_brackets() {
        assert_eq!(uri("<http://a/>".into()).as_deref(), Some("http://a/"));
        assert_eq!(uri("<http://a/".into()).as_deref(), Some("<http://a/"));
        assert_eq!(uri("<>".into()), None);
    }

    #[test]
    fn media_types() {
        let pair = |value| media_type(value);
        assert_eq!(pair("Text/HTML; a=b; Charset=\"EUC-JP\""), (Some("text/html".into()), Some("EUC-JP".into())));
        assert_eq!(pair("text/plain;charset="), (Some("text/plain".into()), None));
        assert_eq!(pair(""), (None, None));
    }
}
