//! Classes of documents, in three spellings.
//!
//! In: the text of a file. Out: [`Gold::Classes`]. The same class on several lines is one class. A document may be
//! listed again in its class, not in another.

use std::collections::HashSet;
use std::collections::btree_map::{BTreeMap, Entry};

use serde::Deserialize;

use super::problem::beginning;
use super::{Gold, GoldProblem, numbered};

/// The class of each document so far.
#[derive(Default)]
pub(super) struct Classes(BTreeMap<String, String>);

impl Classes {
    /// Puts a document into a class.
    pub(super) fn add(&mut self, line: Option<usize>, document: String, class: String) -> Result<(), GoldProblem> {
        match self.0.entry(document) {
            Entry::Occupied(known) if *known.get() != class => {
                Err(GoldProblem::TwoClasses { line, document: known.key().clone(), first: known.get().clone(), second: class })
            }
            Entry::Occupied(_) => Ok(()),
            Entry::Vacant(place) => {
                place.insert(class);
                Ok(())
            }
        }
    }

    /// All classes, of which there is at least one.
    pub(super) fn finish(self) -> Result<Gold, GoldProblem> {
        match self.0.is_empty() {
            true => Err(GoldProblem::Empty),
            false => Ok(Gold::Classes(self.0)),
        }
    }
}

/// A name in JSON; other programs write ids that are numbers without quotes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Number(serde_json::Number),
}

impl Name {
    fn into_text(self) -> String {
        match self {
            Name::Text(text) => text,
            Name::Number(number) => number.to_string(),
        }
    }
}

#[derive(Deserialize)]
struct Group {
    hash: Name,
    ids: Vec<Name>,
}

/// Reads lines of `{"hash": …, "ids": […]}`; other keys are ignored.
pub(super) fn read_json_lines(text: &str) -> Result<Gold, GoldProblem> {
    let mut classes = Classes::default();
    for (line, content) in numbered(text) {
        let group: Group = serde_json::from_str(content).map_err(|error| GoldProblem::Json { line, reason: reason(&error) })?;
        let class = group.hash.into_text();
        for document in group.ids {
            add_named(&mut classes, line, &class, &document.into_text())?;
        }
    }
    classes.finish()
}

/// What the JSON reader said, without its own line number: it sees one line at a time and would say 1.
fn reason(error: &serde_json::Error) -> String {
    let said = error.to_string();
    match said.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => said,
    }
}

/// Reads `class_id doc_id`, two words a line.
pub(super) fn read_words(text: &str) -> Result<Gold, GoldProblem> {
    let mut classes = Classes::default();
    for (at, (line, content)) in numbered(text).enumerate() {
        let words: Vec<&str> = content.split_whitespace().collect();
        match words[..] {
            [class, document] if at == 0 && is_header(class, document) => {}
            [class, document] => add_named(&mut classes, line, class, document)?,
            _ if at == 0 => {
                let found = beginning(content);
                return Err(GoldProblem::Unrecognised { line, found });
            }
            _ => {
                let (expected, found) = (2, words.len());
                return Err(GoldProblem::Ragged { line, expected, found });
            }
        }
    }
    classes.finish()
}

/// Reads lines of tab-separated fields, a class and its documents. A class may also span several lines.
///
/// Documents may be separated by spaces instead, in a second and last field. As ids may hold spaces themselves
/// (paths), a file is read so only where reading it otherwise would make every class a single document: no line has a
/// third field, and no class comes twice.
pub(super) fn read_tabs(text: &str) -> Result<Gold, GoldProblem> {
    let mut rows = Vec::new();
    for (at, (line, content)) in numbered(text).enumerate() {
        let row = Row::of(line, content)?;
        let header = at == 0 && row.documents.iter().all(|document| is_header(row.class, document));
        if !header {
            rows.push(row);
        }
    }
    let spaced = are_spaced(&rows);
    let mut classes = Classes::default();
    for Row { line, class, documents } in &rows {
        for document in documents {
            let parts = document.split(|letter| spaced && letter == ' ');
            for part in parts.filter(|part| !part.is_empty()) {
                add_named(&mut classes, *line, class, part)?;
            }
        }
    }
    classes.finish()
}

/// A class and the fields after it.
struct Row<'a> {
    line: usize,
    class: &'a str,
    documents: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// Empty fields after the class are ignored: spreadsheets pad short rows with them.
    fn of(line: usize, content: &'a str) -> Result<Row<'a>, GoldProblem> {
        let mut fields = content.split('\t').map(str::trim);
        let class = fields.next().unwrap_or_default();
        let documents: Vec<&str> = fields.filter(|field| !field.is_empty()).collect();
        if class.is_empty() {
            return Err(GoldProblem::Nameless { line, what: "class" });
        }
        if documents.is_empty() {
            let (expected, found) = (2, 1);
            return Err(GoldProblem::Ragged { line, expected, found });
        }
        Ok(Row { line, class, documents })
    }
}

fn are_spaced(rows: &[Row]) -> bool {
    let distinct: HashSet<&str> = rows.iter().map(|row| row.class).collect();
    distinct.len() == rows.len() && rows.iter().all(|row| row.documents.len() == 1)
}

/// Whether a first line only names its columns.
fn is_header(class: &str, document: &str) -> bool {
    class.eq_ignore_ascii_case("class_id") && document.eq_ignore_ascii_case("doc_id")
}

fn add_named(classes: &mut Classes, line: usize, class: &str, document: &str) -> Result<(), GoldProblem> {
    for (name, what) in [(class, "class"), (document, "document")] {
        if name.is_empty() {
            return Err(GoldProblem::Nameless { line, what });
        }
    }
    classes.add(Some(line), document.to_owned(), class.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The classes as `document=class`.
    fn parse(text: &str) -> Vec<String> {
        let Gold::Classes(classes) = Gold::parse(text).unwrap() else { panic!("the text holds classes") };
        classes.iter().map(|(document, class)| format!("{document}={class}")).collect()
    }

    fn message(text: &str) -> String {
        Gold::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_spelling_of_the_same_classes() {
        let expected = ["d1=c1", "d2=c1", "d3=c2"];
        for text in [
            "c1 d1\nc1  d2\nc2 d3\n",
            "class_id doc_id\nc1 d1\nc2 d3\n\nc1 d2",
            "class_id\tdoc_id\r\nc1\td1\r\nc1\td2\r\nc2\td3\r\n",
            "c1\td1\td2\nc2\td3\t\t\n",
            "c1\td1 d2\nc2\td3\n",
            "{\"hash\":\"c1\",\"ids\":[\"d1\",\"d2\",\"d1\"]}\n{\"ids\":[\"d3\"],\"hash\":\"c2\",\"more\":1}\n",
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        assert_eq!(parse("{\"hash\":14000,\"ids\":[7]}"), ["7=14000"]);
    }

    #[test]
    fn spaces_inside_ids() {
        assert_eq!(parse("c1\ta b\nc1\tc d\n"), ["a b=c1", "c d=c1"]);
        assert_eq!(parse("c1\ta b\tc d\nc2\te f\n"), ["a b=c1", "c d=c1", "e f=c2"]);
    }

    #[test]
    fn faults_name_their_line() {
        assert_eq!(message("c1 d1\n\nc1 d2 d3\n"), "line 3: expected 2 fields, found 3");
        assert_eq!(message("c1\td1\nc2\n"), "line 2: expected 2 fields, found 1");
        assert_eq!(message("c1\td1\n\td2\n"), "line 2: the class is empty");
        assert_eq!(message("c1 d1\nc2 d1\n"), "line 2: document \"d1\" is in two classes, \"c1\" and \"c2\"");
        assert!(message("a,b\nc,d\n").starts_with("line 1: expected a header naming id_a and id_b"));
        assert_eq!(
            message("{\"hash\":\"1\",\"ids\":[]}\n{\"ids\":[]}\n"),
            "line 2: not an object with \"hash\" and \"ids\": missing field `hash`"
        );
        assert_eq!(message("{\"hash\":\"1\",\"ids\":[\"\"]}"), "line 1: the document is empty");
    }
}
