//! Text of files in messages.

/// At most 60 characters of `text`, for messages.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        let mut short: String = text.chars().take(MOST).collect();
        short.push('…');
        short
    }
}
