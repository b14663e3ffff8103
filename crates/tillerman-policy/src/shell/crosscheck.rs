//! The parser's claims about where things begin and end, checked against the text.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::word::{Word, is_number};

/// The expansions directly in a node, as ranges relative to `start`.
pub(crate) fn holes(node: Node<'_>, start: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "command_substitution"
                | "process_substitution"
                | "expansion"
                | "simple_expansion"
                | "arithmetic_expansion" => {
                    if let Some(from) = child.start_byte().checked_sub(start) {
                        found.push(from..child.end_byte() - start);
                    }
                }
                _ => waiting.push(child),
            }
        }
    }
    found.sort_by_key(|hole| hole.start);
    found
}

/// Whether everything between the tree's tokens is blank, so that no part of the text was skipped.
pub(crate) fn covers(tree: &Tree, source: &str) -> bool {
    let mut cursor = tree.walk();
    let mut at = 0;
    loop {
        if cursor.goto_first_child() {
            continue;
        }
        let leaf = cursor.node().byte_range();
        if !cursor.node().is_named() && !is_itself(cursor.node(), source) {
            return false;
        }
        let gap = source.get(at..leaf.start).unwrap_or_default();
        let before = source.get(..leaf.start).and_then(|before| before.chars().next_back());
        let begins_word = before.is_none_or(|c| " \t\n;&|()".contains(c));
        if cursor.node().kind() == "comment" && !begins_word {
            return false;
        }
        if !gap.replace("\\\n", "").chars().all(|c| matches!(c, ' ' | '\t' | '\n')) {
            return false;
        }
        at = at.max(leaf.end);
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                let rest = source.get(at..).unwrap_or_default();
                return rest.replace("\\\n", "").chars().all(|c| matches!(c, ' ' | '\t' | '\n'));
            }
        }
    }
}

/// Whether a token without a name is what its kind says, and not more.
fn is_itself(node: Node<'_>, source: &str) -> bool {
    let text = source.get(node.byte_range()).unwrap_or_default();
    text == node.kind() || (node.kind() == "\n" && text.chars().all(|c| c == '\n'))
}

/// Why a shell would not begin and end a stretch where the parser does.
///
/// A backslash before a line break joins what stands on both sides, so it is looked through.
pub(crate) fn cut_oddly(
    source: &str,
    range: &Range<usize>,
    last: Option<&Word>,
) -> Option<&'static str> {
    let mut before = &source[..range.start];
    while let Some(joined) = before.strip_suffix("\\\n") {
        before = joined;
    }
    let mut after = &source[range.end..];
    while let Some(joined) = after.strip_prefix("\\\n") {
        after = joined;
    }
    let blank = [' ', '\t', '\n'];
    let begins = before.is_empty()
        || before.ends_with(blank)
        || before.ends_with([';', '&', '|', '(', ')', '`'])
        || is_operator(&source[range.clone()]);
    let ends = after.is_empty()
        || after.starts_with(blank)
        || after.starts_with([';', '&', '|', ')', '<', '>', '`']);
    if !begins || !ends {
        return Some("a word touches the edge of a command");
    }
    let is_descriptor =
        after.starts_with(['<', '>']) && last.is_some_and(|word| is_number(&word.raw));
    is_descriptor.then_some("a number touches a redirection")
}

/// A redirection may touch the word before it, which then is judged as a word.
fn is_operator(text: &str) -> bool {
    text.starts_with(['<', '>'])
}
