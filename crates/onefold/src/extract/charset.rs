//! Bytes → characters: which charset a document is written in, and its text in UTF-8.
//!
//! In: bytes that are not a known binary format. Out: [`Decoded`]. Invariant: never fails, and the same bytes always give the
//! same text, without NULs. Cost: linear; statistics look at 64 KiB at most. Drops: bytes without meaning and NULs,
//! as U+FFFD with `lossy` set.
//!
//! The order: byte order mark, zero bytes as in UTF-16, declaration (HTML only), UTF-8, mostly UTF-8, statistics.
//! UTF-8 that decodes wins over a declaration, because nothing else decodes as UTF-8 by chance and many pages lie.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memmem;

use super::declared::declared;
use super::sniff;

/// How much the test for UTF-16 without a mark reads.
const WIDE_SAMPLE_BYTES: usize = 8 * 1024;
/// How much chardetng reads, from the first byte on that is not ASCII: at 5 MB/s it would take most of the time.
const GUESS_BYTES: usize = 64 * 1024;

/// A document's characters.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    pub lossy: bool,
}

impl<'a> Decoded<'a> {
    fn new(text: Cow<'a, str>, errors: bool) -> Self {
        // No store and no C library takes NULs; mapped here, no later stage has to think of them.
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return Decoded { text: text.replace('\0', "\u{FFFD}").into(), lossy: true };
        }
        Decoded { text, lossy: errors }
    }

    fn with(encoding: &'static Encoding, bytes: &'a [u8]) -> Self {
        let (text, errors) = encoding.decode_without_bom_handling(bytes);
        Decoded::new(text, errors)
    }
}

/// Decodes UTF-32 with a byte order mark, and UTF-16 with one or with the zero bytes of mostly Latin text.
pub(super) fn decode_wide(bytes: &[u8]) -> Option<Decoded<'_>> {
    // UTF-32 first: its little-endian mark begins with that of UTF-16.
    if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE\0\0") {
        return Some(decode_utf32(rest, u32::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\0\0\xFE\xFF") {
        return Some(decode_utf32(rest, u32::from_be_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        return Some(Decoded::with(UTF_16LE, rest));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        return Some(Decoded::with(UTF_16BE, rest));
    }
    unmarked_utf16(bytes).map(|encoding| Decoded::with(encoding, bytes))
}

fn decode_utf32(bytes: &[u8], number: fn([u8; 4]) -> u32) -> Decoded<'_> {
    let (units, cut) = bytes.as_chunks::<4>();
    let mut errors = !cut.is_empty();
    let mut text = String::with_capacity(bytes.len() / 4);
    for unit in units {
        text.push(char::from_u32(number(*unit)).unwrap_or_else(|| {
            errors = true;
            char::REPLACEMENT_CHARACTER
        }));
    }
    text.extend((!cut.is_empty()).then_some(char::REPLACEMENT_CHARACTER));
    Decoded::new(text.into(), errors)
}

/// UTF-16 has the zero bytes of Latin letters and markup in one place of each pair; arrays of small numbers have
/// them too, but the other byte of the pair is not printable.
fn unmarked_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = bytes[..bytes.len().min(WIDE_SAMPLE_BYTES)].as_chunks::<2>();
    let zeros = |place: usize| pairs.iter().filter(|pair| pair[place] == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let (encoding, zero, letter) = if first > second { (UTF_16BE, 0, 1) } else { (UTF_16LE, 1, 0) };
    let (latin, stray) = (first.max(second), first.min(second));
    let odd = pairs.iter().filter(|pair| pair[zero] == 0 && sniff::is_control(pair[letter])).count();
    (pairs.len() >= 2 && latin * 2 >= pairs.len() && stray * 10 <= latin && odd * 20 <= latin).then_some(encoding)
}

/// Decodes bytes that [`decode_wide`] left: an ASCII-compatible charset, or ISO-2022-JP.
pub(super) fn decode(bytes: &[u8], html: bool) -> Decoded<'_> {
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        return Decoded::with(UTF_8, rest);
    }
    let is_utf8 = Encoding::utf8_valid_up_to(bytes) == bytes.len();
    if html && let Some(decoded) = decode_as_declared(bytes, is_utf8) {
        return decoded;
    }
    if is_utf8 {
        return decode_iso_2022_jp(bytes).unwrap_or_else(|| Decoded::with(UTF_8, bytes));
    }
    // A file of 0xFF only (erased memory) is text in no charset, but the guess would be Arabic.
    let is_blank = bytes.iter().all(|byte| *byte == 0xFF);
    let encoding = if is_blank || mostly_utf8(bytes) { UTF_8 } else { guess(bytes) };
    Decoded::with(encoding, bytes)
}

/// Follows a page's declaration unless the bytes contradict it.
///
/// A declared UTF-8 is left to the rules after this one, which also read pages that are wrong about it. Other charsets decode
/// most UTF-8 without an error, so that valid UTF-8 has to be contradiction enough: one sequence of it where a
/// single-byte charset is declared, eight for East Asian ones (two of whose characters can be UTF-8 by chance).
fn decode_as_declared(bytes: &[u8], is_utf8: bool) -> Option<Decoded<'_>> {
    let encoding = declared(bytes)?;
    let enough = if encoding.is_single_byte() { 1 } else { 8 };
    if encoding == UTF_8 || (is_utf8 && multi_byte_starts(bytes).take(enough).count() == enough) {
        return None;
    }
    let (text, errors) = encoding.decode_without_bom_handling(bytes);
    (!errors || !is_utf8).then(|| Decoded::new(text, errors))
}

/// ISO-2022-JP is ASCII bytes with escapes, so it passes for UTF-8; it is taken only if it decodes without an error.
fn decode_iso_2022_jp(bytes: &[u8]) -> Option<Decoded<'_>> {
    memmem::find(bytes, b"\x1B$").filter(|_| bytes.is_ascii())?;
    let (text, errors) = ISO_2022_JP.decode_without_bom_handling(bytes);
    (!errors).then(|| Decoded::new(text, false))
}

/// Whether bytes are damaged UTF-8: more good sequences than bad bytes. ASCII with a few others is
/// not: in 3,000 real mails such text was nearly always in a legacy charset.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        good += multi_byte_starts(chunk.valid().as_bytes()).count();
        bad += chunk.invalid().len();
    }
    good > bad || bad == 3 * surrogates(bytes)
}

/// Surrogates written as if they were characters: no charset but a careless UTF-8 has these three bytes.
fn surrogates(bytes: &[u8]) -> usize {
    bytes.windows(3).filter(|w| w[0] == 0xED && (0xA0..=0xBF).contains(&w[1]) && (0x80..=0xBF).contains(&w[2])).count()
}

/// The first bytes of the characters in UTF-8 that are not ASCII.
fn multi_byte_starts(utf8: &[u8]) -> impl Iterator<Item = &u8> {
    utf8.iter().filter(|byte| **byte >= 0xC0)
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    // Two bytes before the first that is not ASCII give the detector the context that it wants.
    let start = Encoding::ascii_valid_up_to(bytes).saturating_sub(2);
    let end = bytes.len().min(start + GUESS_BYTES);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[start..end], end == bytes.len());
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, EUC_KR, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    const GERMAN: &str = "Übergrößen für Mädchen gibt es in unserem Geschäft früher als anderswo, schöne Grüße";
    const RUSSIAN: &str = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему";
    const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
    const KOREAN: &str = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.";
    const CHINESE: &str = "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。";
    const CASES: [(&Encoding, &str); 6] = [
        (WINDOWS_1252, GERMAN),
        (WINDOWS_1251, RUSSIAN),
        (SHIFT_JIS, JAPANESE),
        (EUC_JP, JAPANESE),
        (EUC_KR, KOREAN),
        (GBK, CHINESE),
    ];

    fn check(decoded: &Decoded, text: &str, lossy: bool) {
        assert_eq!((&*decoded.text, decoded.lossy), (text, lossy));
    }

    fn wide(text: &str, bytes: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn byte_order_marks() {
        check(&decode(b"\xEF\xBB\xBF\xC3\xA9", false), "é", false);
        let marked = format!("\u{FEFF}{JAPANESE}");
        check(&decode_wide(&wide(&marked, u16::to_le_bytes)).unwrap(), JAPANESE, false);
        check(&decode_wide(&wide(&marked, u16::to_be_bytes)).unwrap(), JAPANESE, false);
        let utf32: Vec<u8> = marked.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        check(&decode_wide(&utf32).unwrap(), JAPANESE, false);
        check(&decode_wide(b"\0\0\xFE\xFF\0\0\0a\0\0\xD8\0\0").unwrap(), "a\u{FFFD}\u{FFFD}", true);
    }

    #[test]
    fn utf16_without_a_mark() {
        check(&decode_wide(&wide(GERMAN, u16::to_le_bytes)).unwrap(), GERMAN, false);
        check(&decode_wide(&wide(GERMAN, u16::to_be_bytes)).unwrap(), GERMAN, false);
        assert!(decode_wide(GERMAN.as_bytes()).is_none());
        assert!(decode_wide(b"a\0").is_none() && decode_wide(b"").is_none() && decode_wide(&[0; 64]).is_none());
        let numbers: Vec<u8> = (0..500_u16).flat_map(|i| (i % 25).to_le_bytes()).collect();
        assert!(decode_wide(&numbers).is_none());
    }

    #[test]
    fn lone_surrogates_are_lossy() {
        check(&decode_wide(b"\xFF\xFEa\0\x00\xD8b\0").unwrap(), "a\u{FFFD}b", true);
        check(&decode("né né né \u{FFFD}".as_bytes(), false), "né né né \u{FFFD}", false);
        let wtf8 = [GERMAN.as_bytes(), b"\xED\xA0\x80"].concat();
        check(&decode(&wtf8, false), &format!("{GERMAN}\u{FFFD}\u{FFFD}\u{FFFD}"), true);
    }

    #[test]
    fn declarations_are_followed() {
        for (encoding, text) in CASES {
            let page = format!("<meta charset={}><p>{text}", encoding.name());
            check(&decode(&encoding.encode(&page).0, true), &page, false);
        }
    }

    #[test]
    fn false_declarations_are_not() {
        for label in ["shift_jis", "windows-1252", "utf-16", "iso-2022-kr", "nonsense"] {
            let page = format!("<meta charset={label}>{GERMAN}");
            check(&decode(page.as_bytes(), true), &page, false);
        }
        let chance = GBK.encode("<meta charset=gbk>联通").0; // valid UTF-8, too
        check(&decode(&chance, true), "<meta charset=gbk>联通", false);
        let page = format!("<meta charset=utf-8>{RUSSIAN}");
        check(&decode(&WINDOWS_1251.encode(&page).0, true), &page, false);
    }

    #[test]
    fn statistics_find_the_charset_of_plain_text() {
        for (encoding, text) in CASES {
            check(&decode(&encoding.encode(text).0, false), text, false);
        }
        check(&decode(&ISO_2022_JP.encode(JAPANESE).0, false), JAPANESE, false);
        check(&decode(b"\x1B[1mbold\x1B[0m", false), "\x1B[1mbold\x1B[0m", false);
    }

    #[test]
    fn damaged_utf8_stays_utf8() {
        let cut = &JAPANESE.as_bytes()[..JAPANESE.len() - 1];
        check(&decode(cut, false), &JAPANESE.replacen('。', "\u{FFFD}", 3).replacen('\u{FFFD}', "。", 2), true);
        check(&decode(b"caf\xE9 au lait", false), "café au lait", false);
    }
}
