//! Wildcards: `*`, `?` and `[…]` against a text, in time linear in both for each `*`.

/// Whether letters count as different when only their case differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// `A` is not `a`.
    Exact,
    /// `A` is `a`.
    Folded,
}

/// Whether the whole text is described by the pattern.
///
/// A star also covers slashes and spaces; callers cut the text where it must not.
pub(crate) fn matches(pattern: &str, text: &str, case: Case) -> bool {
    let fold = |text: &str| -> Vec<char> {
        match case {
            Case::Exact => text.chars().collect(),
            Case::Folded => text.chars().flat_map(char::to_lowercase).collect(),
        }
    };
    let (pattern, text) = (fold(pattern), fold(text));
    let (mut p, mut t) = (0, 0);
    // Where to go on after a mismatch: behind the newest star, one character further.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            p += 1;
            retry = Some((p, t));
            continue;
        }
        match one(&pattern[p..], text[t]) {
            Some(used) => {
                p += used;
                t += 1;
            }
            None => match retry {
                Some((behind_star, from)) => {
                    p = behind_star;
                    t = from + 1;
                    retry = Some((behind_star, t));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// How many characters of the pattern describe this one character, if they do.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => match class(pattern, c) {
            Some((true, used)) => Some(used),
            Some((false, _)) => None,
            None => (c == '[').then_some(1),
        },
        '\\' if pattern.len() > 1 => (pattern[1] == c).then_some(2),
        literal => (*literal == c).then_some(1),
    }
}

/// Reads a class such as `[a-z]` or `[!0-9]`: whether it contains the character, and its length.
fn class(pattern: &[char], c: char) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let first = 1 + usize::from(negated);
    let end = (first + 1..pattern.len()).find(|at| pattern[*at] == ']')?;
    let members = &pattern[first..end];
    let mut found = false;
    let mut at = 0;
    while at < members.len() {
        if at + 2 < members.len() && members[at + 1] == '-' {
            found |= (members[at]..=members[at + 2]).contains(&c);
            at += 3;
        } else {
            found |= members[at] == c;
            at += 1;
        }
    }
    Some((found != negated, end + 1))
}

/// Where a `[` stands that no `]` closes, as a character index.
pub(crate) fn unclosed_class(pattern: &str) -> Option<usize> {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            '\\' => at += 2,
            '[' => match class(&pattern[at..], ' ') {
                Some((_, used)) => at += used,
                None => return Some(at),
            },
            _ => at += 1,
        }
    }
    None
}
