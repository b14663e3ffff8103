//! Scripts of sed, awk and jq that certainly do nothing but print: small grammars, nothing else counts.

/// Whether a sed script only selects, deletes, substitutes and prints.
pub(crate) fn sed_only_prints(script: &str) -> bool {
    let mut rest = script.trim_start_matches([' ', '\t', '\n', ';']);
    while !rest.is_empty() {
        let Some(after) = sed_command(rest) else { return false };
        let trimmed = after.trim_start_matches([' ', '\t']);
        if !trimmed.is_empty() && !trimmed.starts_with([';', '\n']) {
            return false;
        }
        rest = trimmed.trim_start_matches([' ', '\t', '\n', ';']);
    }
    true
}

fn sed_command(text: &str) -> Option<&str> {
    let mut rest = sed_address(text)?.unwrap_or(text);
    if rest.len() != text.len() && rest.starts_with(',') {
        let second = rest[1..].strip_prefix(['+', '~']).unwrap_or(&rest[1..]);
        rest = sed_address(second)??;
    }
    let rest = rest.trim_start_matches([' ', '!']);
    let command = rest.chars().next()?;
    let after = &rest[command.len_utf8()..];
    match command {
        'p' | 'd' | 'D' | 'P' | '=' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'l' => Some(after),
        'q' | 'Q' => Some(after.trim_start_matches(|c: char| c.is_ascii_digit())),
        's' => {
            let after = delimited(after, 2)?;
            let flags =
                after.len() - after.trim_start_matches(['g', 'p', 'i', 'I', 'm', 'M']).len();
            let after = &after[flags..];
            let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
            Some(after.trim_start_matches(['g', 'p', 'i', 'I', 'm', 'M']))
        }
        'y' => delimited(after, 2),
        _ => None,
    }
}

/// An address such as `12`, `$` or `/text/`: what follows it; `Some(None)` where there is none.
fn sed_address(text: &str) -> Option<Option<&str>> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() != text.len() {
        let step = digits
            .strip_prefix('~')
            .map(|step| step.trim_start_matches(|c: char| c.is_ascii_digit()));
        return Some(Some(step.unwrap_or(digits)));
    }
    if let Some(rest) = text.strip_prefix('$') {
        return Some(Some(rest));
    }
    if text.starts_with('/') {
        let after = delimited(text, 1)?;
        return Some(Some(after.trim_start_matches('I')));
    }
    Some(None)
}

/// Skips `/…/` or `/…/…/` with any delimiter; nothing spans lines.
fn delimited(text: &str, parts: usize) -> Option<&str> {
    let delimiter = text.chars().next()?;
    if delimiter.is_alphanumeric()
        || delimiter.is_whitespace()
        || matches!(delimiter, '\\' | ';')
        || !delimiter.is_ascii()
    {
        return None;
    }
    let mut left = parts;
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => return None,
            // Inside brackets a delimiter may be meant literally; such scripts are left to people.
            '[' if text[at..].split(']').next().is_some_and(|class| class.contains(delimiter)) => {
                return None;
            }
            '\\' => {
                chars.next().filter(|(_, escaped)| *escaped != '\n')?;
            }
            c if c == delimiter => {
                left -= 1;
                if left == 0 {
                    return Some(&text[at + 1..]);
                }
            }
            _ => {}
        }
    }
    None
}

/// The files a sed script would write, as far as they can be guessed.
pub(crate) fn sed_writes(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, c) in script.char_indices() {
        if !matches!(c, 'w' | 'W') {
            continue;
        }
        let name = script[at + 1..].split('\n').next().unwrap_or_default();
        if name.starts_with([' ', '\t']) {
            let name = name.trim().trim_end_matches('}').trim();
            if !name.is_empty() {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// Whether an awk program is nothing but `pattern { print fields }`.
pub(crate) fn awk_only_prints(program: &str) -> bool {
    let program = program.trim();
    let (pattern, action) = match program.find('{') {
        Some(at) => (&program[..at], Some(&program[at..])),
        None => (program, None),
    };
    let pattern = pattern.trim();
    if !pattern.is_empty() && !awk_pattern(pattern) {
        return false;
    }
    let Some(action) = action else { return !pattern.is_empty() };
    let inner = action.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(str::trim);
    match inner.and_then(|inner| inner.strip_prefix("print")) {
        Some("") => true,
        Some(fields) if fields.starts_with([' ', '\t']) => {
            fields.split([',', ' ']).all(|field| field.is_empty() || awk_value(field))
        }
        _ => false,
    }
}

fn awk_pattern(pattern: &str) -> bool {
    if let Some(inner) = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        return inner.chars().all(|c| c.is_alphanumeric() || " _.^$-:,#=".contains(c));
    }
    let operators = ["==", "!=", "<=", ">=", "<", ">"];
    operators.iter().find_map(|operator| pattern.split_once(operator)).map_or_else(
        || awk_value(pattern),
        |(left, right)| awk_value(left.trim()) && awk_value(right.trim()),
    )
}

/// A field, a counter, a number or a plain text.
fn awk_value(value: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(text) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return text.chars().all(|c| c.is_alphanumeric() || "_.:;-#=".contains(c));
    }
    let field = value.strip_prefix('$').unwrap_or(value);
    matches!(field, "NF" | "NR" | "FNR") || is_number(field)
}

/// Whether a jq filter only walks and describes its input.
pub(crate) fn jq_only_walks(filter: &str) -> bool {
    const WORDS: [&str; 12] = [
        "keys",
        "length",
        "type",
        "to_entries",
        "values",
        "first",
        "last",
        "sort",
        "unique",
        "add",
        "reverse",
        "keys_unsorted",
    ];
    filter.split('|').map(str::trim).all(|step| WORDS.contains(&step) || is_jq_path(step))
}

fn is_jq_path(step: &str) -> bool {
    step.starts_with('.')
        && step.chars().all(|c| {
            c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '[' | ']' | '?' | '"' | '-')
        })
}
