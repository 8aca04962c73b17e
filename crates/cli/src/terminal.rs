//! What fits a terminal: its width, and text in lines of that.

use std::io::{self, IsTerminal};

use terminal_size::{Width, terminal_size_of};

/// Columns of standard output, where it is a terminal.
pub(crate) fn output_width() -> Option<usize> {
    let out = io::stdout();
    let size = out.is_terminal().then(|| terminal_size_of(&out)).flatten();
    size.map(|(Width(columns), _)| usize::from(columns).max(20))
}

/// Columns of standard error, where it is a terminal.
pub(crate) fn error_width() -> Option<usize> {
    let out = io::stderr();
    let size = out.is_terminal().then(|| terminal_size_of(&out)).flatten();
    size.map(|(Width(columns), _)| usize::from(columns).max(20))
}

/// The text with no line longer than `width`, broken between words; what goes on is indented as its line was, and two blanks more. A
/// word that is longer than a line (a path) is broken where the line ends.
pub(crate) fn fold(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_string();
    };
    let mut out = String::with_capacity(text.len() + text.len() / 20);
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        fold_line(line, width, &mut out);
        out.push_str(end);
    }
    out
}

fn fold_line(line: &str, width: usize, out: &mut String) {
    if line.chars().count() <= width {
        out.push_str(line);
        return;
    }
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let indent = indent.min(width / 2);
    let further = (indent + 2).min(width / 2);
    let mut column = indent;
    out.push_str(&" ".repeat(indent));
    let mut begins = true;
    for word in line.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        if !begins && column + 1 + rest.len() > width {
            out.push('\n');
            out.push_str(&" ".repeat(further));
            column = further;
        } else if !begins {
            out.push(' ');
            column += 1;
        }
        while column + rest.len() > width {
            let more = rest.split_off(width - column);
            out.extend(rest);
            out.push('\n');
            out.push_str(&" ".repeat(further));
            column = further;
            rest = more;
        }
        column += rest.len();
        out.extend(rest);
        begins = false;
    }
}

/// The beginning of a line, at most `width` long.
pub(crate) fn cut(line: &str, width: Option<usize>) -> String {
    match width {
        Some(width) => line.chars().take(width).collect(),
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_long_words_at_the_end() {
        let text = "  one two three four\nfive\n";
        assert_eq!(fold(text, None), text);
        assert_eq!(fold(text, Some(80)), text);
        assert_eq!(
            fold(text, Some(10)),
            "  one two\n    three\n    four\nfive\n"
        );
        assert_eq!(fold("/a/b/c/d/e/f g", Some(8)), "/a/b/c/d\n  /e/f g");
        for width in 20..60 {
            let folded = fold(&"word and longerword ".repeat(9), Some(width));
            assert!(folded.lines().all(|line| line.chars().count() <= width));
        }
        assert_eq!(cut("abcdef", Some(4)), "abcd");
    }
}
