//! Sixty-four bytes in one register. Loads and stores are plain copies, so only calls from outside are unsafe.

use std::arch::x86_64::*;

/// Bytes of a register.
pub(crate) const WIDE: usize = 64;

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load(bytes: &[u8; WIDE]) -> __m512i {
    let [a, b, c, d, e, f, g, h] = bytemuck::cast::<[u8; WIDE], [i64; 8]>(*bytes);
    _mm512_set_epi64(h, g, f, e, d, c, b, a)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store(value: __m512i) -> [u8; WIDE] {
    let part = |quarter: __m128i| [_mm_cvtsi128_si64(quarter), _mm_extract_epi64::<1>(quarter)];
    bytemuck::cast([
        part(_mm512_extracti32x4_epi32::<0>(value)),
        part(_mm512_extracti32x4_epi32::<1>(value)),
        part(_mm512_extracti32x4_epi32::<2>(value)),
        part(_mm512_extracti32x4_epi32::<3>(value)),
    ])
}

/// Numbers of 64 bits in a register.
pub(crate) const LANES: usize = WIDE / size_of::<u64>();

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_numbers(numbers: &[u64; LANES]) -> __m512i {
    load(bytemuck::cast_ref(numbers))
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_numbers(value: __m512i) -> [u64; LANES] {
    bytemuck::cast(store(value))
}

/// Sixteen bytes, to be looked up in every part of a register.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn table(bytes: [u8; 16]) -> __m512i {
    let [low, high] = bytemuck::cast::<[u8; 16], [i64; 2]>(bytes);
    _mm512_set_epi64(high, low, high, low, high, low, high, low)
}
