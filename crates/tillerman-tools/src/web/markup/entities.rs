//! Named and numbered characters of HTML.

use std::borrow::Cow;

/// The longest name below.
const LONGEST_NAME: usize = 8;

const NAMED: [(&str, &str); 54] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ensp", " "),
    ("emsp", " "),
    ("thinsp", " "),
    ("shy", ""),
    ("zwnj", ""),
    ("zwj", ""),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("sbquo", "‚"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("bdquo", "„"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("bull", "•"),
    ("middot", "·"),
    ("sect", "§"),
    ("para", "¶"),
    ("deg", "°"),
    ("plusmn", "±"),
    ("times", "×"),
    ("divide", "÷"),
    ("frac12", "½"),
    ("sup2", "²"),
    ("sup3", "³"),
    ("micro", "µ"),
    ("euro", "€"),
    ("pound", "£"),
    ("yen", "¥"),
    ("cent", "¢"),
    ("larr", "←"),
    ("rarr", "→"),
    ("uarr", "↑"),
    ("darr", "↓"),
    ("le", "≤"),
    ("ge", "≥"),
    ("ne", "≠"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
];

/// The text with its character references replaced; unknown ones stay as they are.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        decoded.push_str(before);
        match reference(after) {
            Some((meaning, length)) => {
                decoded.push_str(&meaning);
                rest = &after[length..];
            }
            None => {
                decoded.push('&');
                rest = after;
            }
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// What a reference means and how long it is, without its ampersand.
fn reference(text: &str) -> Option<(Cow<'static, str>, usize)> {
    let end = text.bytes().take(LONGEST_NAME + 4).position(|byte| byte == b';')?;
    let name = text.get(..end)?;
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        let char = match code {
            0xa0 => ' ',
            code => char::from_u32(code).filter(|char| !char.is_control()).unwrap_or(' '),
        };
        return Some((Cow::Owned(char.to_string()), end + 1));
    }
    let (_, meaning) = NAMED.iter().find(|(known, _)| *known == name)?;
    Some((Cow::Borrowed(meaning), end + 1))
}
