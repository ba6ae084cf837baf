//! A row of JSON in its usual form, read from left to right. Whatever is unusual or wrong is `None`: serde_json has the word then.

use std::borrow::Cow;

use serde::de::{Deserialize, IgnoredAny};
use serde_json::{Deserializer, Value};

use super::jsonl::Parsed;
use super::specials::{BLOCK, specials};
use super::unescape::Unescaper;

/// A row on its way. Strings are looked at when they are read: what is wrong elsewhere, serde_json finds.
pub(super) struct PlainRow<'a> {
    row: &'a [u8],
    at: usize,
    unescaper: Unescaper,
}

impl<'a> PlainRow<'a> {
    pub(super) fn new(row: &'a [u8], unescaper: Unescaper) -> Self {
        PlainRow { row, at: 0, unescaper }
    }

    fn rest(&self) -> &'a [u8] {
        &self.row[self.at..]
    }

    fn peek(&mut self) -> Option<u8> {
        while let [b' ', ..] = self.rest() {
            self.at += 1;
        }
        self.rest().first().copied()
    }

    pub(super) fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The next bytes, with zeros behind the end.
    #[inline(always)]
    fn block(&self) -> [u8; BLOCK] {
        match self.rest().first_chunk() {
            Some(block) => *block,
            None => {
                let mut block = [0; BLOCK];
                block[..self.rest().len()].copy_from_slice(self.rest());
                block
            }
        }
    }

    /// Goes to the next quote or backslash, and behind it; says which it is. A control character is neither.
    fn pass_run(&mut self) -> Option<u8> {
        loop {
            let block = self.block();
            let run = specials(&block).trailing_zeros() as usize;
            self.at += run;
            if run < BLOCK {
                self.at += 1;
                return Some(block[run]).filter(|&byte| byte >= b' ');
            }
        }
    }

    /// The rest of a string, behind its first quote, that has no escapes.
    pub(super) fn unescaped(&mut self) -> Option<&'a str> {
        let start = self.at;
        let text = (self.pass_run()? == b'"').then(|| &self.row[start..self.at - 1])?;
        simdutf8::basic::from_utf8(text).ok()
    }

    /// A string, number or null.
    pub(super) fn value(&mut self) -> Option<Parsed<'a>> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string().map(Parsed::Text)
            }
            b'-' | b'0'..=b'9' | b'n' => match self.foreign::<Value>()? {
                Value::Null => Some(Parsed::Missing),
                Value::Number(number) => {
                    let integer = number.as_u64().map(i128::from).or_else(|| number.as_i64().map(i128::from));
                    integer.map(Parsed::Integer).or_else(|| number.as_f64().map(Parsed::Real))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Any value, which nobody wants.
    pub(super) fn pass_over(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return self.foreign::<IgnoredAny>().map(|_| ());
        }
        self.at += 1;
        while self.pass_run()? == b'\\' {
            self.escape()?;
        }
        Some(())
    }

    /// A value that serde_json reads.
    fn foreign<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let mut values = Deserializer::from_slice(self.rest()).into_iter::<T>();
        let value = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(value)
    }

    /// The rest of a string, behind its first quote.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        if let Some(text) = self.unescaped() {
            return Some(Cow::Borrowed(text));
        }
        self.at = start;
        // An estimate; most rows hold one long string.
        let mut text = Vec::with_capacity(self.rest().len() + BLOCK);
        // Where unusual escapes stand close to each other, many bytes at a time are no gain.
        let mut crowded = false;
        loop {
            if !crowded {
                self.at += self.unescaper.copy(self.rest(), &mut text);
            }
            let block = self.block();
            let run = specials(&block).trailing_zeros() as usize;
            // A whole block at a time: what is too much is taken back.
            text.extend_from_slice(&block);
            text.truncate(text.len() - BLOCK + run);
            self.at += run;
            if run == BLOCK {
                crowded = false;
                continue;
            }
            self.at += 1;
            match block[run] {
                b'"' => return checked(text).map(Cow::Owned),
                // Line ends are nearly all of them.
                b'\\' if self.rest().first() == Some(&b'n') => {
                    self.at += 1;
                    text.push(b'\n');
                }
                b'\\' => {
                    crowded = true;
                    match self.escape()? {
                        ascii @ ..='\u{7f}' => text.push(ascii as u8),
                        other => text.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
                    }
                }
                _ => return None,
            }
        }
    }

    /// What stands behind a backslash.
    fn escape(&mut self) -> Option<char> {
        let letter = *self.rest().first()?;
        self.at += 1;
        Some(match letter {
            b'n' => '\n',
            b'"' | b'\\' | b'/' => char::from(letter),
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => self.code_point()?,
            _ => return None,
        })
    }

    /// Four hexadecimal digits, or twice four for a pair of surrogates.
    fn code_point(&mut self) -> Option<char> {
        let first = self.hexadecimal()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        self.at += self.rest().starts_with(b"\\u").then_some(2)?;
        let second = self.hexadecimal()?;
        let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10 | low))
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4)?;
        self.at += 4;
        digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
    }
}

/// A text, if it is one.
fn checked(text: Vec<u8>) -> Option<String> {
    simdutf8::basic::from_utf8(&text).ok()?;
    #[expect(unsafe_code, reason = "the standard library would check it again, and takes three times as long")]
    // SAFETY: it was just checked.
    Some(unsafe { String::from_utf8_unchecked(text) })
}
