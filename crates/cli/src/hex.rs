//! Bytes as hex digits.

/// The digits of `bytes`, in lower case.
pub(crate) fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes from hex digits of either case; white space is passed over.
pub(crate) fn parse(text: &str) -> Result<Vec<u8>, String> {
    let mut digits = Vec::new();
    for (at, character) in text.chars().enumerate() {
        match character.to_digit(16) {
            Some(digit) => digits.push(digit as u8),
            None if character.is_whitespace() => {}
            None => {
                return Err(format!(
                    "character {} is {character:?}, expected hex digits",
                    at + 1
                ));
            }
        }
    }
    if digits.len() % 2 == 1 {
        return Err(format!(
            "{} hex digits, expected an even number",
            digits.len()
        ));
    }
    Ok(digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}
