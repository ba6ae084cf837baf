//! Judged pairs: CSV or TSV with a header that names `id_a`, `id_b` and perhaps `label`; other columns are ignored.
//!
//! In: the text of a file that [`is_header`] recognised. Out: [`Gold::Pairs`], sorted, each pair once. A label of at
//! least 1 is positive. `(a, b)` and `(b, a)` are the same pair; two labels for it must agree on the sign.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use csv::{ReaderBuilder, StringRecord};

use super::{Gold, GoldProblem, JudgedPair};

/// Whether a line names one of the document columns, however it is delimited.
pub(super) fn is_header(line: &str) -> bool {
    let mut names = line.split([',', '\t', ';', ' ', '"']);
    names.any(|name| name.eq_ignore_ascii_case("id_a") || name.eq_ignore_ascii_case("id_b"))
}

/// Reads a table whose first line, the header, is `first`.
pub(super) fn read(text: &str, first: &str) -> Result<Gold, GoldProblem> {
    let delimiter = if first.contains('\t') { b'\t' } else { b',' };
    let mut reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(text.as_bytes());
    let mut columns = None;
    let mut judged = Judged::default();
    for record in reader.records() {
        let record = record.map_err(|error| unreadable(&error))?;
        if is_blank(&record) {
            continue;
        }
        let line = line_of(text, &record);
        match &columns {
            None => columns = Some(Columns::of(line, &record)?),
            Some(columns) => columns.judge(line, &record, &mut judged)?,
        }
    }
    judged.finish(columns.is_some_and(|columns| columns.label.is_some()))
}

/// Whether a record is a line of spaces; the reader skips only lines of nothing.
fn is_blank(record: &StringRecord) -> bool {
    record.len() == 1 && record[0].trim().is_empty()
}

fn unreadable(error: &csv::Error) -> GoldProblem {
    let line = error.position().map_or(0, csv::Position::line);
    GoldProblem::Table { line: usize::try_from(line).unwrap_or(usize::MAX), reason: error.to_string() }
}

/// The line on which a record begins. The reader places a record where the one before it ended, so that blank lines
/// between the two still have to be counted.
fn line_of(text: &str, record: &StringRecord) -> usize {
    let Some(position) = record.position() else {
        return 0;
    };
    let byte = usize::try_from(position.byte()).unwrap_or(0);
    let line = usize::try_from(position.line()).unwrap_or(0);
    let rest = text.as_bytes().get(byte..).unwrap_or_default();
    let blank = rest.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r');
    line + blank.filter(|&&byte| byte == b'\n').count()
}

/// Where the columns of interest are.
struct Columns {
    a: usize,
    b: usize,
    label: Option<usize>,
    count: usize,
}

impl Columns {
    fn of(line: usize, header: &StringRecord) -> Result<Columns, GoldProblem> {
        let find = |wanted: &str| {
            let mut names = header.iter();
            names.position(|name| name.trim().eq_ignore_ascii_case(wanted))
        };
        let need = |missing| find(missing).ok_or(GoldProblem::Header { line, missing });
        Ok(Columns { a: need("id_a")?, b: need("id_b")?, label: find("label"), count: header.len() })
    }

    /// Adds the pair of one row.
    fn judge(&self, line: usize, row: &StringRecord, judged: &mut Judged) -> Result<(), GoldProblem> {
        if row.len() != self.count {
            let (expected, found) = (self.count, row.len());
            return Err(GoldProblem::Ragged { line, expected, found });
        }
        let positive = match self.label {
            Some(column) => is_positive(line, &row[column])?,
            None => true,
        };
        judged.add(line, row[self.a].trim(), row[self.b].trim(), positive)
    }
}

fn is_positive(line: usize, label: &str) -> Result<bool, GoldProblem> {
    match label.trim().parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(number >= 1.0),
        _ => {
            let found = super::problem::beginning(label);
            Err(GoldProblem::Label { line, found })
        }
    }
}

/// The pairs so far, with their sign and the line that first gave it.
#[derive(Default)]
struct Judged(BTreeMap<(String, String), (bool, usize)>);

impl Judged {
    fn add(&mut self, line: usize, a: &str, b: &str, positive: bool) -> Result<(), GoldProblem> {
        if a.is_empty() || b.is_empty() {
            return Err(GoldProblem::Nameless { line, what: "document" });
        }
        if a == b {
            let document = a.to_owned();
            return Err(GoldProblem::SelfPair { line, document });
        }
        match self.0.entry((a.min(b).to_owned(), a.max(b).to_owned())) {
            Entry::Vacant(place) => {
                place.insert((positive, line));
            }
            Entry::Occupied(place) => {
                let (before, earlier) = *place.get();
                if before != positive {
                    let (a, b) = place.key().clone();
                    return Err(GoldProblem::Contradiction { line, earlier, a, b });
                }
            }
        }
        Ok(())
    }

    fn finish(self, labelled: bool) -> Result<Gold, GoldProblem> {
        if self.0.is_empty() {
            return Err(GoldProblem::Empty);
        }
        let judged = self.0.into_iter();
        let pairs = judged.map(|((a, b), (positive, _))| JudgedPair { a, b, positive }).collect();
        Ok(Gold::Pairs { pairs, labelled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs as `a b sign`, and whether there were labels.
    fn parse(text: &str) -> (Vec<String>, bool) {
        let Gold::Pairs { pairs, labelled } = Gold::parse(text).unwrap() else { panic!("the text holds pairs") };
        let shown = |pair: &JudgedPair| format!("{} {} {}", pair.a, pair.b, if pair.positive { '+' } else { '-' });
        (pairs.iter().map(shown).collect(), labelled)
    }

    fn message(text: &str) -> String {
        Gold::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn tables_with_and_without_labels() {
        let commas = parse("id_a,id_b,label\nx,y,0.99\nz,y,1\ny,z,3\n");
        assert_eq!(commas, (vec!["x y -".to_owned(), "y z +".to_owned()], true));
        let tabs = parse("\u{feff}\n  \nnote\tID_B\tid_a\r\n7\tb\ta c\r\n");
        assert_eq!(tabs, (vec!["a c b +".to_owned()], false));
        let quoted = parse("\"id_a\",\"id_b\"\n\"a,1\",\"b\"\"2\"\n");
        assert_eq!(quoted, (vec!["a,1 b\"2 +".to_owned()], false));
    }

    #[test]
    fn faults_name_their_line() {
        assert_eq!(message("id_a,id_b\na,b\n\nc\n"), "line 4: expected 2 fields, found 1");
        assert_eq!(message("id_a\tid_b\r\na\tb\r\n\r\nc\td\te\r\n"), "line 4: expected 2 fields, found 3");
        assert_eq!(message("id_a,id_b,label\na,b,high\n"), "line 2: the label \"high\" is not a number");
        assert_eq!(message("id_a,id_b,label\na,b,NaN\n"), "line 2: the label \"NaN\" is not a number");
        assert_eq!(message("id_a,id_b\na,\n"), "line 2: the document is empty");
        assert_eq!(message("\"id_a\",id_b\n\"a\n\",b\nx,x\n"), "line 4: document \"x\" is paired with itself");
        assert_eq!(
            message("id_a,id_b,label\na,b,1\nc,d,0\nb,a,0\n"),
            "line 4: the pair \"a\" and \"b\" contradicts its label on line 2"
        );
    }

    #[test]
    fn half_a_header() {
        let missing = |name| format!("line 1: the header has no column {name} (columns are separated by commas or tabs)");
        assert_eq!(message("id_a,other\na,b\n"), missing("id_b"));
        assert_eq!(message("id_1\tid_b\na\tb\n"), missing("id_a"));
        assert_eq!(message("id_a id_b\na b\n"), missing("id_a"));
    }
}
