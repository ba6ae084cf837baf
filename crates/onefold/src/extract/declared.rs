//! The charset that an HTML page declares about itself.
//!
//! In: a page in an ASCII-compatible charset. Out: the encoding that its `<meta>` or XML declaration names. Invariant: looks
//! at 1024 bytes. Cost: constant. Drops labels that no decoder exists for, as if nothing had been declared.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use memchr::memmem;

/// Where a declaration must stand (HTML standard, "prescan a byte stream").
const DECLARATION_BYTES: usize = 1024;

/// The charset that a page declares: in a `<meta>`, else in its XML declaration.
pub(super) fn declared(page: &[u8]) -> Option<&'static Encoding> {
    let head = &page[..page.len().min(DECLARATION_BYTES)];
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let tags = Tokenizer::new_with_emitter(head, emitter).filter_map(|token| match token {
        Ok(Token::StartTag(tag)) if **tag.name == *b"meta" => Some(tag),
        _ => None,
    });
    let from_meta = tags.filter_map(|tag| meta_charset(&tag)).find_map(|label| usable(&label));
    from_meta.or_else(|| usable(xml_charset(head)?))
}

fn meta_charset(tag: &StartTag<()>) -> Option<Vec<u8>> {
    let attribute = |name: &[u8]| tag.attributes.get(name).map(|value| value.value.to_ascii_lowercase());
    if let Some(label) = attribute(b"charset") {
        return Some(label);
    }
    let is_type = attribute(b"http-equiv").is_some_and(|value| value.trim_ascii() == b"content-type");
    let content = attribute(b"content").filter(|_| is_type)?;
    after_equals(&content[memmem::find(&content, b"charset")? + "charset".len()..]).map(<[u8]>::to_vec)
}

fn xml_charset(head: &[u8]) -> Option<&[u8]> {
    let head = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let declaration = &head[..memmem::find(head, b"?>")?];
    after_equals(&declaration[memmem::find(declaration, b"encoding")? + "encoding".len()..])
}

/// The word after ` = `, with or without quotes.
fn after_equals(rest: &[u8]) -> Option<&[u8]> {
    let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    value.split(|byte| matches!(byte, b'"' | b'\'' | b';') || byte.is_ascii_whitespace()).find(|word| !word.is_empty())
}

/// The encoding for a label, with the standard's two exceptions, and without those that it refuses to decode.
fn usable(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    match encoding {
        _ if encoding == REPLACEMENT => None,
        _ if encoding == UTF_16LE || encoding == UTF_16BE => Some(UTF_8),
        _ if encoding == X_USER_DEFINED => Some(WINDOWS_1252),
        _ => Some(encoding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, name: &str) {
        let found = declared(page.as_bytes()).map_or("", Encoding::name);
        assert_eq!(found, name, "{page}");
    }

    #[test]
    fn meta_in_its_two_forms() {
        check("<html><head><meta charset='euc-kr'>", "EUC-KR");
        check("<META CHARSET = Latin1 />", "windows-1252");
        check("<meta content='text/html; Charset = \"sjis\"' http-equiv=Content-Type>", "Shift_JIS");
        check("<meta http-equiv=content-type content=text/html;charset=koi8-r;x>", "KOI8-R");
        check("<meta name=x content='charset=koi8-r'>", "");
        check("<meta http-equiv=content-type content='text/html'><meta charset=big5>", "Big5");
        check("<p>charset=big5", "");
    }

    #[test]
    fn xml_declaration_unless_there_is_a_meta() {
        check("<?xml version=\"1.0\" encoding=\"euc-jp\"?><html>", "EUC-JP");
        check("<?xml version='1.0' encoding='euc-jp'?><meta charset=gbk>", "GBK");
        check("<?xml version='1.0'?><p encoding='euc-jp'?>", "");
    }

    #[test]
    fn comments_scripts_and_late_tags_do_not_count() {
        check("<!-- <meta charset=big5> --><meta charset=gbk>", "GBK");
        check("<script>'<meta charset=big5>'</script>", "");
        check(&format!("{}<meta charset=big5>", " ".repeat(1006)), "");
        check(&format!("{}<meta charset=big5>", " ".repeat(1005)), "Big5");
    }

    #[test]
    fn labels_follow_the_standard() {
        check("<meta charset=utf-16le>", "UTF-8");
        check("<meta charset=x-user-defined>", "windows-1252");
        check("<meta charset=iso-2022-kr>", "");
        check("<meta charset=nonsense><meta charset=gb2312>", "GBK");
    }
}
