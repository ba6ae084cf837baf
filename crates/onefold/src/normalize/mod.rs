//! Stage 3: text → tokens.
//!
//! In: text. Out: tokens (NFKC, case-folded, words by UAX #29 with inner apostrophes kept, punctuation dropped; in scripts
//! without spaces each grapheme cluster) with their hashes, and the canonical text (tokens joined by single spaces) with its
//! digest. Invariant: the tokens of the canonical text are the same tokens. Cost: linear; ASCII goes by
//! bit masks (`ascii`) and pieces of simple characters by a table (`simple`), with the same tokens. Drops: segments
//! without a letter or digit. Frozen with the hash under `FINGERPRINT_VERSION`.

mod ascii;
mod classify;
mod filters;
mod simple;
mod spaced;
mod unicode;

use std::ops::Range;
use std::sync::Arc;

pub use filters::{CommonWords, Filtering, Language, Numbers};
use serde::{Deserialize, Serialize};

use crate::document::Digest;
use crate::shingle::hash;
use filters::Filters;

/// How text is cut into words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextRules {
    /// Words of any script, folded, without punctuation.
    #[default]
    Words,
    /// What stands between white space, in small letters, with its punctuation (Y1, Y2).
    Plain,
    /// What stands between white space, in small letters, without punctuation of ASCII (N3).
    Letters,
}

/// The tokens of one document. Buffers are longer than what they hold, so that nothing is asked of them token by token.
#[derive(Debug, Default)]
pub struct Tokens {
    /// Tokens, each followed by a space, then [`hash::SLACK`] bytes of room.
    canonical: Vec<u8>,
    hashes: Vec<u64>,
    end: End,
}

/// Where the next token will stand: bytes and tokens before it.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    bytes: usize,
    tokens: usize,
}

impl Tokens {
    /// A hash for each token, in order.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes[..self.end.tokens]
    }

    /// The tokens themselves, each followed by a space.
    pub fn canonical(&self) -> &[u8] {
        &self.canonical[..self.end.bytes]
    }

    /// The same as text, without the last space.
    pub(crate) fn text(&self) -> &str {
        let bytes = &self.canonical[..self.end.bytes.saturating_sub(1)];
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// The same with at least [`hash::SLACK`] bytes behind it.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.canonical
    }

    /// Where each token stands in the text.
    pub fn bounds(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let ends = memchr::memchr_iter(b' ', self.canonical());
        ends.map(|end| std::mem::replace(&mut start, end + 1)..end).collect()
    }

    /// The identity of the token sequence.
    pub fn digest(&self) -> Digest {
        Digest(*blake3::hash(self.canonical()).as_bytes())
    }

    /// Bytes of its buffers.
    pub(crate) fn memory(&self) -> usize {
        self.canonical.capacity() + self.hashes.capacity() * size_of::<u64>()
    }

    fn clear(&mut self) {
        self.end = End::default();
    }

    /// Where the next token will stand.
    fn mark(&self) -> End {
        self.end
    }

    /// Takes back the tokens since a mark.
    fn back_to(&mut self, mark: End) {
        self.end = mark;
    }

    /// Room for the tokens of so many bytes of text that has a byte between any two of them.
    #[inline(always)]
    fn writer(&mut self, text_bytes: usize) -> Writer<'_> {
        let (bytes, tokens) = (self.end.bytes + text_bytes + 1 + hash::SLACK, self.end.tokens + text_bytes / 2 + 1);
        if self.canonical.len() < bytes || self.hashes.len() < tokens {
            self.grow(bytes, tokens);
        }
        Writer { canonical: &mut self.canonical, hashes: &mut self.hashes, end: self.end }
    }

    #[cold]
    fn grow(&mut self, bytes: usize, tokens: usize) {
        grow(&mut self.canonical, bytes);
        grow(&mut self.hashes, tokens);
    }

    /// Adds the token `padded[at..at + len]`; `padded` reaches [`hash::SLACK`] bytes further.
    fn push(&mut self, padded: &[u8], at: usize, len: usize) {
        let mut writer = self.writer(len);
        writer.push(padded, at, len);
        self.end = writer.end;
    }
}

/// Makes a buffer longer: twice as long while it is small, by a quarter when it is not.
fn grow<T: Clone + Default>(buffer: &mut Vec<T>, least: usize) {
    const SMALL: usize = 1 << 18;
    if buffer.len() < least {
        let step = if buffer.len() < SMALL { buffer.len() } else { buffer.len() / 4 };
        let len = least.max(buffer.len() + step);
        buffer.reserve_exact(len - buffer.len());
        buffer.resize(len, T::default());
    }
}

/// Writes tokens where there is room for them. All it has stays in registers from token to token.
struct Writer<'a> {
    canonical: &'a mut [u8],
    hashes: &'a mut [u64],
    end: End,
}

impl Writer<'_> {
    /// As [`Tokens::push`].
    ///
    /// Always in line: it is most of the loop over words, and a call there costs a tenth of it.
    #[inline(always)]
    fn push(&mut self, padded: &[u8], at: usize, len: usize) {
        let token = &padded[at..];
        let room = &mut self.canonical[self.end.bytes..];
        // Whole blocks: what is copied past the token is overwritten by the next.
        let hash = match (token.first_chunk::<16>(), room.first_chunk_mut::<17>()) {
            (Some(block), Some(room)) if len <= 16 => {
                room[..16].copy_from_slice(block);
                room[len] = b' ';
                hash::short_token(block, len)
            }
            _ => write_long(token, len, room),
        };
        self.hashes[self.end.tokens] = hash;
        self.end = End { bytes: self.end.bytes + len + 1, tokens: self.end.tokens + 1 };
    }
}

/// Writes a token of more than a block; returns its hash.
#[inline(never)]
fn write_long(token: &[u8], len: usize, room: &mut [u8]) -> u64 {
    room[..len].copy_from_slice(&token[..len]);
    room[len] = b' ';
    hash::token(token, len)
}

/// Cuts text into tokens, with buffers kept from document to document.
#[derive(Debug, Default)]
pub struct Tokenizer {
    scanned: ascii::Scanned,
    simple: simple::Buffers,
    unicode: unicode::Buffers,
}

impl Tokenizer {
    /// Bytes of its largest buffers.
    pub(crate) fn memory(&self) -> usize {
        self.scanned.memory() + self.simple.memory()
    }

    /// Replaces `tokens` by those of `text`.
    pub fn tokenize(&mut self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        self.scanned.scan(text.as_bytes());
        // White space of ASCII ends words, composition and case folding alike, so the pieces between can go separate ways.
        let mut at = 0;
        while let Some(place) = self.scanned.next_non_ascii(at) {
            let piece = piece_around(text.as_bytes(), at, place);
            self.scanned.tokenize(at..piece.start, tokens);
            at = piece.end;
            let piece = &text[piece];
            if !simple::tokenize(piece, &mut self.simple, tokens) {
                unicode::tokenize(piece, &mut self.unicode, tokens);
            }
        }
        self.scanned.tokenize(at..text.len(), tokens);
    }
}

/// Cuts text into words under some rules, and filters them.
#[derive(Default)]
pub(crate) struct Words {
    rules: TextRules,
    tokenizer: Tokenizer,
    filters: Option<Filters>,
    kept: Tokens,
}

impl Words {
    /// Languages that are not known filter nothing: plans are validated before.
    pub(crate) fn new(rules: TextRules, filtering: Filtering) -> Words {
        let filters = if filtering == Filtering::NONE { None } else { Filters::new(filtering).ok() };
        Words { rules, filters, ..Words::default() }
    }

    /// Leaves out, also, what too many documents have.
    pub(crate) fn without(mut self, common: Option<&Arc<CommonWords>>) -> Words {
        if let Some(common) = common {
            self.filters.get_or_insert_default().leave_out(Arc::clone(common));
        }
        self
    }

    /// Bytes of its buffers.
    pub(crate) fn memory(&self) -> usize {
        self.tokenizer.memory() + self.kept.memory()
    }

    /// Replaces `tokens` by those of `text`, unfiltered.
    pub(crate) fn cut(&mut self, text: &str, tokens: &mut Tokens) {
        match self.rules {
            TextRules::Words => self.tokenizer.tokenize(text, tokens),
            TextRules::Plain => spaced::tokenize(text, |_| true, tokens),
            TextRules::Letters => spaced::tokenize(text, |c| !c.is_ascii_punctuation(), tokens),
        }
    }

    /// What filters leave of tokens.
    pub(crate) fn filter<'a>(&'a mut self, tokens: &'a Tokens) -> &'a Tokens {
        let Some(filters) = &self.filters else { return tokens };
        filters.apply(tokens, &mut self.kept);
        &self.kept
    }
}

/// The bytes around `place` up to white space of ASCII, none before `from`.
fn piece_around(bytes: &[u8], from: usize, place: usize) -> Range<usize> {
    let start = bytes[from..place].iter().rposition(u8::is_ascii_whitespace).map_or(from, |space| from + space + 1);
    let end = bytes[place..].iter().position(u8::is_ascii_whitespace).map_or(bytes.len(), |space| place + space);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut found = Tokens::default();
        Tokenizer::default().tokenize(text, &mut found);
        let all: Vec<String> = std::str::from_utf8(found.canonical()).unwrap().split_terminator(' ').map(String::from).collect();
        assert_eq!(all.len(), found.hashes().len());
        all
    }

    /// The definition, without pieces and fast paths.
    fn by_definition(text: &str) -> Vec<String> {
        let mut found = Tokens::default();
        found.clear();
        unicode::tokenize(text, &mut unicode::Buffers::default(), &mut found);
        std::str::from_utf8(found.canonical()).unwrap().split_terminator(' ').map(String::from).collect()
    }

    #[test]
    fn words_are_folded_and_punctuation_is_dropped() {
        assert_eq!(
            tokens("The ones WE don't know — we don't know!"),
            ["the", "ones", "we", "don't", "know", "we", "don't", "know"]
        );
        assert_eq!(tokens("pi=3.14, 1,000 e.g. a_b __ x:y"), ["pi", "3.14", "1,000", "e.g", "a_b", "x:y"]);
        assert_eq!(tokens("Straße ﬁne Ⅷ ΣΊΣΥΦΟΣ"), ["strasse", "fine", "viii", "σίσυφοσ"]);
        assert_eq!(tokens("e\u{301}a"), tokens("\u{e9}a"));
        assert_eq!(tokens("ｆｕｌｌ　ｗｉｄｔｈ"), ["full", "width"]);
        assert!(tokens(" \t\n—…!?").is_empty());
    }

    #[test]
    fn scripts_without_spaces_give_a_token_a_grapheme() {
        assert_eq!(tokens("重复文档detection检测"), ["重", "复", "文", "档", "detection", "检", "测"]);
        assert_eq!(
            tokens("カタカナ、ひらがな。"),
            ["カ", "タ", "カ", "ナ", "ひ", "ら", "か\u{3099}", "な"].map(|t| t.replace("か\u{3099}", "が"))
        );
        assert_eq!(tokens("コーヒー"), ["コ", "ー", "ヒ", "ー"]);
        assert_eq!(tokens("ภาษาไทย"), ["ภ", "า", "ษ", "า", "ไ", "ท", "ย"]);
        assert_eq!(tokens("한국어 문서"), ["한국어", "문서"]);
        assert_eq!(tokens("2024年3月"), ["2024", "年", "3", "月"]);
    }

    #[test]
    fn ten_thousand_marks_on_one_base_are_one_token() {
        let text = format!("a{} b", "\u{301}".repeat(10_000));
        assert_eq!(tokens(&text).len(), 2);
    }

    proptest! {
        #[test]
        fn the_ascii_path_gives_the_tokens_of_the_definition(text in "[ -~\t\n]{0,80}|[a-c1-2:.,;'_ \\-]{0,60}") {
            prop_assert_eq!(tokens(&text), by_definition(&text));
        }

        #[test]
        fn pieces_give_the_tokens_of_the_definition(text in "[a1 .'_\tÀé\u{301}\u{200d}\u{ad}ßαΣ漢字かカーไท한\u{1F600}\u{a0}\u{b4}\n]{0,40}") {
            prop_assert_eq!(tokens(&text), by_definition(&text));
        }

        #[test]
        fn any_mixture_gives_the_tokens_of_the_definition(
            text in "\\PC{0,60}|[aZ1_ .,:;'\u{2019}\u{b7}\u{2024}\u{fe13}…½²™№ﬁßẞİıǰŉΐΣςἀᾳ\u{345}жЙй\u{306}אב״׳عربی\u{200c}\u{200d}\u{200e}\u{202e}\u{2066}\u{ad}\u{feff}\u{200b}\u{a0}\u{3000}ーｶﾞカヶ々〇漢字がか\u{3099}①㎏ａＡ＿’가각\u{1100}\u{1161}\u{11a8}ไทำ१क\u{94d}\u{301}\u{b4}🏳😀\n\t]{0,30}"
        ) {
            prop_assert_eq!(tokens(&text), by_definition(&text));
        }

        #[test]
        fn normalising_twice_changes_nothing(text in "\\PC{0,60}|[a1 .'À\u{345}\u{390}\u{1fb3}ßŉǰΐﬃ漢カไำ한\u{301}\u{308}]{0,30}") {
            let once = tokens(&text);
            prop_assert_eq!(&tokens(&once.join(" ")), &once);
        }
    }

    /// Characters of every kind that the fast paths tell apart, and some that they leave to the definition.
    const KINDS: [&str; 40] = [
        "a", "Z", "1", "_", ".", ",", ":", "'", "-", "é", "ß", "Σ", "ж", "İ", "’", "·", "…", "½", "²", "™", "—", "\u{a0}", "漢",
        "か", "ー", "カ", "。", "가", "ไ", "ع", "٣", "א", "१", "\u{301}", "\u{200d}", "\u{200c}", "\u{ad}", "\u{1100}",
        "\u{11a8}", "ﬁ",
    ];

    #[test]
    fn triples_of_every_kind_give_the_tokens_of_the_definition() {
        for (first, second, third) in triples(&KINDS) {
            let text = format!("{first}{second}{third}");
            assert_eq!(tokens(&text), by_definition(&text), "{text:?}");
            let text = format!("б{first}{second}{third}б");
            assert_eq!(tokens(&text), by_definition(&text), "{text:?}");
        }
    }

    fn triples<'a>(kinds: &'a [&'a str]) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        let pairs = kinds.iter().flat_map(move |a| kinds.iter().map(move |b| (*a, *b)));
        pairs.flat_map(move |(a, b)| kinds.iter().map(move |c| (a, b, *c)))
    }

    /// Each character beside others, all in one text: one by one the definition would take minutes.
    #[test]
    fn every_character_beside_every_kind_gives_the_tokens_of_the_definition() {
        let beside = ["a", "1", "é", "’", "漢", "カ", "가", "\u{301}"];
        for c in (0..=0xffff).filter_map(char::from_u32) {
            let text: Vec<String> = beside.iter().map(|other| format!("{other}{c}{other}{c}")).collect();
            let text = text.join(" ");
            assert_eq!(tokens(&text), by_definition(&text), "{:x}", c as u32);
        }
    }

    #[test]
    fn every_character_normalises_once_and_for_all() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            let once = tokens(&format!("a{c} {c}\u{301} {c}"));
            assert_eq!(tokens(&once.join(" ")), once, "{:x}", c as u32);
        }
    }
}
