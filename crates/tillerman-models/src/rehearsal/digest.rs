//! Shortens what tools return to what fits into an answer.

/// The names in the output of `ls -la`, or the lines of any other listing.
pub(super) fn file_names(listing: &str) -> Vec<String> {
    listing
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("total "))
        .filter_map(|line| if is_long_entry(line) { long_entry_name(line) } else { Some(line) })
        .filter(|name| !matches!(*name, "." | ".."))
        .map(str::to_owned)
        .collect()
}

/// The first lines of a text that say something, without the numbers a reading tool adds.
pub(super) fn first_lines(text: &str, most: usize) -> Vec<String> {
    text.lines()
        .map(|line| without_number(line).trim_end())
        .filter(|line| !line.is_empty())
        .take(most)
        .map(|line| shorten(line, 160))
        .collect()
}

/// How many lines of a text say something.
pub(super) fn line_count(text: &str) -> usize {
    text.lines().filter(|line| !without_number(line).trim().is_empty()).count()
}

/// A text of at most so many characters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The first few of many, and how many more there are.
pub(super) fn enumerate(names: &[String], most: usize) -> String {
    let shown = names.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `ls -l` lines begin with a kind, nine permissions and a count of links.
fn is_long_entry(line: &str) -> bool {
    let mode = line.split_whitespace().next().unwrap_or_default();
    mode.len() >= 10
        && mode.starts_with(['-', 'd', 'l', 'b', 'c', 'p', 's'])
        && mode[1..].chars().all(|c| "rwxsStT-@+.".contains(c))
}

fn long_entry_name(line: &str) -> Option<&str> {
    let mut rest = line;
    for _ in 0..8 {
        rest = rest.trim_start();
        rest = &rest[rest.find(char::is_whitespace)?..];
    }
    let name = rest.trim();
    Some(name.split_once(" -> ").map_or(name, |(link, _)| link))
}

fn without_number(line: &str) -> &str {
    let rest = line.trim_start();
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    let after = &rest[digits..];
    match after.strip_prefix('\t').or_else(|| after.strip_prefix('→')) {
        Some(text) if digits > 0 => text,
        _ => line,
    }
}
