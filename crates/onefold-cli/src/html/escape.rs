//! The one way by which a value gets into a page.
//!
//! Five characters become entities; characters that a reader cannot see, or that reorder what he sees, are shown by name.
//! So the text of a parsed page is [`visible`] of the text that went in, whatever that was.

use std::borrow::Cow;

/// What becomes of line ends and tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// They stay: running text, shown with its line ends.
    Kept,
    /// They are shown as signs: names, where a line end is a trick.
    Shown,
}

/// Appends `text` so that a parser reads back [`visible`] of it, in elements and in quoted attributes.
pub fn escape_into(out: &mut String, text: &str, lines: Lines) {
    for character in visible(text, lines).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

/// The text with every hidden or steering character replaced by something that can be seen.
pub fn visible(text: &str, lines: Lines) -> Cow<'_, str> {
    let stays = |c: char| !is_hidden(c) || (lines == Lines::Kept && matches!(c, '\n' | '\t'));
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if stays(character) { shown.push(character) } else { show(&mut shown, character) }
    }
    Cow::Owned(shown)
}

/// Controls, marks that turn the direction of writing, separators that break lines in scripts, tags, non-characters.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e007f}')
        || u32::from(c) & 0xfffe == 0xfffe
}

fn show(out: &mut String, c: char) {
    match u32::from(c) {
        // Unicode has pictures of the ASCII controls: ␀, ␛, ␊.
        code @ 0..0x20 => out.extend(char::from_u32(0x2400 + code)),
        0x7f => out.push('\u{2421}'),
        code => out.push_str(&format!("⟨U+{code:04X}⟩")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str, lines: Lines) -> String {
        let mut out = String::new();
        escape_into(&mut out, text, lines);
        out
    }

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escaped("<a b=\"c\" d='e'>&amp;", Lines::Kept), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
    }

    #[test]
    fn what_steers_the_reader_is_shown() {
        assert_eq!(escaped("a\0b\u{1b}[31m\u{7f}\u{85}\u{202e}txt", Lines::Kept), "a␀b␛[31m␡⟨U+0085⟩⟨U+202E⟩txt");
        assert_eq!(escaped("\u{feff}\u{ffff}\u{e0041}\u{2028}", Lines::Kept), "⟨U+FEFF⟩⟨U+FFFF⟩⟨U+E0041⟩⟨U+2028⟩");
    }

    #[test]
    fn line_ends_stay_in_texts_and_show_in_names() {
        assert_eq!(escaped("a\n\tb\r", Lines::Kept), "a\n\tb␍");
        assert_eq!(escaped("a\n\tb\r", Lines::Shown), "a␊␉b␍");
    }

    #[test]
    fn ordinary_writing_is_left_alone() {
        for text in ["naïve 文書 עברית", "می\u{200c}خواهم", "👩\u{200d}🚀"] {
            assert_eq!(escaped(text, Lines::Shown), text);
        }
    }
}
