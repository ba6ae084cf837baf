//! Tables that a screen reader can walk and a narrow window can show.

use super::{Html, el};

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Text,
    /// Figures, set flush right.
    Number,
    /// Figures that narrow windows leave out; the other columns must make sense without them.
    Detail,
}

/// A table in the making. The first cell of a row names it.
#[derive(Debug)]
pub struct Table {
    caption: String,
    columns: Vec<(String, Align)>,
    rows: Html,
}

impl Table {
    /// A table with a caption.
    pub fn new(caption: &str) -> Self {
        Table { caption: caption.into(), columns: Vec::new(), rows: Html::empty() }
    }

    /// With one more column.
    pub fn column(mut self, heading: &str, align: Align) -> Self {
        self.columns.push((heading.into(), align));
        self
    }

    /// Adds a row, a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Html>) {
        let cells: Html = (cells.into_iter().zip(&self.columns).enumerate())
            .map(|(at, (cell, (_, align)))| match at {
                0 => el("th").attr("scope", "row").with(cell),
                _ => el("td").class(class(*align)).with(cell),
            })
            .collect();
        self.rows.push(el("tr").with(cells));
    }

    /// The table. The frame around it scrolls, by keyboard too, where a narrow window cannot hold it.
    pub fn render(self) -> Html {
        let headings: Html = (self.columns.iter())
            .map(|(heading, align)| el("th").attr("scope", "col").class(class(*align)).with(heading.as_str()))
            .collect();
        let table = el("table")
            .with(el("caption").with(self.caption.as_str()))
            .with(el("thead").with(el("tr").with(headings)))
            .with(el("tbody").with(self.rows));
        el("div").class("scroll").attr("tabindex", 0).attr("role", "region").attr("aria-label", &self.caption).with(table).into()
    }
}

fn class(align: Align) -> &'static str {
    match align {
        Align::Text => "words",
        Align::Number => "number",
        Align::Detail => "number detail",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_and_cells_escaped() {
        let mut table = Table::new("Sizes").column("name", Align::Text).column("count", Align::Number);
        table.row(["<b>".into(), "1".into()]);
        let html = table.render().0;
        for part in ["<caption>Sizes</caption>", "<th scope=\"row\">&lt;b&gt;</th>", "<td class=\"number\">1</td>"] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
