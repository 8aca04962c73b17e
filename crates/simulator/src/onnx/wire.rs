//! Protocol buffers, as far as a model file needs them: fields by number, and what they hold.

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64,
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// Fields of a message, one after the other; a fault ends them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for at in 0..10 {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                // The tenth byte holds one bit.
                return (at < 9 || byte < 2).then_some(value);
            }
        }
        None
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed64)?,
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            5 => {
                let bytes: [u8; 4] = self.take(4)?.try_into().ok()?;
                Value::Fixed32(u32::from_le_bytes(bytes))
            }
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field.ok_or_else(|| "it is cut off or no ONNX file".to_string()))
    }
}

/// Numbers of a repeated field, in one piece or one by one.
pub(super) fn varints(value: Value<'_>, into: &mut Vec<u64>) -> Result<(), String> {
    match value {
        Value::Varint(number) => into.push(number),
        Value::Bytes(bytes) => {
            let mut fields = Fields::new(bytes);
            while !fields.rest.is_empty() {
                into.push(fields.varint().ok_or("a list of numbers is cut off")?);
            }
        }
        _ => return Err("a list of numbers is of another kind".to_string()),
    }
    Ok(())
}

/// A text.
pub(super) fn text(value: Value<'_>) -> Result<String, String> {
    match value {
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec()).map_err(|e| e.to_string()),
        _ => Err("a name is no text".to_string()),
    }
}

/// A message within this one.
pub(super) fn message(value: Value<'_>) -> Result<Fields<'_>, String> {
    match value {
        Value::Bytes(bytes) => Ok(Fields::new(bytes)),
        _ => Err("a part of it is of another kind than ONNX has".to_string()),
    }
}
