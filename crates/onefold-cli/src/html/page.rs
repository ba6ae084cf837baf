//! A whole page: policy, style, landmarks, sections with their place in the contents.

use super::digest::source_hash;
use super::{Html, el};

/// The only style sheet; the policy names its digest, so no other applies.
const STYLE: &str = include_str!("style.css");

/// A page in the making.
#[derive(Debug)]
pub struct Page {
    title: String,
    header: Html,
    contents: Html,
    sections: Html,
    footer: Html,
}

impl Page {
    /// A page with a title for the window and a header for the reader.
    pub fn new(title: &str, header: Html) -> Self {
        Page { title: title.into(), header, contents: Html::empty(), sections: Html::empty(), footer: Html::empty() }
    }

    /// Adds a section; `id` is its address inside the page.
    pub fn section(&mut self, id: &'static str, heading: &str, body: Html) {
        self.contents.push(el("li").with(el("a").attr("href", format_args!("#{id}")).with(heading)));
        let heading = el("h2").attr("id", id).with(heading);
        self.sections.push(el("section").attr("aria-labelledby", id).with(heading).with(body));
    }

    /// Sets the last lines.
    pub fn footer(&mut self, footer: Html) {
        self.footer = footer;
    }

    /// The file.
    pub fn render(self) -> String {
        let policy =
            format!("default-src 'none'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'", source_hash(STYLE));
        // The policy comes before the style it governs; UTF-8 must stand in the first 1,024 bytes.
        let head = el("head")
            .with(el("meta").attr("charset", "utf-8"))
            .with(el("meta").attr("http-equiv", "Content-Security-Policy").attr("content", policy))
            .with(el("meta").attr("name", "viewport").attr("content", "width=device-width, initial-scale=1"))
            .with(el("meta").attr("name", "color-scheme").attr("content", "light dark"))
            .with(el("meta").attr("name", "referrer").attr("content", "no-referrer"))
            .with(el("title").with(self.title))
            .with(el("style").with(Html(STYLE.into())));
        let contents = el("nav").attr("aria-label", "Contents").with(el("ol").with(self.contents));
        let body = el("body")
            .with(el("a").class("skip").attr("href", "#main").with("Skip to the report"))
            .with(el("header").with(self.header))
            .with(contents)
            .with(el("main").attr("id", "main").with(self.sections))
            .with(el("footer").with(self.footer));
        let page = Html::from(el("html").attr("lang", "en").with(head).with(body));
        format!("<!doctype html>\n{}\n", page.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_policy_its_landmarks_and_no_script() {
        let mut page = Page::new("a <title>", el("h1").with("x & y").into());
        page.section("first", "First", el("p").with("text").into());
        let page = page.render();
        for part in
            ["<title>a &lt;title&gt;</title>", "style-src &#39;sha256-", "<main id=\"main\">", "<h2 id=\"first\">First</h2>"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<script") && !page.contains("http:") && !page.contains("https:"));
        assert!(!STYLE.contains("</") && !STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
