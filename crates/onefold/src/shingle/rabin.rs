//! Rabin fingerprints: bytes → the remainder of the polynomial that they spell over GF(2), modulo an irreducible one (§7.1).
//!
//! In: bytes, the first one on top, each with its highest bit first. Out: f(A) = A(t) mod P(t), in as many bits as P has degrees.
//! Invariant: a 1 is put before the bytes, so that leading zero bytes count, and f(ab) is f(a) with b pushed onto it: states
//! are fingerprints. Cost: a look-up for one byte, eight independent ones for eight bytes; sliding by a byte takes two.
//! 16 KiB of tables for a polynomial, 2 KiB for a window's length.
//!
//! Values are linear in the bits of the input: mix them before a minimum or a remainder is taken.
//! FROZEN: the polynomials and the fingerprints in the tests below.

use std::fmt;

/// Irreducible polynomials of degree 64 without their leading term: "different parameters" (W5) are different polynomials.
pub const POLYNOMIALS: [u64; 6] = [
    0xe255_b237_b8bb_18fb,
    0xfd84_5ef3_00ce_2d0b,
    0x02fc_1efe_0fcc_d72d,
    0x5f99_68bb_90fd_8193,
    0xdbef_19fc_8e7b_845f,
    0x459d_9c43_c66c_cf97,
];

/// An irreducible polynomial of degree 32 without its leading term.
pub const POLYNOMIAL_32: u64 = 0x2c82_9abf;

/// An irreducible polynomial of degree 40 without its leading term.
pub const POLYNOMIAL_40: u64 = 0xe2_20a8_397b;

/// The polynomial t, of which all others are sums of powers.
const T: u64 = 2;

/// A polynomial of degree 8 to 64 as a modulus: its leading term is implied by the degree.
#[derive(Clone, Copy)]
struct Modulus {
    degree: u32,
    low: u64,
}

impl Modulus {
    /// None where the degree is out of range or a coefficient is not below it.
    fn new(degree: u32, low: u64) -> Option<Modulus> {
        let modulus = Modulus { degree, low };
        ((8..=64).contains(&degree) && low & !modulus.mask() == 0).then_some(modulus)
    }

    /// The bits of a remainder.
    #[inline]
    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.degree)
    }

    /// a · t
    fn double(self, a: u64) -> u64 {
        let carry = a >> (self.degree - 1) & 1;
        (a << 1 & self.mask()) ^ (carry * self.low)
    }

    /// a · t⁸
    fn shift_byte(self, a: u64) -> u64 {
        (0..8).fold(a, |a, _| self.double(a))
    }

    fn multiply(self, a: u64, b: u64) -> u64 {
        (0..self.degree).rev().fold(0, |product, bit| self.double(product) ^ ((b >> bit & 1) * a))
    }

    fn power(self, mut base: u64, mut exponent: usize) -> u64 {
        let mut power = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = self.multiply(power, base);
            }
            base = self.multiply(base, base);
            exponent >>= 1;
        }
        power
    }

    /// The products of all bytes with `unit`.
    fn multiples(self, unit: u64) -> [u64; 256] {
        let mut products = [0; 256];
        for byte in 1..256 {
            products[byte] = self.double(products[byte / 2]) ^ ((byte as u64 & 1) * unit);
        }
        products
    }

    /// Rabin's test: for degree n, P divides t^(2ⁿ) − t and has no factor in common with t^(2^(n/q)) − t for any prime q of n.
    fn is_irreducible(self) -> bool {
        let Modulus { degree, low } = self;
        let frobenius = |times: u32| (0..times).fold(T, |a, _| self.multiply(a, a)) ^ T;
        let whole = 1 << degree | u128::from(low);
        frobenius(degree) == 0 && primes_of(degree).all(|prime| gcd(whole, frobenius(degree / prime).into()) == 1)
    }
}

fn primes_of(n: u32) -> impl Iterator<Item = u32> {
    (2..=n).filter(move |q| n.is_multiple_of(*q) && (2..*q).all(|d| !q.is_multiple_of(d)))
}

/// The greatest common divisor of two polynomials, of which one is not 0.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, remainder(a, b));
    }
    a
}

/// The remainder of a division by a polynomial other than 0.
fn remainder(mut a: u128, b: u128) -> u128 {
    while a.leading_zeros() <= b.leading_zeros() {
        a ^= b << (b.leading_zeros() - a.leading_zeros());
    }
    a
}

/// Fingerprints modulo one irreducible polynomial.
#[derive(Clone)]
pub struct Rabin {
    modulus: Modulus,
    /// `tables[i][byte]` is byte · t^(8i + degree): the first one pushes a byte, all together eight.
    tables: Box<[[u64; 256]; 8]>,
}

impl Rabin {
    /// For the polynomial with this degree and the coefficients below it (bit i is that of tⁱ); none where the degree is not
    /// from 8 to 64, a coefficient is not below it, or the polynomial is not irreducible.
    pub fn new(degree: u32, low: u64) -> Option<Rabin> {
        let modulus = Modulus::new(degree, low).filter(|modulus| modulus.is_irreducible())?;
        let mut tables = Box::new([[0; 256]; 8]);
        let mut unit = low;
        for table in tables.iter_mut() {
            *table = modulus.multiples(unit);
            unit = modulus.shift_byte(unit);
        }
        Some(Rabin { modulus, tables })
    }

    /// The fingerprint of some bytes; that of none is 1.
    pub fn fingerprint(&self, bytes: &[u8]) -> u64 {
        self.extend(1, bytes)
    }

    /// The fingerprint of what `state` is the fingerprint of, followed by these bytes.
    pub fn extend(&self, state: u64, bytes: &[u8]) -> u64 {
        let (words, rest) = bytes.as_chunks::<8>();
        let state = words.iter().fold(state, |state, word| self.push_word(state, u64::from_be_bytes(*word)));
        rest.iter().fold(state, |state, &byte| self.push(state, byte))
    }

    /// The same for one byte.
    #[inline]
    pub fn push(&self, state: u64, byte: u8) -> u64 {
        let top = (state >> (self.modulus.degree - 8)) as u8;
        (state << 8 | u64::from(byte)) & self.modulus.mask() ^ self.tables[0][usize::from(top)]
    }

    /// The same for the eight bytes of a word, the highest one first.
    #[inline]
    pub fn push_word(&self, state: u64, word: u64) -> u64 {
        let joined = u128::from(state) << 64 | u128::from(word);
        let top = (joined >> self.modulus.degree) as u64;
        let kept = word & self.modulus.mask();
        self.tables.iter().zip(top.to_le_bytes()).fold(kept, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }

    /// Slides over windows of so many bytes; none for windows of none.
    pub fn window(&self, bytes: usize) -> Option<Window<'_>> {
        let t_8 = self.modulus.shift_byte(1);
        let first = self.modulus.power(t_8, bytes.checked_sub(1)?);
        let before = self.modulus.shift_byte(first);
        let products = self.modulus.multiples(first);
        let pop = std::array::from_fn(|byte| before ^ products[byte ^ 1]);
        Some(Window { rabin: self, bytes, pop })
    }
}

impl fmt::Debug for Rabin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rabin(t^{} + {:#x})", self.modulus.degree, self.modulus.low)
    }
}

/// Fingerprints of all windows of one length.
///
/// With m bytes, the 1 before them stands at t^(8m) and the first byte a at t^(8(m − 1)). The table of what leaves holds
/// t^(8m) + (a + 1) · t^(8(m − 1)): it takes both away and puts the 1 where a was, and what remains is the fingerprint of the
/// other m − 1 bytes.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    rabin: &'a Rabin,
    bytes: usize,
    pop: [u64; 256],
}

impl Window<'_> {
    /// The fingerprint of the next window from that of one, its first byte and the byte behind it.
    #[inline]
    pub fn slide(&self, state: u64, outgoing: u8, incoming: u8) -> u64 {
        self.rabin.push(state ^ self.pop[usize::from(outgoing)], incoming)
    }

    /// Calls `emit` with the fingerprint of each window.
    #[inline]
    pub fn fingerprints(&self, bytes: &[u8], mut emit: impl FnMut(u64)) {
        let Some((first, behind)) = bytes.split_at_checked(self.bytes) else { return };
        let mut state = self.rabin.fingerprint(first);
        emit(state);
        for (&outgoing, &incoming) in bytes.iter().zip(behind) {
            state = self.slide(state, outgoing, incoming);
            emit(state);
        }
    }
}

/// The first irreducible polynomial, with a constant term, in the sequence of a seed; the degree is brought to 8 to 64.
///
/// To store its fingerprints, store its [`Rabin::polynomial`] with them.
pub fn random_irreducible(degree: u32, seed: u64) -> Rabin {
    let degree = degree.clamp(8, 64);
    let mut state = seed;
    loop {
        let low = splitmix(&mut state) >> (64 - degree) | 1;
        if let Some(rabin) = Rabin::new(degree, low) {
            return rabin;
        }
    }
}

/// The next number of the SplitMix64 sequence.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Rabin {
        /// The degree and the coefficients below it, as [`Rabin::new`] takes them.
        fn polynomial(&self) -> (u32, u64) {
            (self.modulus.degree, self.modulus.low)
        }
    }

    const CRC_64_ECMA: u64 = 0x42f0_e1eb_a9ea_3693;

    fn random_bytes(len: usize, seed: u64) -> Vec<u8> {
        let mut state = seed;
        (0..len).map(|_| splitmix(&mut state) as u8).collect()
    }

    fn of_each_degree() -> Vec<Rabin> {
        [8, 9, 13, 32, 40, 63, 64].map(|degree| random_irreducible(degree, 7)).to_vec()
    }

    /// The definition, bit by bit.
    fn slow(rabin: &Rabin, bytes: &[u8]) -> u64 {
        let (degree, low) = rabin.polynomial();
        let whole = 1u128 << degree | u128::from(low);
        let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
        bits.fold(1u128, |state, bit| {
            let state = state << 1 | u128::from(bit);
            if state >> degree == 1 { state ^ whole } else { state }
        }) as u64
    }

    fn is_irreducible(degree: u32, low: u64) -> bool {
        Rabin::new(degree, low).is_some()
    }

    #[test]
    fn irreducible_equals_trial_division() {
        for degree in 8..=12 {
            for low in 0..1 << degree {
                let whole = 1 << degree | u128::from(low);
                let divides = (2..1 << (degree / 2 + 1)).any(|divisor| remainder(whole, divisor) == 0);
                assert_eq!(is_irreducible(degree, low), !divides, "t^{degree} + {low:#x}");
            }
        }
    }

    /// The number of necklaces: 1/n · Σ μ(d) · 2^(n/d) over the divisors d of n.
    #[test]
    fn irreducible_ones_are_as_many_as_counted() {
        for (degree, count) in [(8, 30), (9, 56), (10, 99)] {
            assert_eq!((0..1 << degree).filter(|&low| is_irreducible(degree, low)).count(), count);
        }
    }

    #[test]
    fn known_polynomials() {
        assert!(is_irreducible(8, 0x1b), "AES");
        assert!(!is_irreducible(8, 0x01));
        assert!(is_irreducible(64, 0x1b), "CRC-64-ISO");
        assert!(!is_irreducible(64, 0x01), "(t + 1)^64");
        assert!(!is_irreducible(64, 0x1a), "t divides it");
        let ecma = 1 << 64 | u128::from(CRC_64_ECMA);
        assert_eq!((remainder(ecma, 0b11), remainder(ecma, 0x8003)), (0, 0), "t + 1 and t^15 + t + 1 divide it");
        assert!(!is_irreducible(64, CRC_64_ECMA));
    }

    /// t^(2^64) − t is 0 modulo a product of two irreducible polynomials of degree 32: only the second half of the test tells.
    #[test]
    fn products_of_degree_64_are_not_irreducible() {
        let (a, b) = (random_irreducible(32, 1), random_irreducible(32, 2));
        let whole = |rabin: &Rabin| 1u128 << 32 | u128::from(rabin.modulus.low);
        let product = (0..=32).filter(|bit| whole(&b) >> bit & 1 == 1).fold(0, |sum, bit| sum ^ whole(&a) << bit);
        assert_eq!((product >> 64, remainder(product, whole(&a)), remainder(product, whole(&b))), (1, 0, 0));
        let modulus = Modulus::new(64, product as u64).unwrap();
        assert_eq!((0..64).fold(T, |a, _| modulus.multiply(a, a)), T);
        assert!(!modulus.is_irreducible());
    }

    #[test]
    fn what_cannot_be_a_polynomial_is_refused() {
        for (degree, low) in [(0, 1), (7, 0x03), (65, 0x1b), (u32::MAX, 0x1b), (8, 0x11b), (8, 0x8000_0000_0000_001b)] {
            assert!(!is_irreducible(degree, low), "{degree} {low:#x}");
        }
        assert_eq!(random_irreducible(0, 1).polynomial().0, 8);
        assert_eq!(random_irreducible(65, 1).polynomial().0, 64);
    }

    #[test]
    fn polynomials_are_frozen() {
        for (seed, low) in (0..).zip(POLYNOMIALS) {
            assert!(is_irreducible(64, low));
            assert_eq!(random_irreducible(64, seed).polynomial(), (64, low));
        }
        assert!(is_irreducible(32, POLYNOMIAL_32) && is_irreducible(40, POLYNOMIAL_40));
        assert_eq!(random_irreducible(32, 0).polynomial(), (32, POLYNOMIAL_32));
        assert_eq!(random_irreducible(40, 0).polynomial(), (40, POLYNOMIAL_40));
        assert_eq!(format!("{:?}", random_irreducible(32, 0)), "Rabin(t^32 + 0x2c829abf)");
    }

    #[test]
    fn vectors_are_frozen() {
        let texts = ["", "a", "abc", "a rose is a rose is a rose"];
        let frozen = [
            (64, POLYNOMIALS[0], [0x1, 0x161, 0x161_6263, 0xcb49_9773_f9bf_adbd]),
            (32, POLYNOMIAL_32, [0x1, 0x161, 0x161_6263, 0x4f07_d40b]),
            (40, POLYNOMIAL_40, [0x1, 0x161, 0x161_6263, 0xc6_5884_8064]),
        ];
        for (degree, low, expected) in frozen {
            let rabin = Rabin::new(degree, low).unwrap();
            assert_eq!(texts.map(|text| rabin.fingerprint(text.as_bytes())), expected, "{rabin:?}");
            assert_eq!(texts.map(|text| slow(&rabin, text.as_bytes())), expected, "{rabin:?}");
        }
    }

    #[test]
    fn fingerprint_is_the_definition() {
        for rabin in of_each_degree() {
            for len in 0..70 {
                let bytes = random_bytes(len, len as u64);
                let by_byte = bytes.iter().fold(1, |state, &byte| rabin.push(state, byte));
                assert_eq!(rabin.fingerprint(&bytes), slow(&rabin, &bytes), "{rabin:?} {len}");
                assert_eq!(by_byte, slow(&rabin, &bytes), "{rabin:?} {len}");
            }
        }
    }

    #[test]
    fn a_word_is_eight_bytes() {
        for rabin in of_each_degree() {
            let mut random = 3;
            for _ in 0..1000 {
                let (state, word) = (splitmix(&mut random) & rabin.modulus.mask(), splitmix(&mut random));
                let by_byte = word.to_be_bytes().iter().fold(state, |state, &byte| rabin.push(state, byte));
                assert_eq!(rabin.push_word(state, word), by_byte, "{rabin:?}");
            }
        }
    }

    #[test]
    fn extending_is_joining() {
        let bytes = random_bytes(40, 5);
        for rabin in of_each_degree() {
            for at in 0..=bytes.len() {
                let (a, b) = bytes.split_at(at);
                assert_eq!(rabin.extend(rabin.fingerprint(a), b), rabin.fingerprint(&bytes), "{rabin:?} {at}");
            }
        }
    }

    #[test]
    fn leading_zeros_count() {
        for rabin in of_each_degree() {
            let all = [&b""[..], b"\0", b"\0\0", b"a", b"\0a", b"\0\0a", b"a\0"].map(|bytes| rabin.fingerprint(bytes));
            for (i, a) in all.iter().enumerate() {
                assert!(all[i + 1..].iter().all(|b| a != b), "{rabin:?}");
            }
        }
    }

    #[test]
    fn fingerprints_of_equal_length_are_linear() {
        for rabin in of_each_degree() {
            for len in [1, 7, 8, 30] {
                let [a, b, c] = [1, 2, 3].map(|seed| random_bytes(len, seed));
                let sum: Vec<u8> = (0..len).map(|i| a[i] ^ b[i] ^ c[i]).collect();
                let sum_of_each = rabin.fingerprint(&a) ^ rabin.fingerprint(&b) ^ rabin.fingerprint(&c);
                assert_eq!(rabin.fingerprint(&sum), sum_of_each, "{rabin:?} {len}");
            }
        }
    }

    #[test]
    fn sliding_equals_each_window() {
        let mut bytes = random_bytes(90, 9);
        bytes[20..40].fill(0);
        for rabin in of_each_degree() {
            for len in (1..=20).chain([50, 64, 89, 90, 91]) {
                let mut found = Vec::new();
                rabin.window(len).unwrap().fingerprints(&bytes, |fingerprint| found.push(fingerprint));
                let each: Vec<u64> = bytes.windows(len).map(|window| slow(&rabin, window)).collect();
                assert_eq!(found, each, "{rabin:?} {len}");
            }
            assert!(rabin.window(0).is_none());
        }
    }
}
