//! Text in markup: whatever comes in, nothing of it can become a tag.

use std::borrow::Cow;

/// Text as it stands in HTML or SVG, in an element or an attribute. Characters that XML forbids are replaced.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let plain = |c: char| {
        !matches!(c, '&' | '<' | '>' | '"' | '\'')
            && (c >= ' ' || c == '\n' || c == '\t')
            && !matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
    };
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if plain(c) => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_can_become_markup() {
        assert_eq!(
            escape("<script>\"&'\u{0}\u{1b}é"),
            "&lt;script&gt;&quot;&amp;&#39;\u{fffd}\u{fffd}é"
        );
        assert!(matches!(escape("plain text, 5.8 %"), Cow::Borrowed(_)));
    }
}
