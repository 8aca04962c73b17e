//! Looking through Rust source text without a compiler: just enough to tell code from comments, strings and tests.

/// `source` with the inside of comments, strings and character literals replaced by spaces.
///
/// Lines keep their numbers and bytes their places.
pub(crate) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut i = 0;
    while i < bytes.len() {
        let end = match bytes[i] {
            b'/' if bytes.get(i + 1) == Some(&b'/') => find(bytes, i, b"\n"),
            b'/' if bytes.get(i + 1) == Some(&b'*') => end_of_block_comment(bytes, i),
            b'"' => end_of_string(bytes, i + 1),
            b'r' if !follows_a_name(bytes, i) => match raw_string_hashes(bytes, i + 1) {
                Some(hashes) => end_of_raw_string(bytes, i + 1 + hashes + 1, hashes),
                None => i,
            },
            b'b' if !follows_a_name(bytes, i) && bytes.get(i + 1) == Some(&b'r') => {
                match raw_string_hashes(bytes, i + 2) {
                    Some(hashes) => end_of_raw_string(bytes, i + 2 + hashes + 1, hashes),
                    None => i,
                }
            }
            b'\'' => end_of_character(bytes, i),
            _ => i,
        };
        if end > i {
            for byte in &mut out[i..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
            i = end;
        } else {
            i += 1;
        }
    }
    // Only whole characters were blanked, each byte by a space.
    String::from_utf8_lossy(&out).into_owned()
}

/// `code` (from [`code_only`]) with every item under `#[cfg(test)]` blanked, and the names of the modules among them
/// that live in files of their own (`#[cfg(test)] mod tests;`).
pub(crate) fn without_tests(code: &str) -> (String, Vec<String>) {
    const MARK: &[u8] = b"#[cfg(test)]";
    let bytes = code.as_bytes();
    let mut out = bytes.to_vec();
    let mut modules = Vec::new();
    let mut i = 0;
    loop {
        let begin = find(bytes, i, MARK);
        if begin == bytes.len() {
            break;
        }
        let after = begin + MARK.len();
        let end = end_of_item(bytes, after);
        let words: Vec<&str> = code[after..end]
            .trim_end_matches(';')
            .split_whitespace()
            .collect();
        if let Some(at) = words.iter().position(|&word| word == "mod")
            && let Some(&name) = words.get(at + 1)
            && bytes[end - 1] == b';'
        {
            modules.push(name.to_owned());
        }
        for byte in &mut out[begin..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        i = end;
    }
    (String::from_utf8_lossy(&out).into_owned(), modules)
}

/// The numbers of the lines in `code` that hold `word` not preceded by a letter, digit, `_` or `:`.
pub(crate) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let found = line.match_indices(word).any(|(at, _)| {
            !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
        });
        if found {
            lines.push(number + 1);
        }
    }
    lines
}

/// The place of the first `needle` at or after `from`, or the end of `bytes`.
fn find(bytes: &[u8], from: usize, needle: &[u8]) -> usize {
    bytes[from..]
        .windows(needle.len())
        .position(|window| window == needle)
        .map_or(bytes.len(), |at| from + at)
}

fn follows_a_name(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

fn end_of_block_comment(bytes: &[u8], begin: usize) -> usize {
    let mut depth = 0;
    let mut i = begin;
    while i < bytes.len() {
        match &bytes[i..(i + 2).min(bytes.len())] {
            b"/*" => {
                depth += 1;
                i += 2;
            }
            b"*/" => {
                depth -= 1;
                i += 2;
                if depth == 0 {
                    return i;
                }
            }
            _ => i += 1,
        }
    }
    bytes.len()
}

fn end_of_string(bytes: &[u8], begin: usize) -> usize {
    let mut i = begin;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

/// The number of `#` if a raw string's `##"` begins at `at`.
fn raw_string_hashes(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes.get(at..)?.iter().take_while(|&&b| b == b'#').count();
    (bytes.get(at + hashes) == Some(&b'"')).then_some(hashes)
}

fn end_of_raw_string(bytes: &[u8], begin: usize, hashes: usize) -> usize {
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    (find(bytes, begin, &close) + close.len()).min(bytes.len())
}

/// The end of the character literal at `begin`, or `begin` where the quote belongs to a lifetime.
fn end_of_character(bytes: &[u8], begin: usize) -> usize {
    if bytes.get(begin + 1) == Some(&b'\\') {
        return (find(bytes, (begin + 3).min(bytes.len()), b"'") + 1).min(bytes.len());
    }
    // One character of one to four bytes; a lifetime has no quote that near, or a name before it.
    let width = match bytes.get(begin + 1) {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => 1,
    };
    if bytes.get(begin + 1 + width) == Some(&b'\'') {
        begin + width + 2
    } else {
        begin
    }
}

/// The end of the item that begins after `from`: past its `;`, or past the `}` of its body.
fn end_of_item(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0_i32;
    for (i, &byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'}' => {
                depth -= 1;
                if depth <= 0 {
                    return i + 1;
                }
            }
            b';' if depth == 0 => return i + 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_are_no_code() {
        let source = "a(); // std::x\n/* std::y /* nested */ std::z */ b(\"std::q \\\" std::r\");\n\
            let c = '\"'; d(); let e = r#\"std::s \" \"#; f::<'a>('\\''); let g = b'x'; 'é'; std::t();\n";
        let code = code_only(source);
        assert_eq!(code.len(), source.len());
        assert_eq!(code.lines().count(), source.lines().count());
        assert_eq!(lines_with(&code, "std::"), [3]);
        for kept in ["a();", "b(", "d();", "f::<'a>(", "let g = b", "std::t();"] {
            assert!(code.contains(kept), "{kept} in {code}");
        }
    }

    #[test]
    fn test_items_are_left_out_and_test_files_named() {
        let source = "use core::fmt;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\n#[path = \"x.rs\"]\npub(crate) mod more;\n\
            #[cfg(test)]\nextern crate std;\nfn kept() { std::a() }\n#[cfg(test)]\nmod inline {\n fn f() { std::b() }\n}\n\
            fn also() -> [u8; 2] { std::c() }\n";
        let (code, modules) = without_tests(&code_only(source));
        assert_eq!(modules, ["tests", "more"]);
        assert_eq!(lines_with(&code, "std::"), [9, 14]);
        assert_eq!(lines_with(&code, "extern crate std"), Vec::<usize>::new());
    }

    #[test]
    fn a_word_is_found_only_as_a_whole() {
        assert_eq!(lines_with("no_std::x\n::std::y\n(std::z)\n", "std::"), [3]);
        assert_eq!(
            lines_with("x todo!()\nmytodo!()\n", concat!("to", "do!(")),
            [1]
        );
    }

    #[test]
    fn unfinished_source_does_no_harm() {
        for source in [
            "\"abc",
            "/* x",
            "r#\"x",
            "'\\",
            "'",
            "#[cfg(test)]",
            "b'",
            "br",
            "r###",
        ] {
            let code = code_only(source);
            let _ = without_tests(&code);
            assert_eq!(code.len(), source.len());
        }
    }
}
