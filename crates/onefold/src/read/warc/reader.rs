//! The bytes of an archive → items, record by record.

use std::collections::VecDeque;
use std::ops::Range;

use super::copies::{Copied, CopiedBytes};
use super::extent::{Extent, measure, pass_over};
use super::heading::{Dialect, HeaderEnd, Heading, Http, Kind};
use super::http::{self, Note, Payload};
use super::item::{ContentRecord, Limits, Notice, Place, Revisit, WarcItem};
use super::member::Fault;
use super::unpacked::{Ending, Unpacked};

/// Headers are looked for in so many bytes first.
const FIRST_LOOK: usize = 4 << 10;
/// Longer headers are not believed.
const LONGEST_HEADER: usize = 1 << 20;

/// What became of the record at the end of a segment.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    /// The segment ended between records.
    None,
    /// The record at this offset is not whole, but what there is of it was delivered or told, or is no document.
    Told(u64),
    /// The record at this offset is lost.
    Lost(u64),
}

/// Cuts the stream into records.
pub(super) struct Records {
    pub(super) stream: Unpacked,
    dialect: Dialect,
    limits: Limits,
    number: u64,
    pub(super) items: VecDeque<WarcItem>,
    /// Records to be copied, where that is what the file is read for.
    pub(super) copies: Option<VecDeque<Copied>>,
}

impl Records {
    pub(super) fn new(stream: Unpacked, limits: Limits) -> Self {
        Records { stream, dialect: Dialect::Warc, limits, number: 0, items: VecDeque::new(), copies: None }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Reads one record, or goes on to the next segment. False when the file has ended.
    pub(super) fn step(&mut self) -> bool {
        self.skip_line_ends();
        self.stream.begin_record();
        if self.stream.bytes().is_empty() {
            return self.end_segment(Rest::None);
        }
        if self.number == 0 {
            self.dialect = detect(&mut self.stream);
        }
        let dialect = self.dialect;
        self.stream.fill(dialect.probe());
        if !dialect.continues(self.stream.bytes()) {
            return self.junk(dialect);
        }
        self.number += 1;
        self.record(dialect)
    }

    fn skip_line_ends(&mut self) {
        while self.stream.fill(1) > 0 {
            let line_ends = self.stream.bytes().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if line_ends == 0 {
                return;
            }
            self.stream.consume(line_ends);
        }
    }

    /// Something that is no record. If no record has come and none comes, this is no archive, and that is said once at the end.
    fn junk(&mut self, dialect: Dialect) -> bool {
        let offset = self.stream.offset_of(self.stream.position());
        // One byte at least, so that no disagreement about what a record is can stop the reading.
        let passed = pass_over(&mut self.stream, dialect, 1);
        if self.number > 0 || !self.stream.bytes().is_empty() {
            self.flag(offset, None, ("junk", format!("{passed} bytes that are no record")));
        }
        true
    }

    fn record(&mut self, dialect: Dialect) -> bool {
        let start = self.stream.position();
        let offset = self.stream.offset_of(start);
        let header = match self.header_end(dialect) {
            HeaderEnd::At(end) => end,
            HeaderEnd::Broken(at) => {
                self.stream.consume(at);
                self.skip(offset, ("bad_header", "another record begins inside the header".into()));
                return true;
            }
            HeaderEnd::Open if self.stream.ending().is_some() => return self.end_segment(Rest::Lost(offset)),
            HeaderEnd::Open => {
                pass_over(&mut self.stream, dialect, 1);
                self.skip(offset, ("bad_header", format!("no end within {LONGEST_HEADER} bytes")));
                return true;
            }
        };
        let heading = dialect.parse(&self.stream.bytes()[..header]);
        match heading.length.clone() {
            Ok(length) if (header as u64).saturating_add(length) <= self.limits.record_bytes => {
                let most = usize::try_from(self.limits.record_bytes).unwrap_or(usize::MAX);
                let extent = measure(&mut self.stream, dialect, header, length as usize, most);
                self.block(offset, header, &heading, &extent)
            }
            Ok(length) => self.too_large(dialect, offset, header, &heading, length),
            Err(written) => {
                let begins = self.stream.stored_start(start);
                pass_over(&mut self.stream, dialect, header);
                self.lost(&heading, offset, begins, ("bad_length", format!("the length is '{written}'")));
                true
            }
        }
    }

    fn header_end(&mut self, dialect: Dialect) -> HeaderEnd {
        let mut least = FIRST_LOOK;
        loop {
            self.stream.fill(least);
            let found = dialect.header_end(self.stream.bytes(), self.stream.ending().is_some());
            if found != HeaderEnd::Open || self.stream.ending().is_some() || least >= LONGEST_HEADER {
                return found;
            }
            least = (self.stream.bytes().len() + 1).max(least * 2);
        }
    }

    /// A record that may not be held. If another one begins before its length is over, the length was a lie.
    fn too_large(&mut self, dialect: Dialect, offset: u64, header: usize, heading: &Heading, length: u64) -> bool {
        let begins = self.stream.stored_start(self.stream.position());
        let passed = pass_over(&mut self.stream, dialect, header).saturating_sub(header as u64);
        let another = !self.stream.bytes().is_empty();
        let note = if passed < length && another {
            ("bad_length", format!("the length is '{length}', but only {passed} bytes follow"))
        } else {
            ("too_large", format!("{length} bytes"))
        };
        self.lost(heading, offset, begins, note);
        true
    }

    fn block(&mut self, offset: u64, header: usize, heading: &Heading, extent: &Extent) -> bool {
        let start = self.stream.position();
        let stored = self.stream.stored_range(start..start + extent.next as u64);
        if self.copies.is_some() {
            return self.copy(offset, heading, extent, stored);
        }
        let place = Place { number: self.number, offset, stored };
        let mut rest = Rest::Told(offset);
        match &heading.kind {
            Kind::Content => rest = self.content(place, header, heading, extent),
            Kind::Revisit => self.items.push_back(WarcItem::Alias(alias(place, heading))),
            Kind::About => (),
            Kind::Unknown(name) => self.skip(offset, ("unknown_type", format!("WARC-Type '{name}'"))),
        }
        if extent.wrong {
            let real = extent.end - header;
            let said = heading.length.as_ref().map_or(0, |length| *length);
            self.flag(offset, Some(self.number), ("wrong_length", format!("the length is {said}, the block has {real} bytes")));
        }
        self.stream.consume(extent.next);
        if extent.cut { self.end_segment(rest) } else { true }
    }

    /// Instead of being opened, the record is offered for copying.
    fn copy(&mut self, offset: u64, heading: &Heading, extent: &Extent, stored: Option<Range<u64>>) -> bool {
        let unpacked = || CopiedBytes::Unpacked(self.stream.bytes()[..extent.next].to_vec());
        let bytes = stored.map_or_else(unpacked, CopiedBytes::Stored);
        if !matches!(heading.kind, Kind::Unknown(_)) {
            self.offer(offset, heading, bytes);
        }
        self.stream.consume(extent.next);
        if extent.cut { self.end_segment(Rest::Told(offset)) } else { true }
    }

    fn offer(&mut self, offset: u64, heading: &Heading, bytes: CopiedBytes) {
        let copied = Copied { number: self.number, offset, content: heading.kind == Kind::Content, bytes };
        self.copies.get_or_insert_default().push_back(copied);
    }

    fn content(&mut self, place: Place, header: usize, heading: &Heading, extent: &Extent) -> Rest {
        let offset = place.offset;
        let block = &self.stream.bytes()[header..extent.end];
        let opened = open(block, heading, self.limits.body_bytes);
        let payload = match opened {
            Ok(payload) => payload,
            Err(note) => {
                self.skip(offset, note);
                return Rest::Told(offset);
            }
        };
        // Nothing of the body before the cut: the notice of the cut says all.
        if extent.cut && payload.body.is_empty() {
            return Rest::Lost(offset);
        }
        for note in payload.notes {
            self.flag(offset, Some(place.number), note);
        }
        let truncated = extent.cut || payload.cut || heading.truncated;
        let written = heading.content_type.as_deref().map(super::fields::media_type);
        let (media_type, charset) = written.unwrap_or_default();
        self.items.push_back(WarcItem::Content(ContentRecord {
            place,
            trec_id: heading.trec_id.clone(),
            record_id: heading.record_id.clone(),
            uri: heading.uri.clone(),
            date: heading.date.clone(),
            media_type: payload.media_type.or(media_type),
            charset: payload.charset.or(charset),
            status: payload.status,
            body: payload.body,
            truncated,
        }));
        Rest::Told(offset)
    }

    /// The bytes of the segment are used up: says why, and goes on after the hole if there is something.
    fn end_segment(&mut self, rest: Rest) -> bool {
        let end = self.stream.stored_offset();
        let note = match self.stream.ending() {
            Some(Ending::Fault(Fault::Cut)) => Some(fault_note(&Fault::Cut, self.stream.stored_end())),
            Some(Ending::Fault(fault)) => Some(fault_note(fault, end)),
            Some(Ending::Junk) => Some(("junk", format!("bytes at offset {end} that are no member"))),
            Some(Ending::Clean) if rest != Rest::None => Some(fault_note(&Fault::Cut, end)),
            Some(Ending::Clean) | None => None,
        };
        if let Some(note) = note {
            match rest {
                Rest::Told(offset) => self.flag(offset, Some(self.number), note),
                Rest::Lost(offset) => self.skip(offset, note),
                // A member of which nothing could be read may have been a document.
                Rest::None if self.stream.member_is_empty() => self.skip_member(note),
                Rest::None => self.flag(self.stream.member_offset(), None, note),
            }
        }
        self.stream.next_segment()
    }

    fn skip_member(&mut self, (reason, detail): Note) {
        self.items.push_back(WarcItem::Skipped(Notice { offset: self.stream.member_offset(), number: None, reason, detail }));
    }

    /// A record that cannot be delivered; those that are no documents are no loss.
    fn lost(&mut self, heading: &Heading, offset: u64, begins: Option<u64>, note: Note) {
        match heading.kind {
            Kind::About => {
                // It was never held, but its bytes may lie apart in the file.
                let stored = begins.and_then(|begins| self.stream.stored_until(begins, self.stream.position()));
                if let (Some(stored), true) = (stored, self.copies.is_some()) {
                    self.offer(offset, heading, CopiedBytes::Stored(stored));
                }
                self.flag(offset, Some(self.number), note)
            }
            _ => self.skip(offset, note),
        }
    }

    fn skip(&mut self, offset: u64, (reason, detail): Note) {
        let number = Some(self.number).filter(|&number| number > 0);
        self.items.push_back(WarcItem::Skipped(Notice { offset, number, reason, detail }));
    }

    fn flag(&mut self, offset: u64, number: Option<u64>, (reason, detail): Note) {
        self.items.push_back(WarcItem::Flagged(Notice { offset, number, reason, detail }));
    }
}

fn fault_note(fault: &Fault, end: u64) -> Note {
    match fault {
        Fault::Cut => ("truncated", format!("truncated at offset {end}")),
        Fault::Damaged(detail) => ("damaged", format!("damaged before offset {end}: {detail}")),
        Fault::Checksum => ("damaged", format!("wrong checksum before offset {end}")),
        Fault::Bomb => ("bomb", format!("grows beyond all measure before offset {end}")),
        Fault::Refused { reason, detail } => (reason, detail.clone()),
    }
}

/// ARC if the first line is one of ARC's, else WARC.
fn detect(stream: &mut Unpacked) -> Dialect {
    stream.fill(Dialect::Arc.probe());
    if Dialect::Arc.begins(stream.bytes()) { Dialect::Arc } else { Dialect::Warc }
}

fn open(block: &[u8], heading: &Heading, most: u64) -> Result<Payload, Note> {
    if heading.http != Http::No && http::is_response(block) {
        return http::open(block, most);
    }
    if block.len() as u64 > most {
        return Err(("too_large", format!("more than {most} bytes")));
    }
    let mut payload = Payload { body: block.to_vec(), ..Payload::default() };
    if heading.http == Http::Yes && !block.is_empty() {
        payload.notes.push(("no_http_header", "announced as HTTP, but is not; taken as it is".into()));
    }
    Ok(payload)
}

fn alias(place: Place, heading: &Heading) -> Revisit {
    let [refers_to, refers_to_uri, refers_to_date] = heading.refers_to.clone();
    Revisit {
        place,
        record_id: heading.record_id.clone(),
        uri: heading.uri.clone(),
        date: heading.date.clone(),
        refers_to,
        refers_to_uri,
        refers_to_date,
    }
}
