//! Sixty-four bytes at a time: strings of JSON without their usual escapes, where the machine has instructions for it.

/// Copies strings without their usual escapes, with what this machine has for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unescaper {
    #[cfg(target_arch = "x86_64")]
    avx512: bool,
}

impl Default for Unescaper {
    fn default() -> Self {
        Unescaper {
            #[cfg(target_arch = "x86_64")]
            avx512: is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt"),
        }
    }
}

impl Unescaper {
    /// One that leaves every byte to its caller, as where there are no such instructions.
    #[cfg(test)]
    pub(super) fn idle() -> Self {
        Unescaper {
            #[cfg(target_arch = "x86_64")]
            avx512: false,
        }
    }

    /// Whether it copies anything.
    #[cfg(test)]
    pub(super) fn is_idle(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return !self.avx512;
        #[cfg(not(target_arch = "x86_64"))]
        true
    }

    /// Copies a string up to its end, a control character, an escape with `b`, `f` or `u` or a faulty one, or the last
    /// bytes, which make no block. Says how many bytes it has passed: the rest is the caller's, and never begins inside an escape.
    #[inline]
    pub(super) fn copy(self, string: &[u8], text: &mut Vec<u8>) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.avx512 {
            #[expect(unsafe_code, reason = "instructions that this machine has")]
            // SAFETY: that all of them are there was asked of the machine; nothing else is asked of the caller.
            return unsafe { avx512::copy(string, text) };
        }
        let _ = (string, text);
        0
    }
}

/// Loads and stores are plain copies, so only the call from outside is unsafe.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use crate::wide::{WIDE as BLOCK, load, store, table};

    /// What the letters behind a backslash stand for, by their low halves.
    const WHITE: [u8; 16] = {
        let mut white = [0; 16];
        white[b'n' as usize & 15] = b'\n';
        white[b't' as usize & 15] = b'\t';
        white[b'r' as usize & 15] = b'\r';
        white
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
    pub(super) fn copy(string: &[u8], text: &mut Vec<u8>) -> usize {
        let mut at = 0;
        while let Some(block) = string[at..].first_chunk() {
            let bytes = load(block);
            let equal = |to: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(to as i8));
            let (quotes, backslashes) = (equal(b'"'), equal(b'\\'));
            let white = equal(b'n') | equal(b't') | equal(b'r');
            let controls = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(b' ' as i8));
            let beginnings = beginnings(backslashes);
            let escaped = beginnings << 1;
            let unusual = escaped & !(quotes | backslashes | white | equal(b'/'));
            // An escape that the block cuts in two begins the next block.
            let cut = beginnings & 1 << (BLOCK - 1);
            let stops = quotes & !escaped | controls | unusual >> 1 | cut;
            let passed = stops.trailing_zeros();
            let kept = _bzhi_u64(!beginnings, passed);
            let undone = _mm512_mask_shuffle_epi8(bytes, white & escaped, table(WHITE), bytes);
            // A whole block at a time: what is too much is taken back.
            text.extend_from_slice(&store(_mm512_maskz_compress_epi8(kept, undone)));
            text.truncate(text.len() - BLOCK + kept.count_ones() as usize);
            // A branch, so that the next load need not wait for the count: 10 GB/s instead of 6.
            at += BLOCK;
            if stops != 0 {
                at -= BLOCK - passed as usize;
                // At the last byte it may be a cut; whatever else it is, the next block begins with it.
                if (passed as usize) < BLOCK - 1 {
                    break;
                }
            }
        }
        at
    }

    /// The backslashes that begin an escape: every second one of a run, by the subtraction of simdjson.
    fn beginnings(backslashes: u64) -> u64 {
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        ((backslashes << 1 | ODD).wrapping_sub(backslashes) ^ ODD) & backslashes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &[&[u8]] = &[b"a", b"n", b"t", b"/", b"\\n", b"\\t", b"\\r", b"\\\"", b"\\\\", b"\\/", b"\xc3\xa9"];
    const UNUSUAL: &[&[u8]] = &[b"\"", b"\\", b"\\b", b"\\f", b"\\u00e9", b"\n", b"\0", b"\x1f", b"\\\x1f"];

    /// The same, byte by byte, and to the end.
    fn copy_plainly(string: &[u8]) -> (usize, Vec<u8>) {
        let (mut at, mut text) = (0, Vec::new());
        loop {
            match string[at..] {
                [b'\\', b'n', ..] => text.push(b'\n'),
                [b'\\', b't', ..] => text.push(b'\t'),
                [b'\\', b'r', ..] => text.push(b'\r'),
                [b'\\', letter @ (b'"' | b'\\' | b'/'), ..] => text.push(letter),
                [] | [b'"' | b'\\' | ..=0x1f, ..] => return (at, text),
                [byte, ..] => {
                    text.push(byte);
                    at += 1;
                    continue;
                }
            }
            at += 2;
        }
    }

    #[test]
    fn blocks_are_copied_as_the_plain_way_copies_them() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let unescaper = Unescaper::default();
        for _ in 0..50_000 {
            // From strings that are long before they stop to strings that stop at once.
            let (rare, length) = (next() % 200, next() % 300);
            let string: Vec<u8> = (0..length)
                .flat_map(|_| match next() % 1_000 {
                    number if number >= rare => USUAL[next() % USUAL.len()],
                    _ => UNUSUAL[next() % UNUSUAL.len()],
                })
                .copied()
                .collect();
            let mut text = b"before".to_vec();
            let passed = unescaper.copy(&string, &mut text);
            assert_eq!(text[6..], copy_plainly(&string[..passed]).1);
            let end = copy_plainly(&string).0;
            assert!(unescaper.is_idle() || passed == end || string.len() - passed < 64, "{passed} of {end}");
            assert_eq!(copy_plainly(&string[passed..]).0, end - passed, "goes on where it stopped");
        }
    }
}
