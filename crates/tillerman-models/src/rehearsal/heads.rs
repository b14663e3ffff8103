//! Recognises the words a request begins with.

use super::token::{Kind, Token};

/// The kind of request that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    List,
    Read,
    Show,
    Run,
    Write,
    Replace,
    Search,
    Ask,
    Delegate,
    Todo,
    Fetch,
    Use,
    Say,
}

impl Head {
    /// Whether the request takes the whole sentence, other requests in it included.
    pub(super) fn takes_sentence(self) -> bool {
        matches!(self, Self::Delegate | Self::Todo)
    }
}

/// Beginnings of requests. The longest that fits and is followed by what it needs wins.
const HEADS: &[(&str, Head)] = &[
    ("list", Head::List),
    ("ls", Head::List),
    ("show the files", Head::List),
    ("show me the files", Head::List),
    ("show all files", Head::List),
    ("show me all files", Head::List),
    ("what files", Head::List),
    ("which files", Head::List),
    ("read", Head::Read),
    ("cat", Head::Read),
    ("show", Head::Show),
    ("show me", Head::Show),
    ("open", Head::Show),
    ("print", Head::Show),
    ("display", Head::Show),
    ("describe", Head::Show),
    ("explain", Head::Show),
    ("summarize", Head::Show),
    ("summarise", Head::Show),
    ("look at", Head::Show),
    ("what does", Head::Show),
    ("what is in", Head::Show),
    ("what's in", Head::Show),
    ("tell me what", Head::Show),
    ("tell me what's in", Head::Show),
    ("tell me about", Head::Show),
    ("run", Head::Run),
    ("execute", Head::Run),
    ("write", Head::Write),
    ("create", Head::Write),
    ("save", Head::Write),
    ("put", Head::Write),
    ("make a file", Head::Write),
    ("make a new file", Head::Write),
    ("replace", Head::Replace),
    ("find and replace", Head::Replace),
    ("change", Head::Replace),
    ("rename", Head::Replace),
    ("search", Head::Search),
    ("search for", Head::Search),
    ("grep", Head::Search),
    ("grep for", Head::Search),
    ("look for", Head::Search),
    ("find", Head::Search),
    ("ask", Head::Ask),
    ("ask me", Head::Ask),
    ("ask the user", Head::Ask),
    ("delegate", Head::Delegate),
    ("have a subagent", Head::Delegate),
    ("let a subagent", Head::Delegate),
    ("ask a subagent to", Head::Delegate),
    ("use a subagent to", Head::Delegate),
    ("start a subagent to", Head::Delegate),
    ("start a subagent that", Head::Delegate),
    ("spawn a subagent to", Head::Delegate),
    ("remember", Head::Todo),
    ("remember to", Head::Todo),
    ("plan", Head::Todo),
    ("plan to", Head::Todo),
    ("todo", Head::Todo),
    ("todos", Head::Todo),
    ("make a plan", Head::Todo),
    ("make a todo list", Head::Todo),
    ("fetch", Head::Fetch),
    ("download", Head::Fetch),
    ("get", Head::Fetch),
    ("use", Head::Use),
    ("call", Head::Use),
    ("invoke", Head::Use),
    ("say", Head::Say),
    ("repeat", Head::Say),
    ("reply with", Head::Say),
    ("answer with", Head::Say),
];

/// Words and phrases that may stand before a request without meaning anything.
const FILLERS: &[&str] = &[
    "please",
    "kindly",
    "could you",
    "can you",
    "would you",
    "will you",
    "now",
    "then",
    "and",
    "also",
    "first",
    "next",
    "finally",
    "afterwards",
    "after that",
    "just",
    "hi",
    "hello",
    "hey",
    "ok",
    "okay",
    "thanks",
    "thank you",
    "i want you to",
    "i would like you to",
    "i'd like you to",
    "let us",
    "let's",
    "go ahead and",
    "so",
];

/// Tells which request begins with these tokens and how many of them say so.
pub(super) fn head(tokens: &[Token<'_>], tools: &[&str]) -> Option<(Head, usize)> {
    HEADS
        .iter()
        .filter_map(|(phrase, head)| Some((*head, phrase_length(tokens, phrase)?)))
        .filter(|(head, used)| is_followed_rightly(*head, sentence(&tokens[*used..]), tools))
        .max_by_key(|(_, used)| *used)
}

/// How many tokens at the beginning only lead up to a request.
pub(super) fn fillers(tokens: &[Token<'_>]) -> usize {
    let mut at = 0;
    while at < tokens.len() {
        let filler = FILLERS.iter().filter_map(|phrase| phrase_length(&tokens[at..], phrase)).max();
        match filler {
            Some(length) => at += length,
            None if !tokens[at].is_content() => at += 1,
            None => break,
        }
    }
    at
}

fn phrase_length(tokens: &[Token<'_>], phrase: &str) -> Option<usize> {
    let mut words = 0;
    for word in phrase.split(' ') {
        if !tokens.get(words)?.is(word) {
            return None;
        }
        words += 1;
    }
    Some(words)
}

fn sentence<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let end = tokens.iter().position(Token::ends_sentence).unwrap_or(tokens.len());
    &tokens[..end]
}

fn is_followed_rightly(head: Head, rest: &[Token<'_>], tools: &[&str]) -> bool {
    match head {
        Head::List => names_files(rest),
        Head::Show => rest.iter().any(Token::is_path_like),
        Head::Write => rest.iter().any(|t| t.is_path_like() || t.is("file")),
        Head::Replace => rest.iter().any(|t| t.is_any(&["with", "by", "to", "into"])),
        Head::Fetch => rest.iter().any(|token| token.text.contains("://")),
        Head::Use => names_tool(rest, tools),
        // The content of these may begin on the next line.
        Head::Run | Head::Todo | Head::Delegate => true,
        Head::Read | Head::Search | Head::Ask | Head::Say => !rest.is_empty(),
    }
}

fn names_files(rest: &[Token<'_>]) -> bool {
    const NOUNS: &[&str] = &[
        "files",
        "file",
        "directory",
        "directories",
        "folder",
        "folders",
        "contents",
        "content",
        "everything",
        "entries",
        "here",
    ];
    let after = rest.iter().find(|token| !token.is_any(&["the", "all", "my", "me", "of", "are"]));
    after.is_none_or(|token| {
        token.is_any(NOUNS)
            || token.is_any(&["in", "and", "then"])
            || token.is_path_like()
            || token.kind == Kind::Comma
    })
}

/// "use Bash to list the files" says how, not what: there the request comes after "to".
fn names_tool(rest: &[Token<'_>], tools: &[&str]) -> bool {
    let Some(tool) = rest.iter().take(4).position(|token| is_tool(token, tools)) else {
        return false;
    };
    let after = rest[tool + 1..].iter().find(|token| !token.is("tool"));
    !after.is_some_and(|token| token.is("to"))
}

/// Whether a token names a tool.
pub(super) fn is_tool(token: &Token<'_>, tools: &[&str]) -> bool {
    matches!(token.kind, Kind::Word | Kind::Quoted)
        && (token.text.starts_with("mcp__") || tools.contains(&token.text))
}
