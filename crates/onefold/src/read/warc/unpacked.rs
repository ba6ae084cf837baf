//! Stored bytes → the bytes of the archive, with the map back: which member a byte came from.
//!
//! In: a file as stored (plain, gzip, zstd). Out: *segments*, stretches of decoded bytes without a hole; damage, junk or a bomb ends a
//! segment, and the next one begins at the next member that can be found. Invariant: no record is ever glued together across a hole.
//! Cost: one pass (damaged members at most twice).

use std::io::BufRead;
use std::ops::Range;

use super::gzip::{self, Inflater};
use super::member::{Fault, bomb};
use super::members::{Boundary, Members};
use super::stored::Stored;
use super::window::Window;
use super::zstandard::{self, Unframer};
use crate::read::open::Packing;

/// Bytes decoded at a time.
const STEP: usize = 64 << 10;

enum Codec {
    Plain,
    Gzip(Box<Inflater>),
    Zstd(Box<Unframer>),
}

/// Why a segment ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ending {
    /// The end of the file, between members.
    Clean,
    /// Bytes between members that are none.
    Junk,
    /// A member that could not be read on.
    Fault(Fault),
}

/// The decoded bytes.
pub(super) struct Unpacked {
    stored: Stored,
    codec: Codec,
    window: Window,
    inside: bool,
    members: Members,
    ended: Option<u64>,
    ending: Option<Ending>,
    /// Where the record at hand begins: its decoded position, and how far the file had been read.
    record: (u64, u64),
    /// A record may grow to this whatever its packing.
    harmless: u64,
}

impl Unpacked {
    /// Tells the packing by the first bytes.
    pub(super) fn open(reader: Box<dyn BufRead + Send>, harmless: u64) -> Self {
        let mut stored = Stored::new(reader);
        let start = stored.peek(8);
        let mut refused = None;
        let codec = if start.starts_with(&[0x1f, 0x8b]) || start == [0x1f] {
            Codec::Gzip(Box::new(Inflater::new()))
        } else if zstandard::recognises(start) {
            Unframer::new().map_or(Codec::Plain, |unframer| Codec::Zstd(Box::new(unframer)))
        } else {
            refused = foreign(start);
            Codec::Plain
        };
        let window = Window::default();
        let members = Members::default();
        Unpacked { stored, codec, window, inside: false, members, ended: Some(0), ending: refused, record: (0, 0), harmless }
    }

    /// What the file is packed with.
    pub(super) fn packing(&self) -> Packing {
        match self.codec {
            Codec::Plain => Packing::Plain,
            Codec::Gzip(_) => Packing::Gzip,
            Codec::Zstd(_) => Packing::Zstd,
        }
    }

    /// Sees to it that so many bytes are in the window; fewer only at the end of the segment. Returns how many there are.
    pub(super) fn fill(&mut self, least: usize) -> usize {
        while self.window.bytes().len() < least && self.ending.is_none() {
            if let Err(ending) = self.step() {
                self.ending = Some(ending);
            }
        }
        self.window.bytes().len()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.window.bytes()
    }

    /// The position of the first byte of the window.
    pub(super) fn position(&self) -> u64 {
        self.window.position()
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.window.consume(count);
        // A record begins after the last byte that was dropped, and its member stays known.
        self.members.forget_before(self.window.position());
    }

    /// A record begins here. Records, not members, are measured: a file of a million equal pages packs very well.
    pub(super) fn begin_record(&mut self) {
        self.record = (self.window.position(), self.stored.offset());
    }

    fn is_bomb(&self) -> bool {
        let given = self.window.position() + self.window.bytes().len() as u64 - self.record.0;
        bomb(self.stored.offset().saturating_sub(self.record.1), given, self.harmless)
    }

    /// Why no more bytes come, if none come.
    pub(super) fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// How far the stored file was looked at: its length, after a cut.
    pub(super) fn stored_end(&self) -> u64 {
        self.stored.seen()
    }

    /// How far the file has been read.
    pub(super) fn stored_offset(&self) -> u64 {
        self.stored.offset()
    }

    /// Goes on after a hole: drops the rest of the segment and looks for the next member. False at the end of the file.
    pub(super) fn next_segment(&mut self) -> bool {
        self.window.consume(self.window.bytes().len());
        let Some(ending) = self.ending.take() else { return true };
        let going_on = match ending {
            Ending::Clean | Ending::Fault(Fault::Cut | Fault::Refused { .. }) => false,
            // Where the next member follows as it should, only the bytes of this one are wrong.
            Ending::Fault(Fault::Checksum) if self.between_members() => true,
            Ending::Junk => self.seek(),
            Ending::Fault(Fault::Damaged(_) | Fault::Checksum | Fault::Bomb) => {
                self.stored.rewind();
                self.seek()
            }
        };
        (self.inside, self.ended) = (false, None);
        if !going_on {
            self.ending = Some(Ending::Clean);
        }
        going_on
    }

    /// The fault of the reader below, if that is why the file ended.
    pub(super) fn take_fault(&mut self) -> Option<std::io::Error> {
        self.stored.take_fault()
    }

    fn step(&mut self) -> Result<(), Ending> {
        if matches!(self.codec, Codec::Plain) {
            return self.copy();
        }
        if !self.inside {
            return self.begin();
        }
        let room = self.window.room(STEP);
        let (given, outcome) = match &mut self.codec {
            Codec::Gzip(inflater) => inflater.step(&mut self.stored, room),
            Codec::Zstd(unframer) => unframer.step(&mut self.stored, room),
            Codec::Plain => (0, Ok(true)),
        };
        self.window.filled(given);
        if outcome.map_err(Ending::Fault)? {
            (self.inside, self.ended) = (false, Some(self.stored.offset()));
        }
        if self.is_bomb() { Err(Ending::Fault(Fault::Bomb)) } else { Ok(()) }
    }

    fn copy(&mut self) -> Result<(), Ending> {
        let bytes = self.stored.peek(1);
        if bytes.is_empty() {
            return Err(Ending::Clean);
        }
        let count = bytes.len().min(STEP);
        self.window.room(count)[..count].copy_from_slice(&bytes[..count]);
        self.window.filled(count);
        self.stored.consume(count);
        Ok(())
    }

    /// Between members: the next one, the end, or junk. Zeros are padding, as on tapes.
    fn begin(&mut self) -> Result<(), Ending> {
        while matches!(self.stored.peek(1), [0, ..]) {
            let zeros = self.stored.peek(1).iter().take_while(|&&byte| byte == 0).count();
            self.stored.consume(zeros);
        }
        if self.stored.peek(1).is_empty() {
            return Err(Ending::Clean);
        }
        if matches!(self.codec, Codec::Zstd(_)) && Unframer::pass(&mut self.stored).map_err(Ending::Fault)? {
            return Ok(());
        }
        let start = self.stored.peek(4);
        if !begins(&self.codec, start) {
            let magic: &[u8] = if matches!(self.codec, Codec::Gzip(_)) { &[0x1f, 0x8b, 8] } else { &[0x28, 0xb5, 0x2f] };
            let cut = start.len() < 4 && (magic.starts_with(start) || start.starts_with(magic));
            return Err(if cut { Ending::Fault(Fault::Cut) } else { Ending::Junk });
        }
        let begins = self.stored.offset();
        self.stored.mark();
        match &mut self.codec {
            Codec::Gzip(inflater) => inflater.begin(&mut self.stored),
            Codec::Zstd(unframer) => unframer.begin(&mut self.stored),
            Codec::Plain => Ok(()),
        }
        .map_err(Ending::Fault)?;
        let position = self.window.position() + self.window.bytes().len() as u64;
        self.members.push(Boundary { position, ended: self.ended, begins });
        self.inside = true;
        Ok(())
    }

    fn between_members(&mut self) -> bool {
        let next = self.stored.peek(4);
        next.is_empty() || begins(&self.codec, next)
    }

    /// Moves to the next place where a member may begin.
    fn seek(&mut self) -> bool {
        let first = match self.codec {
            Codec::Gzip(_) => 0x1f,
            Codec::Zstd(_) => 0x28,
            Codec::Plain => return false,
        };
        loop {
            let bytes = self.stored.peek(4);
            if bytes.len() < 4 {
                return false;
            }
            if begins(&self.codec, bytes) {
                return true;
            }
            let next = memchr::memchr(first, &bytes[1..]).map_or(bytes.len(), |at| at + 1);
            self.stored.consume(next);
        }
    }
}

/// Where decoded bytes lie in the file.
impl Unpacked {
    fn plain(&self) -> bool {
        matches!(self.codec, Codec::Plain)
    }

    /// Whether a member begins at this position.
    pub(super) fn member_begins(&self, position: u64) -> bool {
        self.members.at(position).is_some()
    }

    /// Where the member that was read last begins in the file, or what lies between members.
    pub(super) fn member_offset(&self) -> u64 {
        self.members.last().filter(|_| self.inside).map_or(self.stored.offset(), |member| member.begins)
    }

    /// The segment ended with a member of which nothing came out.
    pub(super) fn member_is_empty(&self) -> bool {
        let end = self.window.position() + self.window.bytes().len() as u64;
        let nothing_came = !self.inside || self.members.last().is_some_and(|member| member.position == end);
        nothing_came && matches!(self.ending, Some(Ending::Fault(_)))
    }

    /// The first member that begins at this position or after it.
    pub(super) fn next_member(&self, position: u64) -> Option<u64> {
        self.members.from(position).map(|member| member.position)
    }

    /// Where the byte at this position is stored: its own place, or the start of its member.
    pub(super) fn offset_of(&self, position: u64) -> u64 {
        if self.plain() {
            return position;
        }
        self.members.around(position).map_or(self.stored.offset(), |member| member.begins)
    }

    /// The stored bytes of the decoded range, if they are whole members or the file is plain.
    pub(super) fn stored_range(&self, decoded: Range<u64>) -> Option<Range<u64>> {
        self.stored_until(self.stored_start(decoded.start)?, decoded.end)
    }

    /// Where the bytes from this position on are stored, if nothing else is stored with them.
    pub(super) fn stored_start(&self, position: u64) -> Option<u64> {
        if self.plain() { Some(position) } else { self.members.at(position).map(|member| member.begins) }
    }

    /// The stored bytes from there up to a position among the decoded bytes, if a member ends with them or the file is plain.
    pub(super) fn stored_until(&self, begins: u64, end: u64) -> Option<Range<u64>> {
        if self.plain() {
            return Some(begins..end);
        }
        if let Some(next) = self.members.at(end) {
            return next.ended.map(|ended| begins..ended);
        }
        let all = self.window.position() + self.window.bytes().len() as u64 == end && self.ending.is_some();
        let cut = self.ending == Some(Ending::Fault(Fault::Cut));
        let ended = if cut && self.inside { Some(self.stored.offset()) } else { self.ended };
        if all { ended.filter(|&ended| ended > begins).map(|ended| begins..ended) } else { None }
    }
}

fn begins(codec: &Codec, bytes: &[u8]) -> bool {
    match codec {
        Codec::Gzip(_) => gzip::begins(bytes),
        Codec::Zstd(_) => zstandard::begins(bytes),
        Codec::Plain => false,
    }
}

/// Packings that are known and not read.
fn foreign(start: &[u8]) -> Option<Ending> {
    let known: [(&[u8], &str); 4] =
        [(&[4, 0x22, 0x4d, 0x18], "lz4"), (b"BZh", "bzip2"), (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"), (b"PK\x03\x04", "zip")];
    let (_, name) = known.iter().find(|(magic, _)| start.starts_with(magic))?;
    Some(Ending::Fault(Fault::Refused { reason: "unsupported_compression", detail: format!("{name} is not read") }))
}
