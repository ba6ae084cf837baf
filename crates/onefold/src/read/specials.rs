//! Thirty-two bytes at a time: where a string of JSON needs a look.

/// Bytes that are looked at together.
pub(super) const BLOCK: usize = 32;

/// Which bytes of a block are quotes, backslashes or control characters: a bit for each, the first in the lowest.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn specials(block: &[u8; BLOCK]) -> u32 {
    let mut found = 0;
    for (lane, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
        #[expect(unsafe_code, reason = "instructions that every x86-64 has")]
        // SAFETY: SSE2 is part of the x86-64 architecture; nothing else is asked of the caller.
        let mask = unsafe { sse2::specials(bytes) };
        found |= mask << (16 * lane);
    }
    found
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn specials(bytes: &[u8; 16]) -> u32 {
        let all = u128::from_le_bytes(*bytes);
        let bytes = _mm_set_epi64x((all >> 64) as i64, all as i64);
        let equal = |to: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(to as i8));
        let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        let found = _mm_or_si128(_mm_or_si128(equal(b'"'), equal(b'\\')), control);
        u32::from(_mm_movemask_epi8(found) as u16)
    }
}

/// The same, byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) fn specials_plainly(block: &[u8; BLOCK]) -> u32 {
    let is_special = |byte: u8| matches!(byte, b'"' | b'\\' | ..=0x1f);
    block.iter().enumerate().fold(0, |mask, (at, &byte)| mask | u32::from(is_special(byte)) << at)
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use specials_plainly as specials;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_seen_as_the_plain_way_sees_it() {
        for first in 0..=255u8 {
            let block: [u8; BLOCK] = std::array::from_fn(|at| first.wrapping_add((at as u8).wrapping_mul(29)));
            assert_eq!(specials(&block), specials_plainly(&block));
        }
        assert_eq!(specials(&[b'a'; BLOCK]), 0);
        assert_eq!(specials(&[0; BLOCK]), u32::MAX);
    }
}
