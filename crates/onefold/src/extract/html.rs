//! HTML → the text that a reader sees.
//!
//! In: a page's characters. Out: its text, with line breaks where blocks end. Invariant: no tree, no recursion and no
//! buffer but the text itself, so neither nesting nor a huge comment, tag or script costs more than its bytes.
//! Cost: linear, one pass. Drops, unreported: tags, attributes, comments, and the contents of `title`, `script`, `style`,
//! `template`, `noscript`, `iframe` and `noembed`.
//!
//! There is no rule for `head`: apart from these elements it can hold no text, because for browsers the first word
//! in it begins the body. Text in `svg`, `math`, `textarea` and `noframes` is kept.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State, Tokenizer, naive_next_state};

/// Longer tag names can't be ones that matter here, and must not be able to fill the memory.
const LONGEST_NAME: usize = 32;

/// The visible text of a page.
pub(super) fn text(page: &str) -> String {
    let mut out = Vec::with_capacity(page.len() / 4);
    let is_xml = page.trim_ascii_start().starts_with("<?xml");
    let Ok(()) = Tokenizer::new_with_emitter(page, TextEmitter::new(&mut out, is_xml)).finish();
    out.truncate(out.trim_ascii_end().len());
    // Only whole characters are copied or left out; the lossy branch is there so that a tokenizer bug can't end a run.
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// What a tag does to the words on its two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    /// Joins them: `un<b>believ</b>able`.
    Nothing,
    /// Sets them apart in one line: table cells, pictures, form fields.
    Space,
    /// Puts them into different lines: blocks, and every element that is not listed.
    Line,
}

fn gap(name: &[u8]) -> Gap {
    match name {
        b"a" | b"abbr" | b"acronym" | b"b" | b"bdi" | b"bdo" | b"big" | b"blink" | b"cite" | b"code" | b"data" | b"del"
        | b"dfn" | b"em" | b"font" | b"i" | b"ins" | b"kbd" | b"label" | b"link" | b"mark" | b"meta" | b"nobr" | b"noscript"
        | b"output" | b"param" | b"q" | b"rb" | b"rp" | b"rt" | b"ruby" | b"s" | b"samp" | b"script" | b"slot" | b"small"
        | b"source" | b"span" | b"strike" | b"strong" | b"style" | b"sub" | b"sup" | b"template" | b"time" | b"track"
        | b"tspan" | b"tt" | b"u" | b"var" | b"wbr" => Gap::Nothing,
        b"math" | b"mi" | b"mn" | b"mo" | b"mover" | b"mpadded" | b"mrow" | b"ms" | b"mspace" | b"mstyle" | b"msub"
        | b"msubsup" | b"msup" | b"mtext" | b"munder" | b"munderover" | b"semantics" => Gap::Nothing,
        b"td" | b"th" | b"img" | b"input" | b"button" | b"select" | b"textarea" | b"meter" | b"progress" | b"mtd" | b"object"
        | b"embed" | b"iframe" | b"audio" | b"video" | b"canvas" | b"picture" | b"svg" => Gap::Space,
        _ => Gap::Line,
    }
}

/// Elements whose contents are one raw string that no reader sees.
fn is_hidden(name: &[u8]) -> bool {
    matches!(name, b"title" | b"script" | b"style" | b"noscript" | b"iframe" | b"noembed")
}

/// The form of the tag that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// `<p>`
    Start,
    /// `<p/>`, which means something in XML, SVG and `MathML` only.
    SelfClosing,
    /// `</p>`
    End,
}

/// Writes text as the tokenizer finds it. An emitter of our own, because html5gum's store attributes and comments.
struct TextEmitter<'a> {
    out: &'a mut Vec<u8>,
    /// XHTML: `<script/>` is closed, and CDATA is text.
    is_xml: bool,
    /// Inside of a hidden element; the next end tag is its own.
    hidden: bool,
    /// How many `template` and how many `svg` or `math` elements are open.
    templates: usize,
    foreign: usize,
    name: Vec<u8>,
    last_start: Vec<u8>,
    tag: Tag,
}

impl<'a> TextEmitter<'a> {
    fn new(out: &'a mut Vec<u8>, is_xml: bool) -> Self {
        let (name, last_start) = (Vec::new(), Vec::new());
        let (templates, foreign) = (0, 0);
        TextEmitter { out, is_xml, hidden: false, templates, foreign, name, last_start, tag: Tag::Start }
    }

    fn separate(&mut self, gap: Gap) {
        match (gap, self.out.last_mut()) {
            (Gap::Nothing, _) | (_, None | Some(b'\n')) | (Gap::Space, Some(b' ')) => {}
            (Gap::Line, Some(space @ b' ')) => *space = b'\n',
            (Gap::Line, _) => self.out.push(b'\n'),
            (Gap::Space, _) => self.out.push(b' '),
        }
    }

    fn open(&mut self) -> Option<State> {
        std::mem::swap(&mut self.last_start, &mut self.name);
        if self.tag == Tag::SelfClosing && (self.is_xml || self.foreign > 0) {
            return None;
        }
        let name = self.last_start.as_slice();
        self.hidden = is_hidden(name) && !(name == b"title" && self.foreign > 0);
        match name {
            b"svg" | b"math" => self.foreign += 1,
            b"template" => self.templates += 1,
            _ => {}
        }
        naive_next_state(name)
    }

    fn close(&mut self) {
        self.hidden = false;
        self.last_start.clear();
        match self.name.as_slice() {
            b"svg" | b"math" => self.foreign = self.foreign.saturating_sub(1),
            b"template" => self.templates = self.templates.saturating_sub(1),
            _ => {}
        }
    }
}

impl Emitter for TextEmitter<'_> {
    type Token = Infallible;

    fn emit_string(&mut self, text: &[u8]) {
        if self.hidden || self.templates > 0 {
            return;
        }
        // The source's line breaks between tags are not the page's.
        let at_gap = matches!(self.out.last(), None | Some(b'\n' | b' '));
        if !(at_gap && text.trim_ascii_start().is_empty()) {
            self.out.extend_from_slice(text);
        }
    }

    fn init_start_tag(&mut self) {
        self.name.clear();
        self.tag = Tag::Start;
    }

    fn init_end_tag(&mut self) {
        self.name.clear();
        self.tag = Tag::End;
    }

    fn push_tag_name(&mut self, part: &[u8]) {
        let room = LONGEST_NAME.saturating_sub(self.name.len());
        self.name.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn set_self_closing(&mut self) {
        if self.tag == Tag::Start {
            self.tag = Tag::SelfClosing;
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.separate(gap(&self.name));
        if self.tag != Tag::End {
            return self.open();
        }
        self.close();
        None
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.tag == Tag::End && !self.last_start.is_empty() && self.last_start == self.name
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.is_xml || self.foreign > 0
    }

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_start = name.unwrap_or_default().to_vec();
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    // Nothing below is text.
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_attribute(&mut self) {}
    fn push_attribute_name(&mut self, _: &[u8]) {}
    fn push_attribute_value(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn emit_current_doctype(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, expected: &str) {
        assert_eq!(text(page), expected, "{page}");
    }

    #[test]
    fn blocks_part_words_and_inline_elements_do_not() {
        check("<p>one<p>two<div>three</div>four", "one\ntwo\nthree\nfour");
        check("a<br>b<hr/>c", "a\nb\nc");
        check("<table><tr><td>1<td>2</td>\n <tr><th>3</th></table>", "1 2\n3");
        check("<ul>\n  <li>x</li>\n  <li>y</li>\n</ul>", "x\ny");
        check("<select><option>x<option>y</select>", "x\ny");
        check("un<b>believ</b><i>a</i><a href=x>bl</a><wbr>e H<sub>2</sub>O", "unbelievable H2O");
        check("a <b>b</b> <i>c</i>", "a b c");
        check("left<img src=x>right<my-card>card</my-card>", "left right\ncard");
        check("<pre>fn a() {\n    <b>b</b>\n}</pre>", "fn a() {\n    b\n}");
    }

    #[test]
    fn hidden_elements_are_dropped() {
        check("<head><title>t</title><style>p{}</style><script>if (a<b) '</p>'</script></head>x", "x");
        check("a<script>document.write('<p>b</p>')</script>c", "ac");
        check("a<noscript><p>on</p></noscript><iframe><p>f</iframe>b", "a b");
        check("a<template>b<template>c</template>d</template>e", "ae");
        check("a<!-- b --><!-- <p> -->c<!doctype html><?php x ?>d<![CDATA[e]]>", "acd");
        check("a</script></template>b", "ab");
    }

    #[test]
    fn a_head_ends_where_text_begins() {
        check("<html><head><title>t</title><p>body", "body");
        check("<head><meta charset=utf-8>words<body>more", "words\nmore");
        check("<title>t</title>words", "words");
    }

    #[test]
    fn character_references_are_decoded_and_soft_hyphens_stay() {
        check("a&amp;b &lt;p&gt; &auml;&#246;&#x20AC; &notin; &copy 1 &nonsense; R&D", "a&b <p> äö€ ∉ © 1 &nonsense; R&D");
        check("x&nbsp;y hy&shy;phen", "x\u{A0}y hy\u{AD}phen");
        check("<textarea>a &amp; <b></textarea>", "a & <b>");
    }

    #[test]
    fn svg_and_math_text_is_kept() {
        check("a<svg><title>t</title><script/><text>x</text><![CDATA[<y>]]></svg>b", "a\nt\nx\n<y> b");
        check("<math><mi>x</mi><mo>+</mo><mn>1</mn></math>", "x+1");
    }

    #[test]
    fn xhtml_closes_empty_elements() {
        let body = "<html><head><title/><script src='x'/></head><p>a</p></html>";
        check(&format!("<?xml version='1.0'?>{body}"), "a");
        check(body, "");
    }

    #[test]
    fn broken_pages_end() {
        check("a<script>b", "a");
        check("a<p", "a");
        check("a<!-- b", "a");
        check(&format!("{}x", "<div>".repeat(10_000)), "x");
        check(&format!("<{}>x</p>", "n".repeat(10_000)), "x");
        check("", "");
    }

    #[test]
    fn the_tokenizer_reads_every_hidden_element_raw() {
        for name in [&b"title"[..], b"script", b"style", b"noscript", b"iframe", b"noembed"] {
            assert!(is_hidden(name) && naive_next_state(name).is_some());
        }
    }
}
