//! How far a record really goes: its declared length is believed only if another record, or the end, follows.
//!
//! When the trailer is wrong, the first place that surely begins a record ends the block, inside the declared length or after it.
//! Nothing is allocated by a declared length: the window grows with the bytes that really come.

use super::heading::Dialect;
use super::unpacked::Unpacked;

/// Bytes looked at in one go.
const CHUNK: usize = 64 << 10;
/// So much is held while bytes are passed over.
const PASSED_AT_ONCE: usize = 256 << 10;

/// Where a block ends, counted from the start of the window.
#[derive(Debug, PartialEq)]
pub(super) struct Extent {
    /// The end of the block.
    pub(super) end: usize,
    /// Where the next record begins.
    pub(super) next: usize,
    /// The segment ended before the block.
    pub(super) cut: bool,
    /// The declared length is wrong.
    pub(super) wrong: bool,
}

/// What a search for the next record came to.
#[derive(Debug, PartialEq)]
enum Found {
    At(usize),
    /// The segment has ended after so many bytes.
    Ended(usize),
    /// Nothing up to here, and that is as far as it goes.
    Far(usize),
}

/// Measures the block that begins after the header and has the declared length; `most` bytes may be held.
pub(super) fn measure(stream: &mut Unpacked, dialect: Dialect, header: usize, length: usize, most: usize) -> Extent {
    let end = header + length;
    let have = stream.fill(end + CHUNK.max(dialect.probe()));
    if have >= end {
        let next = after_line_ends(stream, end, dialect);
        let follows = dialect.continues(&stream.bytes()[next..]);
        // A member that ends where the record does is as good a proof as a record that follows.
        let member = stream.member_begins(stream.position() + next as u64);
        if follows || member || at_end(stream, next) {
            // A record right after the block: the lengths of ARC may count the line end, those of WARC must not.
            let wrong = follows && !member && next == end && dialect == Dialect::Warc;
            return Extent { end, next, cut: false, wrong };
        }
    }
    match search(stream, dialect, header, most) {
        Found::At(next) => Extent { end: without_trailer(stream, dialect, header, next), next, cut: false, wrong: true },
        Found::Ended(all) if all < end => Extent { end: all, next: all, cut: true, wrong: false },
        Found::Ended(all) => last(stream, dialect, end, all),
        Found::Far(_) => Extent { end, next: end, cut: false, wrong: true },
    }
}

/// The last record of a segment, with something after it: the rest of the block if it is closed like one, else junk.
fn last(stream: &Unpacked, dialect: Dialect, end: usize, all: usize) -> Extent {
    let next = end + line_ends(&stream.bytes()[end..]);
    if next == all {
        return Extent { end, next, cut: false, wrong: false };
    }
    let closed = without_trailer(stream, dialect, end, all);
    let closing = stream.bytes()[closed..all].iter().filter(|&&byte| byte == b'\n').count();
    if closing == dialect.trailing_line_ends() {
        return Extent { end: closed, next: all, cut: false, wrong: true };
    }
    Extent { end, next, cut: false, wrong: false }
}

/// How many bytes at the start belong to line ends.
fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

/// Passes over the header and all that follows up to the next record, without holding it. Returns how many bytes that were.
pub(super) fn pass_over(stream: &mut Unpacked, dialect: Dialect, header: usize) -> u64 {
    let start = stream.position();
    stream.consume(header);
    let mut from = 0;
    loop {
        match search(stream, dialect, from, PASSED_AT_ONCE) {
            Found::At(next) | Found::Ended(next) => {
                stream.consume(next);
                return stream.position() - start;
            }
            Found::Far(at) => {
                // The byte before a record is looked at, too.
                stream.consume(at.saturating_sub(1));
                from = 1;
            }
        }
    }
}

/// The next place from here on that surely begins a record.
fn search(stream: &mut Unpacked, dialect: Dialect, mut from: usize, most: usize) -> Found {
    loop {
        let have = stream.fill(from + CHUNK.max(2 * dialect.probe()));
        let ended = stream.ending().is_some();
        while let Some(at) = next_candidate(stream, dialect, from) {
            if !ended && at + dialect.probe() > have {
                from = at;
                break;
            }
            if stands_free(stream, dialect, at) && dialect.begins(&stream.bytes()[at..]) {
                return Found::At(at);
            }
            from = at + 1;
        }
        if ended {
            return Found::Ended(have);
        }
        // The beginning of a candidate may be all there is of it.
        from = from.max(have.saturating_sub(dialect.probe()));
        if from > most {
            return Found::Far(from);
        }
    }
}

fn next_candidate(stream: &Unpacked, dialect: Dialect, from: usize) -> Option<usize> {
    let bytes = stream.bytes();
    let written = dialect.candidate(bytes, from);
    let member = stream.next_member(stream.position() + from as u64).map(|position| (position - stream.position()) as usize);
    let member = member.filter(|&at| at < bytes.len());
    written.into_iter().chain(member).min()
}

/// Whether a record could begin here: at the start of a line or of a member, or after padding.
fn stands_free(stream: &Unpacked, dialect: Dialect, at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| stream.bytes()[before]);
    let padded = dialect == Dialect::Warc && before == Some(0);
    matches!(before, None | Some(b'\n')) || padded || stream.member_begins(stream.position() + at as u64)
}

/// The first byte from here that is no line end; nobody writes thousands of them.
fn after_line_ends(stream: &mut Unpacked, start: usize, dialect: Dialect) -> usize {
    let mut at = start;
    loop {
        stream.fill(at + dialect.probe());
        let more = line_ends(&stream.bytes()[at..]);
        at += more;
        if more == 0 || at > start + CHUNK {
            return at;
        }
    }
}

fn at_end(stream: &Unpacked, at: usize) -> bool {
    at >= stream.bytes().len() && stream.ending().is_some()
}

/// Where the block ends if the next record begins at `next`: before the line ends that close it.
fn without_trailer(stream: &Unpacked, dialect: Dialect, least: usize, next: usize) -> usize {
    let mut block = &stream.bytes()[..next];
    for _ in 0..dialect.trailing_line_ends() {
        let Some(shorter) = block.strip_suffix(b"\n") else { break };
        block = shorter.strip_suffix(b"\r").unwrap_or(shorter);
    }
    block.len().max(least)
}
