//! Tables as later stages write them: a schema, and cells by row and column; nothing is copied before it is written.

use std::borrow::Cow;

/// A column: its name, what it holds, whether it may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// As people know it.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether cells may be null.
    pub nullable: bool,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Yes or no.
    Bool,
    /// A whole number.
    Integer,
    /// Another number.
    Real,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Null,
    /// Text.
    Text(Cow<'a, str>),
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
}

impl<'a> Cell<'a> {
    /// Borrowed text.
    pub fn text(text: &'a str) -> Self {
        Cell::Text(Cow::Borrowed(text))
    }

    /// Null where there is none.
    pub fn optional<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell<'a>) -> Self {
        value.map_or(Cell::Null, cell)
    }
}

/// Rows that can be written.
pub trait Table {
    /// The columns.
    fn columns(&self) -> &[Column];
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Called before the cells of these rows are asked for, and no others.
    fn load(&self, _rows: std::ops::Range<usize>) -> crate::Result<()> {
        Ok(())
    }
    /// A value.
    fn cell(&self, row: usize, column: usize) -> Cell<'_>;
}

/// A required column.
pub(super) const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, nullable: false }
}

/// A column with nulls.
pub(super) const fn nullable(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, nullable: true }
}
