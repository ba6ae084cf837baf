//! FROZEN: the hash of tokens and shingles. A change of any test vector below raises [`FINGERPRINT_VERSION`].
//!
//! A token's bytes are folded, 16 at a time and zero-padded, with 64×64→128-bit products (the primitive of wyhash and
//! foldhash; one branch for nearly all words, where xxh3 takes three). A shingle is a polynomial of its words' hashes modulo
//! 2⁶⁴, so that sliding by a word costs two multiplications whatever w is, then mixed so that all bits are good.
//! The multiplier is 3 modulo 8: swapped words at distance k collide with odds 2^(log₂k + 2 − 64) at most.

use super::eight::Eight;

/// Raised when tokens, hashes or their order change: fingerprints of different versions never mix.
pub const FINGERPRINT_VERSION: u32 = 1;

/// Bits of a shingle's hash; the three above hold its frequency class in the join.
pub const SHINGLE_BITS: u32 = 61;

/// Bytes that [`token`] may read past a token's end.
pub const SLACK: usize = 16;

const KEY_A: u64 = 0x243f_6a88_85a3_08d3;
const KEY_B: u64 = 0x1319_8a2e_0370_7344;
const KEY_LENGTH: u64 = 0xa409_3822_299f_31d1;
pub(super) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c13;

const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Masks that keep the first n of eight bytes, for n from 0 to 16 (both halves of a block).
const MASKS: [(u64, u64); 17] = {
    let mut masks = [(0, 0); 17];
    let mut n = 0;
    while n <= 16 {
        masks[n] = (mask(n), mask(n.saturating_sub(8)));
        n += 1;
    }
    masks
};

const fn mask(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// The hash of the token `padded[..len]`; `padded` reaches at least [`SLACK`] bytes further.
pub fn token(padded: &[u8], len: usize) -> u64 {
    let blocks = padded.as_chunks::<16>().0;
    let whole = len.saturating_sub(1) / 16;
    let state = blocks[..whole].iter().fold((len as u64).wrapping_mul(KEY_LENGTH), |state, block| absorb(state, block, 16));
    absorb(state, &blocks[whole], len - 16 * whole)
}

/// The hash of a token of at most sixteen bytes, whatever follows it in its block.
#[inline]
pub fn short_token(block: &[u8; 16], len: usize) -> u64 {
    absorb((len as u64).wrapping_mul(KEY_LENGTH), block, len)
}

/// Takes in the first bytes of a block.
#[inline]
fn absorb(state: u64, block: &[u8; 16], bytes: usize) -> u64 {
    let both = u128::from_le_bytes(*block);
    let (keep_a, keep_b) = MASKS[bytes];
    let (a, b) = (both as u64 & keep_a, (both >> 64) as u64 & keep_b);
    fold(a ^ KEY_A ^ state, b ^ KEY_B ^ state.rotate_left(32))
}

/// Calls `emit` with the hash of each run of `words` consecutive tokens.
#[inline]
pub fn shingles(tokens: &[u64], words: usize, mut emit: impl FnMut(u64)) {
    if tokens.len() < words {
        return;
    }
    let outgoing_weight = (1..words).fold(1u64, |power, _| power.wrapping_mul(MULTIPLIER));
    let roll = |sum: u64, incoming: u64| sum.wrapping_mul(MULTIPLIER).wrapping_add(incoming);
    let mut sum = tokens[..words].iter().fold(0, |sum, &t| roll(sum, t));
    emit(finish(sum));
    for (&outgoing, &incoming) in tokens.iter().zip(&tokens[words..]) {
        sum = roll(sum.wrapping_sub(outgoing.wrapping_mul(outgoing_weight)), incoming);
        emit(finish(sum));
    }
}

/// Writes the hash of each run of `words` consecutive tokens; there is a slot for each, and no other.
pub(super) fn write_shingles(tokens: &[u64], words: usize, slots: &mut [u64]) {
    let written = Eight::default().shingles(tokens, words, slots);
    let mut slots = slots[written..].iter_mut();
    shingles(&tokens[written..], words, |shingle| slots.next().into_iter().for_each(|slot| *slot = shingle));
}

#[inline]
pub(super) fn finish(sum: u64) -> u64 {
    mix(sum) >> (64 - SHINGLE_BITS)
}

pub(super) const MIX_SHIFTS: [u32; 3] = [27, 33, 27];
pub(super) const MIX_FACTORS: [u64; 2] = [0x3c79_ac49_2ba7_b653, 0x1c69_b3f7_4ac4_ae35];

/// A bijection of 64 bits in which every input bit moves every output bit (Moremur's constants).
#[inline]
pub fn mix(mut x: u64) -> u64 {
    x ^= x >> MIX_SHIFTS[0];
    x = x.wrapping_mul(MIX_FACTORS[0]);
    x ^= x >> MIX_SHIFTS[1];
    x = x.wrapping_mul(MIX_FACTORS[1]);
    x ^ (x >> MIX_SHIFTS[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> u64 {
        let mut padded = text.as_bytes().to_vec();
        padded.resize(text.len() + SLACK, 0xaa);
        token(&padded, text.len())
    }

    fn shingle_hashes(text: &str, words: usize) -> Vec<u64> {
        let tokens: Vec<u64> = text.split(' ').map(hash).collect();
        let mut all = Vec::new();
        shingles(&tokens, words, |s| all.push(s));
        all
    }

    #[test]
    fn vectors_are_frozen() {
        assert_eq!(FINGERPRINT_VERSION, 1);
        let expected = include_str!("hash_vectors.txt");
        assert!(expected.lines().count() > 10);
        for line in expected.lines() {
            let (value, text) = line.split_once(' ').unwrap();
            let found = match text.split_once('|') {
                Some((words, text)) => shingle_hashes(text, words.parse().unwrap())[0],
                None => hash(text),
            };
            assert_eq!(format!("{found:016x}"), value, "{text}");
        }
    }

    #[test]
    fn what_follows_a_token_does_not_matter() {
        let text = b"internationalisation and more bytes than needed here";
        for len in 0..text.len() - SLACK {
            let mut other = text[..len].to_vec();
            other.resize(len + SLACK, 0);
            assert_eq!(token(text, len), token(&other, len), "{len}");
        }
    }

    #[test]
    fn rolling_equals_hashing_each_window() {
        let text = "a rose is a rose is a rose and nothing but a rose";
        let words: Vec<&str> = text.split(' ').collect();
        for w in 1..=words.len() {
            let each: Vec<u64> = words.windows(w).map(|window| shingle_hashes(&window.join(" "), w)[0]).collect();
            assert_eq!(shingle_hashes(text, w), each, "{w}");
        }
        assert!(shingle_hashes("too short", 3).is_empty());
    }

    #[test]
    fn order_and_padding_tell_tokens_apart() {
        let all = ["ab cd", "cd ab", "abc d", "a bcd", "aa aa", "a aaa"].map(|t| shingle_hashes(t, 2)[0]);
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
        assert_ne!(hash("a"), hash("a\0"));
        assert_ne!(hash("1234567890123456"), hash("1234567890123456\0"));
    }
}
