//! What the decoders of single members (gzip) and frames (zstd) have in common.

/// A step of decoding: so many bytes were written, and whether the member has ended with them. After a fault the bytes before it count.
pub(super) type Step = (usize, Result<bool, Fault>);

/// Why a member cannot be read on.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// The file ends inside the member.
    Cut,
    /// The member is not what its format demands.
    Damaged(String),
    /// The member has ended, but its checksum is wrong.
    Checksum,
    /// The member grows beyond any text.
    Bomb,
    /// The whole file needs something that is not there.
    Refused {
        /// A word for it.
        reason: &'static str,
        /// What is needed.
        detail: String,
    },
}

/// Below so many bytes nothing is a bomb.
pub(super) const SURELY_HARMLESS: u64 = 1 << 20;
const LARGEST_RATIO: u64 = 1000;

/// Whether so much out of so little can only be meant to hurt. Text reaches 1:100 at best; deflate itself ends at 1:1032.
pub(super) fn bomb(taken: u64, given: u64, harmless: u64) -> bool {
    given > harmless && given / LARGEST_RATIO >= taken.max(1)
}

#[cfg(test)]
mod tests {
    use super::{SURELY_HARMLESS, bomb};

    #[test]
    fn bombs_are_large_and_dense() {
        assert!(!bomb(1, 1 << 20, SURELY_HARMLESS));
        assert!(bomb(1, (1 << 20) + 1, SURELY_HARMLESS));
        assert!(!bomb(10_000, 9_999_999, SURELY_HARMLESS));
        assert!(bomb(10_000, 10_000_000, SURELY_HARMLESS));
    }
}
