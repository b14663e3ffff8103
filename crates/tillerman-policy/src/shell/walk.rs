//! From the parser's tree to simple commands, with every claim of the tree checked against the text.

use std::ops::Range;
use std::path::PathBuf;

use tree_sitter::{Node, Tree};

use super::crosscheck::{covers, cut_oddly, holes};
use super::heredoc;
use super::redirect::{self, Redirect, RedirectKind};
use super::script::{Directory, Simple};
use super::word::{Lexed, Piece, Variables, Word, is_name, lex};
use crate::place::tidy;

/// Deeper trees are not read.
const MAX_DEPTH: usize = 60;

/// More directories than this count as unknown.
const MAX_CANDIDATES: usize = 4;

/// Collects simple commands in the order in which they run.
pub(crate) struct Walker<'a> {
    source: &'a str,
    commands: Vec<Simple>,
    doubt: Option<&'static str>,
    directory: Directory,
    variables: Variables,
    depth: usize,
    heredocs: usize,
    too_deep: bool,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(source: &'a str, directory: Directory, variables: Variables) -> Self {
        Self {
            source,
            commands: Vec::new(),
            doubt: None,
            directory,
            variables,
            depth: 0,
            heredocs: 0,
            too_deep: false,
        }
    }

    /// The commands and what is doubtful about them as a whole; nothing if the tree is not to be trusted.
    pub(crate) fn finish(mut self, tree: &Tree) -> Option<(Vec<Simple>, Option<&'static str>)> {
        if !covers(tree, self.source) {
            self.doubt("the parser left something out");
        }
        (!self.too_deep).then_some((self.commands, self.doubt))
    }

    pub(crate) fn walk(&mut self, node: Node<'_>) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.too_deep = true;
        } else {
            self.enter(node);
        }
        self.depth -= 1;
    }

    fn enter(&mut self, node: Node<'_>) {
        match node.kind() {
            "comment" => {}
            "program" => self.sequence(node),
            "list" => self.list(node),
            "pipeline" => self.apart(node),
            "subshell" => self.apart(node),
            "negated_command" => self.children(node),
            "redirected_statement" => self.redirected(node),
            "command" => self.command(node, &[]),
            "test_command" => self.test(node),
            "compound_statement" => self.group(node),
            "if_statement" | "elif_clause" | "else_clause" => self.branches(node),
            "variable_assignment" | "variable_assignments" => self.assignment(node),
            "declaration_command" | "unset_command" => {
                self.doubt("it changes variables of the shell");
                self.command(node, &[]);
            }
            "function_definition" => {
                self.doubt("it defines a function");
                self.unordered(node);
            }
            kind => {
                self.doubt(match kind {
                    "for_statement" | "c_style_for_statement" | "while_statement" => {
                        "it has a loop"
                    }
                    "case_statement" => "it has a case",
                    _ => "it has a construct that is not judged",
                });
                self.unordered(node);
            }
        }
    }

    fn doubt(&mut self, doubt: &'static str) {
        self.doubt.get_or_insert(doubt);
    }

    fn children(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.walk(child);
        }
    }

    /// Statements one after the other: a `cd` that failed does not stop the next.
    fn sequence(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for (at, child) in children.iter().enumerate() {
            if !child.is_named() {
                if !matches!(child.kind(), ";" | "&" | "\n" | "(" | ")" | "{" | "}") {
                    self.doubt("an operator of an unknown kind");
                }
                continue;
            }
            let before = self.directory.clone();
            self.walk(*child);
            let in_background = children.get(at + 1).is_some_and(|next| next.kind() == "&");
            if in_background {
                self.directory = before;
            } else {
                self.merge(before);
            }
        }
    }

    /// `a && b` and `a || b`.
    fn list(&mut self, node: Node<'_>) {
        let before = self.directory.clone();
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "&&" => {}
                "||" => self.merge(before.clone()),
                _ if child.is_named() => self.walk(child),
                _ => self.doubt("an operator of an unknown kind"),
            }
        }
    }

    /// Parts that run in shells of their own, so that a `cd` in them ends with them.
    fn apart(&mut self, node: Node<'_>) {
        let before = self.directory.clone();
        if node.kind() == "subshell" {
            self.sequence(node);
        } else {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            for child in children {
                self.directory = before.clone();
                self.walk(child);
            }
        }
        self.directory = before;
    }

    fn group(&mut self, node: Node<'_>) {
        let text = &self.source[node.byte_range()];
        let is_braces = text.starts_with(['{']) && text[1..].starts_with([' ', '\t', '\n']);
        if is_braces && node.named_child_count() > 0 {
            return self.sequence(node);
        }
        self.doubt("it has a group that is not judged");
        self.unordered(node);
    }

    fn branches(&mut self, node: Node<'_>) {
        let before = self.directory.clone();
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.walk(child);
            self.merge(before.clone());
        }
    }

    /// Statements whose order is not followed.
    fn unordered(&mut self, node: Node<'_>) {
        let before = self.directory.clone();
        if node.kind() == "for_statement" {
            self.loop_variable(node);
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.bare_redirect(child);
                }
                _ => self.statement_or_word(child),
            }
        }
        if self.directory != before {
            self.directory = Directory { candidates: Vec::new(), moved: true };
        }
    }

    fn loop_variable(&mut self, node: Node<'_>) {
        let name = node.child_by_field_name("variable").map(|name| &self.source[name.byte_range()]);
        let value = node.child_by_field_name("value").map(|value| &self.source[value.byte_range()]);
        if let (Some(name), Some(value)) = (name, value) {
            let value = value.trim_matches(['"', '\'']);
            self.variables.insert(name.to_owned(), value.to_owned());
        }
    }

    fn statement_or_word(&mut self, node: Node<'_>) {
        match node.kind() {
            "command"
            | "list"
            | "pipeline"
            | "subshell"
            | "negated_command"
            | "redirected_statement"
            | "test_command"
            | "compound_statement"
            | "if_statement"
            | "variable_assignment"
            | "variable_assignments"
            | "declaration_command"
            | "unset_command"
            | "function_definition"
            | "for_statement"
            | "while_statement"
            | "c_style_for_statement"
            | "case_statement"
            | "case_item"
            | "do_group" => {
                self.walk(node);
            }
            _ => self.expansions(node),
        }
    }

    /// Reads the commands inside the expansions of a word.
    fn expansions(&mut self, node: Node<'_>) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.too_deep = true;
        } else if matches!(node.kind(), "command_substitution" | "process_substitution") {
            let before = self.directory.clone();
            self.doubt("it has a substitution");
            self.unordered(node);
            self.directory = before;
        } else {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            for child in children {
                self.statement_or_word(child);
            }
        }
        self.depth -= 1;
    }

    fn redirected(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let redirects: Vec<Node<'_>> =
            node.children_by_field_name("redirect", &mut cursor).collect();
        match node.child_by_field_name("body") {
            Some(body) if body.kind() == "command" => self.command(body, &redirects),
            body => {
                if let Some(body) = body {
                    self.walk(body);
                }
                for redirect in redirects {
                    self.bare_redirect(redirect);
                }
            }
        }
    }

    /// A redirection of something that is no simple command.
    fn bare_redirect(&mut self, node: Node<'_>) {
        let mut simple = self.simple(&self.source[node.byte_range()], Vec::new());
        self.redirect(node, &mut simple);
        if !simple.words.is_empty() {
            simple.doubt = Some("a redirection that could not be read");
        }
        self.push(simple);
    }

    fn simple(&self, text: &str, words: Vec<Word>) -> Simple {
        Simple {
            text: text.trim().to_owned(),
            assignments: Vec::new(),
            words,
            redirects: Vec::new(),
            directory: self.directory.clone(),
            doubt: None,
        }
    }

    fn command(&mut self, node: Node<'_>, redirects: &[Node<'_>]) {
        let range = node.byte_range();
        let text = &self.source[range.clone()];
        let end = redirects.last().map_or(range.end, Node::end_byte).max(range.end);
        let whole = &self.source[range.start..end];
        let mut cursor = node.walk();
        let own: Vec<Node<'_>> = node
            .children(&mut cursor)
            .filter(|child| child.kind().ends_with("_redirect"))
            .collect();
        let gaps: Vec<Range<usize>> = own
            .iter()
            .map(|gap| gap.start_byte() - range.start..gap.end_byte() - range.start)
            .collect();
        let Lexed { words, doubt } = lex(text, &holes(node, range.start), &gaps);
        let mut simple = self.simple(whole, words);
        simple.doubt = doubt.or_else(|| cut_oddly(self.source, &range, simple.words.last()));
        self.walk_expansions(node);
        let words = simple.words.len();
        for redirect in &own {
            self.redirect(*redirect, &mut simple);
        }
        if simple.words.len() > words {
            // The parser took words that follow a target for targets, and their place is lost.
            simple.doubt = simple.doubt.or(Some("words in the midst of redirections"));
        }
        for redirect in redirects {
            self.redirect(*redirect, &mut simple);
        }
        self.take_assignments(&mut simple);
        self.push(simple);
    }

    fn walk_expansions(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            if !child.kind().ends_with("_redirect") {
                self.expansions(child);
            }
        }
    }

    /// `[ … ]` is a command like any other; `[[ … ]]` is a language of its own.
    fn test(&mut self, node: Node<'_>) {
        if self.source[node.byte_range()].starts_with("[[") {
            self.doubt("it has a [[ test");
            return self.expansions(node);
        }
        self.command(node, &[]);
        if let Some(simple) = self.commands.last_mut() {
            // The brackets are words here, not wildcards.
            for word in &mut simple.words {
                if word.raw == "[" || word.raw == "]" {
                    *word = Word::plain(&word.raw);
                }
            }
        }
    }

    fn assignment(&mut self, node: Node<'_>) {
        self.command(node, &[]);
    }

    fn take_assignments(&mut self, simple: &mut Simple) {
        let is_assignment = |word: &Word| {
            word.raw.split_once('=').is_some_and(|(name, _)| {
                let name = name.strip_suffix('+').unwrap_or(name);
                is_name(name) || name.split_once('[').is_some_and(|(name, _)| is_name(name))
            })
        };
        let count = simple.words.iter().take_while(|word| is_assignment(word)).count();
        let rest = simple.words.split_off(count);
        for word in std::mem::replace(&mut simple.words, rest) {
            let raw_name = word.raw.split('=').next().unwrap_or_default();
            let name = raw_name.trim_end_matches('+').to_owned();
            let mut value = word.clone();
            if let Some(Piece::Text(text)) = value.pieces.first_mut() {
                *text = text.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
            }
            value.guess(&self.variables);
            match (&value.likely, simple.words.is_empty()) {
                (Some(likely), true) => drop(self.variables.insert(name.clone(), likely.clone())),
                (None, true) => drop(self.variables.remove(&name)),
                _ => {}
            }
            simple.assignments.push((name, value));
        }
    }

    fn redirect(&mut self, node: Node<'_>, simple: &mut Simple) {
        let range = node.byte_range();
        if node.kind() == "heredoc_redirect" {
            return self.heredoc(node, simple);
        }
        self.walk_expansions(node);
        let read = redirect::read(&self.source[range.clone()], &holes(node, range.start));
        let last = read.further.last().or(read.redirect.target.as_ref());
        let doubt = read.doubt.or_else(|| cut_oddly(self.source, &range, last));
        simple.redirects.push(read.redirect);
        simple.words.extend(read.further);
        simple.doubt = simple.doubt.or(doubt);
    }

    fn heredoc(&mut self, node: Node<'_>, simple: &mut Simple) {
        self.heredocs += 1;
        if self.heredocs > 1 || !heredoc::check(node, self.source).understood {
            self.doubt("it has a here-document that could not be read for certain");
        }
        simple.redirects.push(Redirect { kind: RedirectKind::Text, target: None });
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
                "heredoc_body" => self.expansions(child),
                "file_redirect" | "herestring_redirect" => self.redirect(child, simple),
                "pipeline" | "list" | "command" | "redirected_statement" => {
                    // The tree hangs what follows on the same line below the here-document.
                    let before = self.directory.clone();
                    self.walk(child);
                    self.merge(before);
                }
                _ => {
                    self.doubt("it has a here-document that could not be read for certain");
                    self.statement_or_word(child);
                }
            }
        }
    }

    fn push(&mut self, mut simple: Simple) {
        let words = simple.words.iter_mut();
        for word in
            words.chain(simple.redirects.iter_mut().filter_map(|redirect| redirect.target.as_mut()))
        {
            word.guess(&self.variables);
        }
        simple.directory = self.directory.clone();
        let moves = matches!(simple.words.first().map(Word::text), Some("cd" | "pushd" | "popd"));
        if moves {
            self.change_directory(&simple);
        }
        self.commands.push(simple);
    }

    fn change_directory(&mut self, simple: &Simple) {
        let target = match simple.words.as_slice() {
            [cd, target] if cd.text() != "popd" => target.likely.as_deref(),
            _ => None,
        };
        let candidates: Vec<PathBuf> = match target {
            Some(target) if !target.is_empty() && target != "-" => {
                self.directory.candidates.iter().map(|from| tidy(&from.join(target))).collect()
            }
            _ => Vec::new(),
        };
        if let Some(directory) = candidates.last().and_then(|path| path.to_str()) {
            self.variables.insert("PWD".to_owned(), directory.to_owned());
        }
        self.directory = Directory { candidates, moved: true };
    }

    /// Adds the directories of another way to get here.
    fn merge(&mut self, other: Directory) {
        if self.directory == other {
            return;
        }
        let known = !self.directory.candidates.is_empty() && !other.candidates.is_empty();
        let mut candidates = other.candidates;
        for candidate in &self.directory.candidates {
            if !candidates.contains(candidate) {
                candidates.push(candidate.clone());
            }
        }
        if !known || candidates.len() > MAX_CANDIDATES {
            candidates.clear();
        }
        self.directory = Directory { candidates, moved: self.directory.moved || other.moved };
    }
}
