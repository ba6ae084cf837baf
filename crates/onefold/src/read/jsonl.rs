//! One row of JSONL: the wanted fields are picked out, everything else is passed over without being stored.

use std::borrow::Cow;
use std::fmt;

use super::plain_json::PlainRow;
use super::unescape::Unescaper;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Which fields are wanted, by number; a tree of names, since `meta.url` is a field inside a field.
#[derive(Debug, Default)]
pub struct FieldReader {
    nodes: Vec<Node>,
    fields: usize,
    unescaper: Unescaper,
}

#[derive(Debug, Default)]
struct Node {
    children: Vec<(String, usize)>,
    fields: Vec<usize>,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed<'a> {
    /// Not there, or null.
    Missing,
    /// A string.
    Text(Cow<'a, str>),
    /// A whole number.
    Integer(i128),
    /// Another number.
    Real(f64),
    /// `true`, a list, an object: no value that any column has.
    Other(&'static str),
}

impl FieldReader {
    /// Wants the fields with these names; `a.b` is a field named so or the field `b` inside `a`.
    pub fn new(names: &[&str]) -> Self {
        let mut reader = FieldReader { nodes: vec![Node::default()], fields: names.len(), unescaper: Unescaper::default() };
        for (field, name) in names.iter().enumerate() {
            reader.want(&[name], field);
            if name.contains('.') {
                reader.want(&name.split('.').collect::<Vec<_>>(), field);
            }
        }
        reader
    }

    fn want(&mut self, path: &[&str], field: usize) {
        let mut at = 0;
        for name in path {
            at = match self.nodes[at].children.iter().find(|(child, _)| child == name) {
                Some(&(_, child)) => child,
                None => {
                    self.nodes.push(Node::default());
                    let child = self.nodes.len() - 1;
                    self.nodes[at].children.push(((*name).to_string(), child));
                    child
                }
            };
        }
        self.nodes[at].fields.push(field);
    }

    /// The wanted fields of a row, in the order of their names. A wanted field that stands twice is an error: which one is meant?
    pub fn read<'a>(&self, row: &'a [u8]) -> Result<Vec<Parsed<'a>>, serde_json::Error> {
        match self.read_plain(row) {
            Some(values) => Ok(values),
            None => self.read_any(row),
        }
    }

    /// The common case: an object whose wanted fields hold strings, numbers or null. `None`, also where the row is faulty, leaves
    /// the row to [`Self::read_any`], so that there is one judge of what is an error.
    fn read_plain<'a>(&self, row: &'a [u8]) -> Option<Vec<Parsed<'a>>> {
        let mut row = PlainRow::new(row, self.unescaper);
        let mut values = vec![Parsed::Missing; self.fields];
        let wanted = &self.nodes[0].children;
        let mut seen = 0u64;
        row.expect(b'{')?;
        loop {
            row.expect(b'"')?;
            let name = row.unescaped()?;
            row.expect(b':')?;
            match wanted.iter().position(|(child, _)| child == name) {
                None => row.pass_over()?,
                Some(place) => {
                    let node = &self.nodes[wanted[place].1];
                    if seen >> place & 1 == 1 || !node.children.is_empty() {
                        return None;
                    }
                    seen |= 1 << place;
                    let value = row.value()?;
                    if node.fields.iter().any(|&field| values[field] != Parsed::Missing) {
                        return None;
                    }
                    let (&last, others) = node.fields.split_last()?;
                    others.iter().for_each(|&field| values[field] = value.clone());
                    values[last] = value;
                }
            }
            if row.expect(b',').is_none() {
                row.expect(b'}')?;
                return row.at_end().then_some(values);
            }
        }
    }

    fn read_any<'a>(&self, row: &'a [u8]) -> Result<Vec<Parsed<'a>>, serde_json::Error> {
        let mut values = vec![Parsed::Missing; self.fields];
        let mut deserializer = serde_json::Deserializer::from_slice(row);
        let top = Seed { reader: self, node: 0, values: &mut values, top: true };
        top.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(values)
    }
}

struct Seed<'r, 'v, 'a> {
    reader: &'r FieldReader,
    node: usize,
    values: &'v mut Vec<Parsed<'a>>,
    top: bool,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Seed<'_, '_, 'de> {
    fn set<E: serde::de::Error>(self, value: Parsed<'de>) -> Result<(), E> {
        if self.top {
            return Err(E::custom("a row must be an object"));
        }
        for &field in &self.reader.nodes[self.node].fields {
            if self.values[field] != Parsed::Missing {
                return Err(E::custom("a wanted field stands twice"));
            }
            self.values[field] = value.clone();
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<(), E> {
        self.set(Parsed::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.set(Parsed::Text(Cow::Owned(text.to_string())))
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.set(Parsed::Other("a boolean"))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<(), E> {
        self.set(Parsed::Integer(number.into()))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<(), E> {
        self.set(Parsed::Integer(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<(), E> {
        self.set(Parsed::Real(number))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.set(Parsed::Missing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        self.set(Parsed::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let node = &self.reader.nodes[self.node];
        let mut seen = 0u64;
        while let Some(child) = map.next_key_seed(Key(node))? {
            let Some(place) = child else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if seen >> place & 1 == 1 {
                return Err(A::Error::custom(format_args!("the field '{}' stands twice", node.children[place].0)));
            }
            seen |= 1 << place;
            let seed = Seed { reader: self.reader, node: node.children[place].1, values: &mut *self.values, top: false };
            map.next_value_seed(seed)?;
        }
        if self.top || node.fields.is_empty() { Ok(()) } else { self.set(Parsed::Other("an object")) }
    }
}

/// A key: the place of the child with that name, or none.
struct Key<'r>(&'r Node);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.0.children.iter().position(|(child, _)| child == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(names: &[&str], row: &'a str) -> Result<Vec<Parsed<'a>>, String> {
        FieldReader::new(names).read(row.as_bytes()).map_err(|e| e.to_string())
    }

    fn text(text: &str) -> Parsed<'_> {
        Parsed::Text(Cow::Borrowed(text))
    }

    #[test]
    fn wanted_fields_are_found_wherever_they_stand() {
        let row = r#"{"x":[{"text":1}],"meta":{"url":"u","deep":{"n":2}},"text":"a\nb","id":7,"s":0.5}"#;
        let found = read(&["text", "id", "meta.url", "meta.deep.n", "s", "none"], row).unwrap();
        assert_eq!(found, [text("a\nb"), Parsed::Integer(7), text("u"), Parsed::Integer(2), Parsed::Real(0.5), Parsed::Missing]);
        assert_eq!(read(&["a.b"], r#"{"a.b":"flat"}"#).unwrap(), [text("flat")]);
        assert_eq!(read(&["x", "x"], r#"{"x":"both"}"#).unwrap(), [text("both"), text("both")]);
        assert_eq!(read(&["meta"], r#"{"meta":{"a":1}}"#).unwrap(), [Parsed::Other("an object")]);
        assert_eq!(read(&["a"], r#"{"a":null}"#).unwrap(), [Parsed::Missing]);
    }

    /// The quick way and serde_json agree on every row, the faulty ones too.
    #[test]
    fn both_ways_read_the_same() {
        let values = [
            r#""plain""#,
            r#""""#,
            r#""a\nb\t\"c\"\\ \/ \b\f\r""#,
            r#""\u00e9\u4e2d\ud83d\ude00 \u0000""#,
            r#""\ud800""#,
            r#""\udc00x""#,
            r#""\ud83d\u0041""#,
            r#""\ud83dx""#,
            r#""\u12g4""#,
            r#""\u12"#,
            r#""\x""#,
            r#""open"#,
            r#""end\"#,
            "7",
            "-7",
            "0",
            "-0",
            "01",
            "1.5",
            "1e3",
            "1e999",
            "-",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775809",
            "null",
            "nul",
            "true",
            "false",
            "[1,\"a\"]",
            "[1",
            "{\"a\":1}",
            "{}",
            "",
            "é",
            "\"é漢😀\"",
            "\"tab\there\"",
            "1 2",
            "\"a\" \"b\"",
            "\"\u{7f}\"",
            "1x",
            "nullx",
        ];
        let mut rows = vec![
            String::new(),
            "{}".into(),
            " { } ".into(),
            "{".into(),
            "{,}".into(),
            "{\"text\":\"a\",}".into(),
            "[]".into(),
            "\"text\"".into(),
        ];
        for value in values {
            for name in ["text", "id", "other", "a.b", "a", "t\\u0065xt", "t\\next"] {
                rows.push(format!("{{\"{name}\":{value}}}"));
                rows.push(format!("{{ \"other\" : 1 , \"{name}\" : {value} , \"z\" : {value} }}"));
                rows.push(format!("{{\"{name}\":{value},\"text\":\"t\"}} "));
                rows.push(format!("{{\"{name}\":{value}}} x"));
                rows.push(format!("{{\"{name}\"\t:{value}\r}}"));
                rows.push(format!("{{\"{name}\" {value}}}"));
                rows.push(format!("{{{name}:{value}}}"));
            }
        }
        for names in [&["text", "id", "a.b", "none"][..], &["text", "text", "id"], &["a", "a.b", "other"]] {
            let reader = FieldReader::new(names);
            let mut plain = 0;
            for row in &rows {
                let by_serde = reader.read_any(row.as_bytes()).map_err(|e| e.to_string());
                plain += usize::from(reader.read_plain(row.as_bytes()).is_some());
                assert_eq!(reader.read(row.as_bytes()).map_err(|e| e.to_string()), by_serde, "{row}");
            }
            assert!(plain > 100, "{plain} rows of {} take the quick way", rows.len());
        }
        let reader = FieldReader::new(&["text"]);
        for bytes in [&b"{\"text\":\"\xff\"}"[..], b"{\"other\":\"\xff\",\"text\":\"a\"}", b"{\"text\":\"a\0b\"}"] {
            assert_eq!(reader.read(bytes).map_err(|e| e.to_string()), reader.read_any(bytes).map_err(|e| e.to_string()));
        }
    }

    /// Machines with wide instructions, others and serde_json agree on strings of several blocks, wherever something stands in them.
    #[test]
    fn long_strings_are_read_the_same_on_every_machine() {
        let pieces = [
            r#"\n"#,
            r#"\""#,
            r#"\/"#,
            r#"\\"#,
            r#"\t"#,
            r#"\r"#,
            r#"\b"#,
            r#"\f"#,
            r#"\u00e9"#,
            r#"\u0022"#,
            r#"\u005c"#,
            r#"\u0000"#,
            r#"\ud83d\ude00"#,
            r#"\ud83d\n"#,
            r#"\ud83d"#,
            r#"\udc00"#,
            r#"\ud83dx"#,
            r#"\u12g4"#,
            r#"\u12"#,
            r#"\x"#,
            r#"\N"#,
            r#"\é"#,
            r#"\t\t"#,
            r#"\n\n\n"#,
            r#"\"\""#,
            r#"n\nn"#,
            "\"",
            "\"\"",
            "\\\u{1f}",
            "\u{0}",
            "\n",
            "\u{1f}",
            "\u{7f}",
            "é",
            "漢",
            "😀",
        ];
        let runs = (1..=5).flat_map(|length| ["", "n", "\"", "t", "u00e9", "a"].map(|behind| "\\".repeat(length) + behind));
        let pieces: Vec<String> = pieces.map(String::from).into_iter().chain(runs).collect();
        let machine = FieldReader::new(&["text"]);
        let others = FieldReader { unescaper: Unescaper::idle(), ..FieldReader::new(&["text"]) };
        let mut plain = 0;
        for (piece, before) in pieces.iter().flat_map(|piece| (0..=132).map(move |before| (piece, before))) {
            for (start, behind) in [("\\n", ""), ("\\n", "b"), ("\\n", "\\nbéb\\\""), ("", "")] {
                for end in ["\"}", "\" }", "", "\\", "\\\"}"] {
                    let row = format!("{{\"text\":\"{start}{}{piece}{}{end}", "a".repeat(before), behind.repeat(66));
                    let row = row.as_bytes();
                    let by_serde = machine.read_any(row).map_err(|e| e.to_string());
                    let read = machine.read_plain(row);
                    assert_eq!(read, others.read_plain(row), "{}", String::from_utf8_lossy(row));
                    assert_eq!(read.as_ref(), by_serde.as_ref().ok(), "{}", String::from_utf8_lossy(row));
                    assert_eq!(machine.read(row).map_err(|e| e.to_string()), by_serde);
                    plain += usize::from(read.is_some());
                }
            }
        }
        assert!(plain > 10_000, "{plain} rows take the quick way");
        for at in 0..200 {
            let mut row = format!("{{\"text\":\"\\n{}\"}}", "a".repeat(200)).into_bytes();
            row[11 + at] = 0xff;
            assert_eq!((machine.read_plain(&row), others.read_plain(&row)), (None, None), "no UTF-8 at {at}");
        }
    }

    #[test]
    fn bad_rows_are_errors() {
        for bad in ["", "{", "[1]", "3", "{\"text\":\"\\ud800\"}", "{\"text\":\"a\"} x", "{\"text\":\"a\",\"text\":\"b\"}"] {
            assert!(read(&["text"], bad).is_err(), "{bad}");
        }
        assert!(read(&["a.b"], r#"{"a.b":1,"a":{"b":2}}"#).is_err());
        assert!(read(&["text"], r#"{"other":1,"other":2,"text":"a"}"#).is_ok(), "only wanted fields matter");
    }

    #[test]
    fn nesting_cannot_overflow_the_stack() {
        let deep = format!("{{\"x\":{}{},\"text\":\"a\"}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(&["text"], &deep).unwrap(), [text("a")]);
        assert!(read(&["text"], &"[".repeat(1_000_000)).is_err());
        let wanted = format!("{{\"text\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(&["text"], &wanted).unwrap(), [Parsed::Other("a list")]);
    }
}
