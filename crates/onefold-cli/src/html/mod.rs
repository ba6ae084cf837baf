//! A small kit for pages that open from disk: no script, no network, no template engine.
//!
//! In: values. Out: one HTML file. Invariant: markup is made only by [`el`], whose names are fixed in the program, and values
//! pass only through [`escape`], so no document can add an element to a page. Cost: one string. Drops nothing; cutting long
//! values is left to those who know what may be cut.

mod digest;
mod escape;
mod page;
pub mod plot;
mod table;

pub use escape::{Lines, escape_into};
pub use page::Page;
pub use table::{Align, Table};

use std::fmt::Display;

/// Finished markup.
#[derive(Clone, Debug, Default)]
pub struct Html(String);

impl Html {
    /// Nothing yet.
    pub fn empty() -> Self {
        Html::default()
    }

    /// A name or a sentence.
    pub fn text(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        escape_into(&mut out, text, Lines::Shown);
        Html(out)
    }

    /// Adds more behind it.
    pub fn push(&mut self, more: impl Into<Html>) {
        self.0.push_str(&more.into().0);
    }

    /// With more behind it.
    pub fn and(mut self, more: impl Into<Html>) -> Self {
        self.push(more);
        self
    }

    /// Bytes of markup.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Html {
    fn from(text: &str) -> Self {
        Html::text(text)
    }
}

impl From<String> for Html {
    fn from(text: String) -> Self {
        Html::text(&text)
    }
}

impl From<Element> for Html {
    fn from(element: Element) -> Self {
        let Element { name, attributes, content } = element;
        let end = if VOID.contains(&name) { String::new() } else { format!("</{name}>") };
        Html(format!("<{name}{attributes}>{}{end}", content.0))
    }
}

impl<T: Into<Html>> FromIterator<T> for Html {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Self {
        let mut all = Html::empty();
        parts.into_iter().for_each(|part| all.push(part));
        all
    }
}

/// Elements without content or end tag.
const VOID: [&str; 3] = ["meta", "br", "wbr"];

/// An element in the making. Names are fixed in the program; values are escaped.
#[derive(Debug)]
#[must_use]
pub struct Element {
    name: &'static str,
    attributes: String,
    content: Html,
}

/// An element without attributes or content.
pub fn el(name: &'static str) -> Element {
    Element { name, attributes: String::new(), content: Html::empty() }
}

impl Element {
    /// With an attribute.
    pub fn attr(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push(' ');
        self.attributes.push_str(name);
        self.attributes.push_str("=\"");
        escape_into(&mut self.attributes, &value.to_string(), Lines::Shown);
        self.attributes.push('"');
        self
    }

    /// With a class of the style sheet.
    pub fn class(self, class: &'static str) -> Self {
        self.attr("class", class)
    }

    /// With an attribute that needs no value.
    pub fn flag(mut self, name: &'static str) -> Self {
        self.attributes.push(' ');
        self.attributes.push_str(name);
        self
    }

    /// With more content; text is escaped.
    pub fn with(mut self, more: impl Into<Html>) -> Self {
        self.content.push(more);
        self
    }

    /// With running text whose line ends count.
    pub fn with_lines(mut self, text: &str) -> Self {
        escape_into(&mut self.content.0, text, Lines::Kept);
        self
    }
}

/// A name from outside: kept apart from the direction of writing around it, broken anywhere if it is long.
pub fn name(text: &str) -> Html {
    el("bdi").class("name").with(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_values_are_escaped() {
        let made = Html::from(el("p").attr("id", "a\"b").flag("open").with("1 < 2 ").with(el("b").with("x")).with(el("wbr")));
        assert_eq!(made.0, "<p id=\"a&quot;b\" open>1 &lt; 2 <b>x</b><wbr></p>");
    }
}
