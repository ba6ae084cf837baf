//! What memory it takes to work on a document, told by its bytes and its tokens.

use crate::shingle::{Hash, Recipe, Unit};

/// What it takes for each byte and each token, by how chunks are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    per_byte: u64,
    per_token: u64,
}

/// For each token: its hash.
const HASH: u64 = 8;
/// For each chunk: as it comes, by leading bits, in order; how many have these bits, and which it is of them.
const CHUNK: u64 = 36;
/// The same where chunks are not rolling words: once more as it comes.
const OTHER_CHUNK: u64 = 8;
/// Where tokens stand in the text.
const BOUNDS: u64 = 16;
/// A second hash of a chunk, where the first has few bits.
const WITNESS: u64 = 8;

/// Bytes that a token has in most texts, in some, and at least.
const USUAL: u64 = 6;
const FEW: u64 = 4;
const LEAST: u64 = 2;

impl Effort {
    /// For each byte of a text: as it was read, as text, in small letters, as tokens.
    pub(super) const PER_BYTE: u64 = 5;

    /// The effort of a recipe.
    pub(super) fn of(recipe: Recipe) -> Effort {
        let (bytes, tokens) = (Effort::PER_BYTE, HASH);
        if recipe.unit == Unit::Words && recipe.hash == Hash::Fast {
            return Effort { per_byte: bytes, per_token: tokens + CHUNK };
        }
        let witness = if recipe.hash.bits() < Hash::Fast.bits() { WITNESS } else { 0 };
        let chunk = CHUNK + OTHER_CHUNK + witness;
        match recipe.unit {
            Unit::Bytes => Effort { per_byte: bytes + chunk, per_token: tokens },
            _ => Effort { per_byte: bytes, per_token: tokens + chunk + BOUNDS },
        }
    }

    /// For so many bytes with so many tokens.
    pub(super) fn with_tokens(self, bytes: u64, tokens: u64) -> u64 {
        bytes * self.per_byte + tokens * self.per_token
    }

    /// For so many bytes of most texts.
    pub(super) fn usual(self, bytes: u64) -> u64 {
        self.with_tokens(bytes, bytes / USUAL)
    }

    /// For so many bytes of short words.
    pub(super) fn many(self, bytes: u64) -> u64 {
        self.with_tokens(bytes, bytes / FEW)
    }

    /// For so many bytes of any text.
    pub(super) fn most(self, bytes: u64) -> u64 {
        self.with_tokens(bytes, bytes / LEAST)
    }
}

/// Tokens that a text can have at most: one for each word of ASCII and for each other character, which may be a word by itself.
pub(super) fn most_tokens(text: &[u8]) -> u64 {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() | (byte == b'_');
    let begins = |(&before, &byte): (&u8, &u8)| u8::from((byte >= 0xc0) | (is_word(byte) & !is_word(before)));
    let Some(&first) = text.first() else { return 0 };
    // Without a way out of the loop, and in sums of a byte, the compiler looks at many at once.
    let sums = text.chunks(u8::MAX.into()).zip(text[1..].chunks(u8::MAX.into()));
    let rest = sums.map(|(before, bytes)| u64::from(before.iter().zip(bytes).map(begins).sum::<u8>())).sum::<u64>();
    rest + u64::from(begins((&b' ', &first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::{Tokenizer, Tokens};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_has_more_tokens_than_can_be(text in "[a-c1 ._'-]{0,600}|[aé漢かไ1 \u{301}]{0,200}") {
            let mut tokens = Tokens::default();
            Tokenizer::default().tokenize(&text, &mut tokens);
            prop_assert!(tokens.hashes().len() as u64 <= most_tokens(text.as_bytes()));
        }
    }

    #[test]
    fn words_are_counted_across_the_pieces_in_which_they_are_looked_at() {
        assert_eq!(most_tokens(b""), 0);
        assert_eq!(most_tokens("漢字 a_b c".as_bytes()), 4);
        assert_eq!(most_tokens(&b"a".repeat(1000)), 1);
        assert_eq!(most_tokens(&b"a ".repeat(1000)), 1000);
        assert_eq!(most_tokens(&b" a".repeat(1000)), 1000);
    }

    #[test]
    fn where_each_byte_begins_a_chunk_it_takes_more() {
        let of = |unit, hash| Effort::of(Recipe { unit, hash, ..Recipe::of_words(5) }).with_tokens(600, 100);
        assert_eq!(of(Unit::Words, Hash::Fast), 600 * 5 + 100 * 44);
        assert_eq!(of(Unit::Bytes, Hash::Fast), 600 * 49 + 100 * 8);
        assert_eq!(of(Unit::Bytes, Hash::Rabin32), 600 * 57 + 100 * 8);
        assert_eq!(of(Unit::Chars, Hash::Rabin64), 600 * 5 + 100 * 68);
    }
}
