//! D12: tokens are those of the definition, whatever Unicode comes up with.

use std::time::{Duration, Instant};

use onefold::{Plan, Relation, Tokenizer, Tokens};
use proptest::prelude::*;

use crate::corpus::{Record, memory, run_on};
use crate::oracle;

fn found(text: &str) -> Vec<String> {
    let mut tokens = Tokens::default();
    Tokenizer::default().tokenize(text, &mut tokens);
    let canonical = std::str::from_utf8(tokens.canonical()).unwrap();
    canonical.split_terminator(' ').map(String::from).collect()
}

#[test]
fn every_character_gives_the_tokens_of_the_definition() {
    // Alone, inside a word, before a mark, beside a letter that stands alone.
    let around = |c: char| format!("{c} a{c}b {c}\u{301} 漢{c}カ 1{c}2");
    // Planes without characters are only sampled.
    let assigned = |n: &u32| *n < 0x3_2400 || (0xe_0000..0xe_0200).contains(n) || n.is_multiple_of(101);
    for block in (0..=0x10_ffffu32).filter(assigned).collect::<Vec<_>>().chunks(64) {
        let text: Vec<String> = block.iter().filter_map(|&n| char::from_u32(n)).map(around).collect();
        let text = text.join("\n");
        if found(&text) != oracle::tokens(&text) {
            let bad = text.lines().find(|line| found(line) != oracle::tokens(line)).unwrap_or(&text);
            assert_eq!(found(bad), oracle::tokens(bad), "{:?} from {:x}", bad, block[0]);
        }
    }
}

proptest! {
    #[test]
    fn any_text_gives_the_tokens_of_the_definition(text in "\\PC{0,80}|[ -~é\u{301}\u{200d}\u{200c}\u{ad}\u{feff}ßΣς\u{345}ﬁ①漢字かがカーｶﾞไทำລາວខ្មែរမြန်မာ한\u{1100}\u{1161}🏳🌈🇩🇪\u{a0}\u{2028}\t\n]{0,60}") {
        prop_assert_eq!(found(&text), oracle::tokens(&text));
    }

    #[test]
    fn normalising_twice_changes_nothing(text in "\\PC{0,80}") {
        let once = found(&text);
        prop_assert_eq!(found(&once.join(" ")), once);
    }
}

fn relation(a: &str, b: &str) -> Option<Relation> {
    let outcome = run_on(
        &Plan { ngram_size: 3, keep: "id".parse().unwrap(), ..Plan::default() },
        memory(&[Record::new("a", a), Record::new("b", b)]),
    );
    (!outcome.verdicts[1].kept).then_some(outcome.verdicts[1].relation).flatten()
}

const TEXT: &str = "Ärger im café: the naïve office coöperates with São Tomé, fifty kilometres far, über 10 km²";

#[test]
fn other_writings_of_one_text_are_exact_duplicates() {
    use unicode_normalization::UnicodeNormalization;
    let full_width = |c: char| if c.is_ascii_alphanumeric() { char::from_u32(c as u32 + 0xfee0).unwrap() } else { c };
    let same = [
        TEXT.nfd().collect::<String>(),
        TEXT.nfkd().collect(),
        TEXT.to_uppercase(),
        TEXT.chars().map(full_width).collect(),
        TEXT.replace("office", "oﬃce").replace("fifty", "ﬁfty"),
        TEXT.replace(' ', "\u{3000}\r\n\u{a0}"),
        TEXT.replace(' ', " \u{200b}\u{feff} "),
    ];
    for other in same {
        assert_eq!(relation(TEXT, &other), Some(Relation::Exact), "{other}");
    }
}

/// Letters that only look alike are other letters: nothing is removed on looks.
#[test]
fn homoglyphs_are_other_words() {
    let cyrillic = TEXT.replace('a', "а").replace('e', "е").replace('o', "о");
    assert_eq!(relation(TEXT, &cyrillic), None);
}

#[test]
fn marks_without_end_take_linear_time() {
    let start = Instant::now();
    let marked = |base: &str, marks: usize| format!("{base}{} end of text", "\u{301}\u{323}".repeat(marks / 2));
    for text in [marked("a", 10_000), marked("", 400_000), marked("ไ", 400_000), "\u{200d}".repeat(400_000), "각".repeat(100_000)]
    {
        assert_eq!(relation(&text, &text.replace("end", "END")).is_none(), found(&text).is_empty());
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
