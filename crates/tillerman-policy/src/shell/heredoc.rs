//! Here-documents: where one ends, told independently of the parser.

use std::collections::HashMap;

use tree_sitter::Node;

/// What is known about a here-document.
pub(crate) struct Heredoc {
    /// Whether its text is taken as it is, and ends where the parser thinks.
    pub(crate) understood: bool,
}

/// Checks a `heredoc_redirect`.
///
/// Only plain delimiters count. The body must end at the first line that is the delimiter, and,
/// unless the delimiter is quoted, must contain nothing that a shell would expand.
pub(crate) fn check(node: Node<'_>, source: &str) -> Heredoc {
    Heredoc { understood: understood(node, source).unwrap_or(false) }
}

fn understood(node: Node<'_>, source: &str) -> Option<bool> {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let find = |kind: &str| children.iter().find(|child| child.kind() == kind);
    let start = find("heredoc_start")?;
    let end = find("heredoc_end")?;
    let written = source.get(start.byte_range())?;
    let quoted = ['\'', '"']
        .iter()
        .find_map(|quote| written.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote)));
    let delimiter = quoted.unwrap_or(written);
    let is_plain = delimiter.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && delimiter.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let line_rest = source.get(start.end_byte()..)?.split('\n').next()?;
    if !is_plain || line_rest.contains(['\'', '"', '\\', '`', '$', '(']) {
        return Some(false);
    }
    let strip_tabs = children.first()?.kind() == "<<-";
    let mut at = start.end_byte() + line_rest.len() + 1;
    for line in source.get(at..)?.split('\n') {
        let compared = if strip_tabs { line.trim_start_matches('\t') } else { line };
        if compared == delimiter {
            let expected = at + (line.len() - compared.len());
            return Some(
                source.get(end.byte_range())?.trim_matches(['\t', '\n']) == delimiter
                    && (at..=expected).contains(&end.start_byte()),
            );
        }
        if quoted.is_none() && line.contains(['$', '`', '\\']) {
            return Some(false);
        }
        at += line.len() + 1;
    }
    Some(false)
}

/// Whether each `<<` in a text has a later line that could end its here-document.
pub(crate) fn all_end(text: &str) -> bool {
    let mut at = 0;
    let mut last_lines = HashMap::new();
    for line in text.split('\n') {
        last_lines.insert(line.trim_start_matches('\t'), at);
        at += line.len() + 1;
    }
    text.match_indices("<<").all(|(at, _)| {
        let rest = &text[at + 2..];
        if rest.starts_with('<') || text[..at].ends_with('<') {
            return true;
        }
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\t']);
        let written = rest.split([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']).next();
        let delimiter = written.unwrap_or_default().replace(['\'', '"', '\\'], "");
        last_lines.get(delimiter.as_str()).is_some_and(|line| *line > at)
    })
}
