//! The fast path beyond ASCII: characters that fold and break words in the same way whatever stands beside them.
//!
//! Most letters of most scripts, most punctuation: a character is *simple* if it stands apart from its neighbours in normalisation
//! (it begins with a starter that never composes backwards) and in grapheme clusters, and if the word rules treat it as a
//! plain letter, digit, joiner, ideograph or break. Marks, joiners of zero width, Hebrew (whose quotes are part of words), conjoining
//! jamo and all beyond the BMP are not: a piece with one of them goes by the definition. What a character is, is asked of the
//! very functions that the definition uses, so the two cannot disagree on a character; tests hold them together on texts.

use std::iter::once;
use std::sync::OnceLock;

use caseless::Caseless;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::{Tokens, unicode};
use crate::shingle::hash::SLACK;

/// How a character behaves among others. Classes up to [`UNDERSCORE`] make words, the joiners are bits.
type Class = u8;
const BREAK: Class = 0;
const LETTER: Class = 1;
const DIGIT: Class = 2;
const UNDERSCORE: Class = 4;
/// Inside a word if letters stand on both sides.
const BETWEEN_LETTERS: Class = 8;
/// Inside a word if digits stand on both sides.
const BETWEEN_DIGITS: Class = 16;
/// A token of its own.
const ALONE: Class = 32;
const NOT_SIMPLE: Class = 64;

const WORD: Class = LETTER | DIGIT | UNDERSCORE;
const JOINER: Class = BETWEEN_LETTERS | BETWEEN_DIGITS;

/// The longest folded form that is kept.
const FORM: usize = 6;

/// What a character becomes.
#[derive(Clone, Copy, Debug)]
struct Simple {
    class: Class,
    len: u8,
    folded: [u8; FORM],
}

const PAGE: usize = 64;
type Page = [Simple; PAGE];

/// The characters of the BMP, worked out a page at a time when the first of the page is met.
static PAGES: [OnceLock<Box<Page>>; 0x1_0000 / PAGE] = [const { OnceLock::new() }; 0x1_0000 / PAGE];

#[inline]
fn look_up(c: char) -> Simple {
    let place = c as usize;
    match PAGES.get(place / PAGE) {
        Some(page) => page.get_or_init(|| build_page(place / PAGE))[place % PAGE],
        None => Simple::NOT,
    }
}

fn build_page(page: usize) -> Box<Page> {
    let simple = |place: usize| char::from_u32((page * PAGE + place) as u32).and_then(Simple::of);
    Box::new(std::array::from_fn(|place| simple(place).unwrap_or(Simple::NOT)))
}

impl Simple {
    const NOT: Simple = Simple { class: NOT_SIMPLE, len: 0, folded: [0; FORM] };

    /// `None` if the neighbours of `c` have a say.
    fn of(c: char) -> Option<Simple> {
        if !stands_apart(c) {
            return None;
        }
        let form = unicode::fold(c.encode_utf8(&mut [0; 4]), String::new());
        let mut folded = [0; FORM];
        folded.get_mut(..form.len())?.copy_from_slice(form.as_bytes());
        let mut chars = form.chars();
        let class = class_of(chars.next()?)?;
        let several = form.chars().count() > 1;
        if chars.any(|other| class_of(other) != Some(class)) || (several && class == ALONE) {
            return None;
        }
        // A word ends at two joiners in a row.
        let class = if several && class & JOINER != 0 { BREAK } else { class };
        Some(Simple { class, len: form.len() as u8, folded })
    }
}

/// Whether what stands before and after `c` can be normalised and folded without it.
fn stands_apart(c: char) -> bool {
    let begins_anew = |text: &str| {
        let first = text.nfkd().next();
        first.is_some_and(|c| canonical_combining_class(c) == 0 && is_nfkc_quick(once(c)) == IsNormalized::Yes)
    };
    let normal: String = once(c).nfkc().collect();
    let cased: String = normal.chars().default_case_fold().collect();
    [&normal, &cased, &unicode::fold(&normal, String::new())].into_iter().all(|form| begins_anew(form))
}

/// How the word rules treat a folded character, found by trying; `None` if it is none of the simple ways.
fn class_of(c: char) -> Option<Class> {
    if c == '_' {
        return Some(UNDERSCORE);
    }
    let graphemes = |text: String| text.graphemes(true).count();
    let apart = [format!("a{c}"), format!("{c}a"), format!("{c}가"), format!("漢{c}"), format!("{c}漢")];
    if apart.into_iter().any(|pair| graphemes(pair) != 2) {
        return None;
    }
    if unicode::stands_alone(c) {
        return Some(ALONE);
    }
    let one_word = |text: String| text.split_word_bounds().count() == 1;
    let beside = |other: char| (one_word(format!("{other}{c}")), one_word(format!("{c}{other}")));
    let between = |other: char| one_word(format!("{other}{c}{other}"));
    let across = |other: char, joiner: char| one_word(format!("{other}{joiner}{c}")) && one_word(format!("{c}{joiner}{other}"));
    let sides = ['a', '1', '_'].map(beside);
    let oddly = beside('א').0 != sides[0].0 || beside('ア') != (false, false) || one_word(format!("{c}'"));
    if oddly || !sides.iter().all(|side| *side == sides[0]) || sides[0].0 != sides[0].1 {
        return None;
    }
    let joiner =
        [(BETWEEN_LETTERS, 'a'), (BETWEEN_DIGITS, '1')].iter().filter(|(_, other)| between(*other)).map(|(bit, _)| bit).sum();
    match (sides[0].0, c.is_alphanumeric(), across('a', ':'), across('1', ';')) {
        (true, true, true, false) => Some(LETTER),
        (true, true, false, true) => Some(DIGIT),
        (true, ..) => None,
        (false, true, ..) if joiner == BREAK => Some(ALONE),
        (false, true, ..) => None,
        (false, false, ..) => Some(joiner),
    }
}

/// Buffers kept from document to document.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    folded: Vec<u8>,
}

impl Buffers {
    /// Bytes.
    pub(super) fn memory(&self) -> usize {
        self.folded.capacity()
    }
}

/// Adds the tokens of `text` and says yes, or says no if a character in it is not simple; then nothing is added.
pub(super) fn tokenize(text: &str, buffers: &mut Buffers, tokens: &mut Tokens) -> bool {
    // A character of ASCII folds to one byte, another of at least two bytes to FORM at most.
    let room = text.len() * FORM.div_ceil(2) + FORM + SLACK;
    if buffers.folded.len() < room {
        buffers.folded.resize(room, 0);
    }
    let before = tokens.mark();
    let mut walk = Walk { folded: &mut buffers.folded, end: 0, start: 0, seen: BREAK, last: BREAK, joiner: None, tokens };
    for c in text.chars() {
        let simple = look_up(c);
        if simple.class == NOT_SIMPLE {
            walk.tokens.back_to(before);
            return false;
        }
        walk.step(simple);
    }
    walk.end_word();
    true
}

/// A walk along a text, with the word that is open.
struct Walk<'b, 't> {
    folded: &'b mut [u8],
    end: usize,
    /// Where the open word begins, if `seen` says that there is one.
    start: usize,
    /// Classes in the open word.
    seen: Class,
    /// The class of the last character of the open word.
    last: Class,
    /// A joiner after that, with the place where it begins.
    joiner: Option<(Class, usize)>,
    tokens: &'t mut Tokens,
}

impl Walk<'_, '_> {
    #[inline]
    fn step(&mut self, simple: Simple) {
        let begin = self.end;
        self.folded[begin..begin + FORM].copy_from_slice(&simple.folded);
        self.end += usize::from(simple.len);
        let class = simple.class;
        if class & WORD != 0 {
            if let Some((joiner, _)) = self.joiner
                && !joins(self.last, joiner, class)
            {
                self.end_word();
            }
            self.joiner = None;
            if self.seen == BREAK {
                self.start = begin;
            }
            self.seen |= class;
            self.last = class;
        } else if class & JOINER != 0 && self.seen != BREAK && self.joiner.is_none() {
            self.joiner = Some((class, begin));
        } else {
            self.end_word_at(begin);
            if class == ALONE {
                self.tokens.push(self.folded, begin, self.end - begin);
            }
        }
    }

    fn end_word(&mut self) {
        self.end_word_at(self.end);
    }

    /// Ends the open word, if there is one, before its pending joiner or at `end`.
    #[inline]
    fn end_word_at(&mut self, end: usize) {
        let end = self.joiner.take().map_or(end, |(_, place)| place);
        if self.seen & (LETTER | DIGIT) != 0 {
            self.tokens.push(self.folded, self.start, end - self.start);
        }
        self.seen = BREAK;
    }
}

/// Rules WB6, WB7, WB11 and WB12.
fn joins(before: Class, joiner: Class, after: Class) -> bool {
    let letters = before & after & LETTER != 0 && joiner & BETWEEN_LETTERS != 0;
    let digits = before & after & DIGIT != 0 && joiner & BETWEEN_DIGITS != 0;
    letters || digits
}
