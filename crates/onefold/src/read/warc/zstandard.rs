//! One zstd frame at a time. Frames that need a dictionary are refused by name.

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::member::{Fault, Step};
use super::stored::Stored;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The skippable frame in which `.warc.zst` files carry their dictionary.
const DICTIONARY: u32 = 0x184d_2a5d;

/// Decodes one frame after another.
pub(super) struct Unframer {
    state: Decoder<'static>,
    /// The decoder filled its room last time and may have more without new input.
    pending: bool,
}

/// Whether a frame may begin here.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The length of a skippable frame that begins here.
fn skippable(bytes: &[u8]) -> Option<(u32, u64)> {
    let &[a, b, c, d, e, f, g, h] = bytes.first_chunk::<8>()?;
    let magic = u32::from_le_bytes([a, b, c, d]);
    (magic & 0xffff_fff0 == 0x184d_2a50).then(|| (magic, u64::from(u32::from_le_bytes([e, f, g, h]))))
}

/// Whether the file begins like zstd: a frame or a skippable one.
pub(super) fn recognises(bytes: &[u8]) -> bool {
    begins(bytes) || skippable(bytes).is_some()
}

impl Unframer {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Unframer { state: Decoder::new()?, pending: false })
    }

    /// Passes over skippable frames; says whether there was one.
    pub(super) fn pass(stored: &mut Stored) -> Result<bool, Fault> {
        let Some((magic, length)) = skippable(stored.peek(8)) else { return Ok(false) };
        if magic == DICTIONARY {
            return Err(needs_dictionary());
        }
        let mut left = length + 8;
        while left > 0 {
            let some = (stored.peek(1).len() as u64).min(left);
            if some == 0 {
                return Err(Fault::Cut);
            }
            stored.consume(some as usize);
            left -= some;
        }
        Ok(true)
    }

    /// Gets ready for a frame.
    pub(super) fn begin(&mut self, stored: &mut Stored) -> Result<(), Fault> {
        match stored.peek(5).get(4) {
            None => return Err(Fault::Cut),
            Some(descriptor) if descriptor & 3 != 0 => return Err(needs_dictionary()),
            Some(_) => (),
        }
        self.pending = false;
        self.state.reinit().map_err(|error| Fault::Damaged(format!("zstd: {error}")))
    }

    /// Decodes some bytes of the frame.
    pub(super) fn step(&mut self, stored: &mut Stored, room: &mut [u8]) -> Step {
        let bytes = stored.peek(1);
        if bytes.is_empty() && !self.pending {
            return (0, Err(Fault::Cut));
        }
        let space = room.len();
        let mut input = InBuffer::around(bytes);
        let mut output = OutBuffer::around(room);
        let result = self.state.run(&mut input, &mut output);
        let (taken, given) = (input.pos(), output.pos());
        stored.consume(taken);
        self.pending = given == space;
        let outcome = match result {
            Err(error) => Err(Fault::Damaged(format!("zstd: {error}"))),
            Ok(0) => Ok(true),
            Ok(_) if taken == 0 && given == 0 => Err(Fault::Cut),
            Ok(_) => Ok(false),
        };
        (given, outcome)
    }
}

fn needs_dictionary() -> Fault {
    Fault::Refused { reason: "needs_dictionary", detail: "zstd with a dictionary is not read".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skippable_frames_are_known() {
        assert_eq!(skippable(&[0x5d, 0x2a, 0x4d, 0x18, 2, 1, 0, 0]), Some((DICTIONARY, 258)));
        assert_eq!(skippable(&[0x60, 0x2a, 0x4d, 0x18, 2, 1, 0, 0]), None);
        assert!(recognises(&MAGIC) && !begins(b"WARC/1.0"));
    }
}
