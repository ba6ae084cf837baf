//! A word diff for the terminal: coloured, or with `[-gone-]` and `{+new+}` where there are no colours.

use std::io::IsTerminal;

use clap::ValueEnum;
use onefold::{Comparison, Kind, printable};

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Words of an unchanged run that are shown at each end.
const CONTEXT: usize = 12;
/// Columns of a line.
const WIDTH: usize = 96;

/// Writes diffs.
pub struct Painter {
    colored: bool,
}

impl Painter {
    /// Colours as asked for.
    pub fn new(color: Color) -> Self {
        let colored = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::io::stdout().is_terminal(),
        };
        Painter { colored }
    }

    /// The differences, wrapped and indented; long unchanged runs are cut out.
    pub fn paint(&self, found: &Comparison) -> String {
        let mut lines = Lines::default();
        for change in &found.diff.changes {
            match change.kind {
                Kind::Equal => self.unchanged(&found.first[change.first.clone()], &mut lines),
                Kind::Removed => {
                    self.marked(&found.first[change.first.clone()], ("\x1b[31m", "\x1b[0m"), ("[-", "-]"), &mut lines)
                }
                Kind::Added => {
                    self.marked(&found.second[change.second.clone()], ("\x1b[32m", "\x1b[0m"), ("{+", "+}"), &mut lines)
                }
            }
        }
        let mut text = lines.finish();
        if found.diff.approximate {
            text.push_str("\n  (so much differs that not the shortest difference is shown)\n");
        }
        text
    }

    fn unchanged(&self, words: &[String], lines: &mut Lines) {
        if words.len() <= 2 * CONTEXT + 4 {
            return words.iter().for_each(|word| lines.push(&printable(word), "", ""));
        }
        words[..CONTEXT].iter().for_each(|word| lines.push(&printable(word), "", ""));
        lines.push(&format!("… {} words …", words.len() - 2 * CONTEXT), "", "");
        words[words.len() - CONTEXT..].iter().for_each(|word| lines.push(&printable(word), "", ""));
    }

    fn marked(&self, words: &[String], color: (&str, &str), marks: (&str, &str), lines: &mut Lines) {
        for (at, word) in words.iter().enumerate() {
            let word = printable(word);
            if self.colored {
                lines.push(&word, color.0, color.1);
            } else {
                let open = if at == 0 { marks.0 } else { "" };
                let close = if at + 1 == words.len() { marks.1 } else { "" };
                lines.push(&format!("{open}{word}{close}"), "", "");
            }
        }
    }
}

/// Words put into lines; what steers the terminal takes no room.
#[derive(Default)]
struct Lines {
    text: String,
    column: usize,
}

impl Lines {
    fn push(&mut self, word: &str, before: &str, after: &str) {
        let width = word.chars().count();
        if self.column > 0 && self.column + 1 + width > WIDTH {
            self.text.push('\n');
            self.column = 0;
        }
        self.text.push_str(if self.column == 0 { "    " } else { " " });
        self.column += width + 1;
        self.text.extend([before, word, after]);
    }

    fn finish(mut self) -> String {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_marked_and_long_runs_cut() {
        let same: Vec<String> = (0..100).map(|n| format!("w{n}")).collect();
        let first = format!("{} gone", same.join(" "));
        let second = format!("{} new one", same.join(" "));
        let found = Comparison::new(&first, &second, onefold::Recipe::of_words(5));
        let plain = Painter { colored: false }.paint(&found);
        assert!(plain.contains("[-gone-] {+new one+}") && plain.contains("… 76 words …"), "{plain}");
        assert!(plain.lines().all(|line| line.chars().count() <= WIDTH + 6));
        let colored = Painter { colored: true }.paint(&found);
        assert!(colored.contains("\x1b[31mgone\x1b[0m") && colored.contains("\x1b[32mnew\x1b[0m"), "{colored}");
    }
}
