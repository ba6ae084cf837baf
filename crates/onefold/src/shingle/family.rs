//! Hash families of the published works, each on the text of a chunk (Y12, N6, W5). The default is [`super::hash`], on tokens.
//!
//! All give [`SHINGLE_BITS`] bits: of a digest the first ones, of a Rabin fingerprint its own, mixed, so that equal stays equal and
//! nothing else does. A fingerprint of 32 or 40 bits tells so many apart and no more. FROZEN with the test vectors below.

use md5::Md5;
use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

use super::first_bytes;
use super::hash::{SHINGLE_BITS, SLACK, mix, token};
use super::rabin::{POLYNOMIAL_32, POLYNOMIAL_40, POLYNOMIALS, Rabin};

/// How chunks are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hash {
    /// 61 good bits, rolling over words.
    Fast,
    /// A Rabin fingerprint of 32 bits.
    Rabin32,
    /// A Rabin fingerprint of 40 bits.
    Rabin40,
    /// A Rabin fingerprint of 64 bits.
    Rabin64,
    /// The first bits of the MD5 digest, highest byte first.
    Md5,
    /// The first bits of the SHA-1 digest, highest byte first.
    Sha1,
}

impl Hash {
    /// As plans call it.
    pub fn name(self) -> &'static str {
        match self {
            Hash::Fast => "fast",
            Hash::Rabin32 => "rabin32",
            Hash::Rabin40 => "rabin40",
            Hash::Rabin64 => "rabin64",
            Hash::Md5 => "md5",
            Hash::Sha1 => "sha1",
        }
    }

    /// Bits that tell chunks apart.
    pub fn bits(self) -> u32 {
        match self {
            Hash::Rabin32 => 32,
            Hash::Rabin40 => 40,
            Hash::Fast | Hash::Rabin64 | Hash::Md5 | Hash::Sha1 => SHINGLE_BITS,
        }
    }

    pub(super) fn hasher(self) -> Hasher {
        let rabin = |degree: u32, low: u64| Rabin::new(degree, low).map(Hasher::Rabin);
        let hasher = match self {
            Hash::Fast => None,
            Hash::Rabin32 => rabin(32, POLYNOMIAL_32),
            Hash::Rabin40 => rabin(40, POLYNOMIAL_40),
            Hash::Rabin64 => rabin(64, POLYNOMIALS[0]),
            Hash::Md5 => Some(Hasher::Md5),
            Hash::Sha1 => Some(Hasher::Sha1),
        };
        hasher.unwrap_or(Hasher::Fast)
    }
}

/// A family with its tables.
#[derive(Debug, Default)]
pub(super) enum Hasher {
    #[default]
    Fast,
    Rabin(Rabin),
    Md5,
    Sha1,
}

impl Hasher {
    /// The hash of `padded[..len]`; `padded` reaches at least [`SLACK`] bytes further.
    pub(super) fn hash(&self, padded: &[u8], len: usize) -> u64 {
        debug_assert!(padded.len() >= len + SLACK);
        let bytes = &padded[..len];
        let hash = match self {
            Hasher::Fast => mix(token(padded, len)),
            Hasher::Rabin(rabin) => mix(rabin.fingerprint(bytes)),
            Hasher::Md5 => first_bytes(&Md5::digest(bytes)),
            Hasher::Sha1 => first_bytes(&Sha1::digest(bytes)),
        };
        hash >> (64 - SHINGLE_BITS)
    }

    /// Calls `emit` with the hash of every window of `size` bytes, where the family slides; says whether it does.
    pub(super) fn slide(&self, bytes: &[u8], size: usize, mut emit: impl FnMut(u64)) -> bool {
        let Hasher::Rabin(rabin) = self else { return false };
        let Some(window) = rabin.window(size) else { return false };
        window.fingerprints(bytes, |fingerprint| emit(mix(fingerprint) >> (64 - SHINGLE_BITS)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(family: Hash, text: &str) -> u64 {
        family.hasher().hash(&[text.as_bytes(), &[0xaa; SLACK]].concat(), text.len())
    }

    /// The digests of RFC 1321 and FIPS 180.
    #[test]
    fn digests_are_the_published_ones() {
        assert_eq!(hash(Hash::Md5, "abc"), 0x9001_5098_3cd2_4fb0 >> 3);
        assert_eq!(hash(Hash::Md5, ""), 0xd41d_8cd9_8f00_b204 >> 3);
        assert_eq!(hash(Hash::Sha1, "abc"), 0xa999_3e36_4706_816a >> 3);
    }

    #[test]
    fn fingerprints_are_those_of_their_polynomials() {
        let text = "a rose is a";
        for (family, degree, low) in
            [(Hash::Rabin32, 32, POLYNOMIAL_32), (Hash::Rabin40, 40, POLYNOMIAL_40), (Hash::Rabin64, 64, POLYNOMIALS[0])]
        {
            let fingerprint = Rabin::new(degree, low).unwrap().fingerprint(text.as_bytes());
            assert!(degree == 64 || fingerprint < 1 << degree);
            assert_eq!(hash(family, text), mix(fingerprint) >> 3);
        }
    }
}
