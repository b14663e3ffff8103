//! The escapes of `$'…'`.

/// Decodes `$'…'` after its opening quote: the text, and how many bytes it took.
pub(crate) fn ansi_c(source: &str) -> (String, Option<usize>) {
    let mut text = String::new();
    let mut chars = source.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return (text, Some(at + 1)),
            '\\' => {
                let Some((_, kind)) = chars.next() else { break };
                let digits = |chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
                              first: Option<char>,
                              most: usize,
                              radix: u32| {
                    let mut value = first.and_then(|c| c.to_digit(radix)).unwrap_or(0);
                    for _ in 0..most {
                        let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(radix)) else {
                            break;
                        };
                        value = value.wrapping_mul(radix).wrapping_add(digit);
                        chars.next();
                    }
                    char::from_u32(value).unwrap_or('\u{fffd}')
                };
                match kind {
                    'x' => text.push(digits(&mut chars, None, 2, 16)),
                    'u' => text.push(digits(&mut chars, None, 4, 16)),
                    'U' => text.push(digits(&mut chars, None, 8, 16)),
                    '0'..='7' => text.push(digits(&mut chars, Some(kind), 2, 8)),
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    other => text.push(other),
                }
            }
            c => text.push(c),
        }
    }
    (text, None)
}
