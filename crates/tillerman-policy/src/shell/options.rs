//! Exact lists of the options that a program may be given.

/// The options that are understood; any other makes the whole command not understood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Letters without a value.
    pub(crate) switches: &'static str,
    /// Letters with a value, attached or as the next word.
    pub(crate) valued: &'static str,
    /// Long names; `name=` takes a value, `name=?` only an attached one, if any.
    pub(crate) long: &'static [&'static str],
    /// Whether `-5` is a number of lines.
    pub(crate) number: bool,
}

impl Options {
    /// No options at all.
    pub(crate) const NONE: Self = Self { switches: "", valued: "", long: &[], number: false };

    /// Options as letters.
    pub(crate) const fn letters(switches: &'static str, valued: &'static str) -> Self {
        Self { switches, valued, long: &[], number: false }
    }

    /// The same with long names.
    #[must_use]
    pub(crate) const fn long(self, long: &'static [&'static str]) -> Self {
        Self { long, ..self }
    }

    /// The same with `-5`.
    #[must_use]
    pub(crate) const fn number(self) -> Self {
        Self { number: true, ..self }
    }
}

/// Arguments that consist of known options and operands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments<'a> {
    /// Options in order: letter or long name, and value.
    pub(crate) given: Vec<(&'a str, Option<&'a str>)>,
    /// Everything else in order.
    pub(crate) operands: Vec<&'a str>,
    /// How many operands came after `--`.
    pub(crate) after_dashes: usize,
}

impl Arguments<'_> {
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.given.iter().any(|(name, _)| names.contains(name))
    }
}

/// Takes arguments apart, or says nothing when one of them is not in the list.
pub(crate) fn parse<'a>(options: &Options, words: &[&'a str]) -> Option<Arguments<'a>> {
    let mut arguments = Arguments::default();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            let rest: Vec<&str> = words.collect();
            arguments.after_dashes = rest.len();
            arguments.operands.extend(rest);
            return Some(arguments);
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let known =
                options.long.iter().find(|known| known.trim_end_matches(['=', '?']) == name)?;
            let value = match (known.ends_with('='), value) {
                (true, None) => Some(words.next()?),
                (false, Some(_)) if !known.ends_with("=?") => return None,
                (_, value) => value,
            };
            arguments.given.push((name, value));
        } else if word.len() > 1 && word.starts_with('-') {
            let letters = &word[1..];
            if options.number && letters.bytes().all(|byte| byte.is_ascii_digit()) {
                arguments.given.push((letters, None));
                continue;
            }
            cluster(options, letters, &mut words, &mut arguments)?;
        } else {
            arguments.operands.push(word);
        }
    }
    Some(arguments)
}

/// Takes `-la` or `-n5` apart.
fn cluster<'a>(
    options: &Options,
    letters: &'a str,
    words: &mut impl Iterator<Item = &'a str>,
    arguments: &mut Arguments<'a>,
) -> Option<()> {
    for (at, letter) in letters.char_indices() {
        let behind = at + letter.len_utf8();
        let name = &letters[at..behind];
        if options.valued.contains(letter) {
            let attached = &letters[behind..];
            let value = if attached.is_empty() { words.next()? } else { attached };
            arguments.given.push((name, Some(value)));
            return Some(());
        }
        if !options.switches.contains(letter) {
            return None;
        }
        arguments.given.push((name, None));
    }
    Some(())
}
