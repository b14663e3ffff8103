//! The files that a simple command would write or read, as far as its words tell.
//!
//! This is for refusing and for showing. It names too much rather than too little, and what it does
//! not name may still be written: only exact argument lists approve anything.

use super::dispatch::{program, views};
use super::little_languages::sed_writes;
use super::redirect::RedirectKind;
use super::script::Simple;
use super::word::Word;

/// A file that would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Its likely name.
    pub(crate) text: String,
    /// Whether that is certain, or the word as it is written stands for something open.
    pub(crate) certain: bool,
    /// Whether a redirection writes it, and not the program itself.
    pub(crate) redirected: bool,
    /// A pattern for names it could have, where it is not certain.
    pub(crate) pattern: Option<String>,
}

/// Everything that a command would write.
pub(crate) fn targets(simple: &Simple) -> Vec<Target> {
    let mut found = Vec::new();
    for redirect in &simple.redirects {
        let Some(word) = redirect.target.as_ref().filter(|_| redirect.kind == RedirectKind::Write)
        else {
            continue;
        };
        let pattern = word.likely.is_none().then(|| word.as_glob());
        let certain = word.literal().is_some();
        found.push(Target { text: word.text().to_owned(), certain, redirected: true, pattern });
    }
    let words: Vec<&str> = simple.words.iter().map(Word::text).collect();
    let elsewhere = moved_by_env(&words);
    for view in views(&words) {
        for mut text in written_by(view) {
            if let Some(folder) =
                elsewhere.filter(|_| view.len() < words.len() && !text.starts_with('/'))
            {
                text = format!("{folder}/{text}");
            }
            let word = simple.words.iter().find(|word| word.text() == text);
            let certain = word.is_none_or(|word| word.literal().is_some());
            let pattern = word.filter(|word| word.likely.is_none()).map(Word::as_glob);
            found.push(Target { text, certain, redirected: false, pattern });
        }
    }
    found
}

/// The folder that `env -C` runs a command in.
fn moved_by_env<'a>(words: &[&'a str]) -> Option<&'a str> {
    if program(words.first()?) != "env" {
        return None;
    }
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--chdir=") {
        Some(folder) => Some(folder),
        None if matches!(*word, "-C" | "--chdir") => words.get(at + 1).copied(),
        None => None,
    })
}

/// Every text of a command that could be the name of a file it reads.
pub(crate) fn reads_of(simple: &Simple) -> Vec<String> {
    let mut found = Vec::new();
    let inputs = simple.redirects.iter().filter_map(|redirect| redirect.target.as_ref());
    for word in simple.words.iter().skip(1).chain(inputs) {
        found.extend(file_names(word.text()));
    }
    found
}

/// A word itself, and the ends of it that options and similar notations make file names.
pub(crate) fn file_names(word: &str) -> Vec<String> {
    let mut names = vec![word.to_owned()];
    names.extend(
        word.split(['=', ',', ':', '@']).filter(|part| !part.is_empty()).map(str::to_owned),
    );
    if let Some((_, after)) = word.split_once('=') {
        names.push(after.to_owned());
    }
    if word.starts_with('-') && !word.starts_with("--") {
        // `-fFILE`, also behind other letters.
        names.extend(word.char_indices().skip(2).take(3).map(|(at, _)| word[at..].to_owned()));
    }
    names
}

fn operands<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut only_operands = false;
    let mut found = Vec::new();
    for word in &words[1..] {
        if *word == "--" && !only_operands {
            only_operands = true;
        } else if only_operands || !word.starts_with('-') || *word == "-" {
            found.push(*word);
        }
    }
    found
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn written_by(words: &[&str]) -> Vec<String> {
    let Some(first) = words.first() else { return Vec::new() };
    let operands = operands(words);
    let has = |letters: &[char], long: &str| has_option(words, letters, long);
    let mut found = match program(first) {
        "tee" | "touch" | "mkdir" | "rm" | "rmdir" | "unlink" | "truncate" | "fallocate"
        | "shred" | "mkfifo" | "mknod" | "setfacl" | "chattr" | "setfattr" | "ed" | "ex" | "vi"
        | "vim" | "nvim" | "nano" | "emacs" | "gzip" | "gunzip" | "bzip2" | "xz" | "zstd"
        | "zip" | "patch" | "script" | "split" | "sponge" | "mkdirhier" => owned(&operands),
        "chmod" | "chown" | "chgrp" => owned(operands.get(1..).unwrap_or_default()),
        "history" | "fc" => owned(&operands),
        "cp" | "install" | "rsync" | "scp" => copied(words, &operands, has(&['l', 's'], "link")),
        "mv" | "ln" | "link" | "rename" => copied(words, &operands, true),
        "uniq" | "xxd" => owned(operands.get(1..).unwrap_or_default()),
        "sed" if has(&['i'], "in-place") => owned(&operands),
        "sed" => operands.iter().flat_map(|script| sed_writes(script)).collect(),
        "perl" | "ruby" | "gawk" if has(&['i'], "include") => owned(&operands),
        "find" => found_files(words),
        "git"
            if operands.iter().any(|word| {
                matches!(
                    *word,
                    "checkout" | "restore" | "rm" | "mv" | "clean" | "worktree" | "clone" | "init"
                )
            }) =>
        {
            owned(operands.get(1..).unwrap_or_default())
        }
        _ => Vec::new(),
    };
    if program(first) == "sed" {
        let scripts = values(words, &["e"], "expression");
        found.extend(scripts.iter().flat_map(|script| sed_writes(script)));
    }
    found.extend(outputs(words));
    found
}

/// Files named by options such as `-o FILE`, `--output=FILE` (also shortened) and `of=FILE`.
fn outputs(words: &[&str]) -> Vec<String> {
    let mut letters = vec!["o"];
    match program(words[0]) {
        "wget" => letters.push("O"),
        "curl" => letters.extend(["D", "c"]),
        "csplit" => letters.push("f"),
        // Here the letter has nothing to do with files.
        "ls" | "grep" | "egrep" | "fgrep" | "rg" | "ps" | "ssh" | "scp" | "set" | "bash" | "sh"
        | "mount" | "find" | "git" | "cut" | "od" | "lsof" | "getopt" => letters.clear(),
        _ => {}
    }
    let mut found = values(words, &letters, "output");
    for long in [
        "out",
        "output-document",
        "output-file",
        "outfile",
        "dump-header",
        "cookie-jar",
        "log-file",
        "file",
    ] {
        found.extend(values(words, &[], long));
    }
    found.extend(words.iter().filter_map(|word| word.strip_prefix("of=")).map(str::to_owned));
    found
}

/// The values of an option, attached or as the next word; long names may be shortened.
fn values(words: &[&str], letters: &[&str], long: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        let next = || words.get(at + 1).map(|value| (*value).to_owned());
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            if !name.is_empty() && long.starts_with(name) {
                found.extend(value.or_else(next));
            }
        } else if let Some(option) = word.strip_prefix('-') {
            for letter in letters {
                if let Some((_, value)) = option.split_once(letter) {
                    found.extend(if value.is_empty() { next() } else { Some(value.to_owned()) });
                }
            }
        }
    }
    found
}

fn has_option(words: &[&str], letters: &[char], long: &str) -> bool {
    words.iter().skip(1).any(|word| match word.strip_prefix("--") {
        Some(name) => {
            let name = name.split('=').next().unwrap_or(name);
            name.len() > 1 && (long.starts_with(name) || name.ends_with("link"))
        }
        None => word.starts_with('-') && word[1..].contains(letters),
    })
}

/// Where a copy lands: the last operand, or a file of the same name in it.
fn copied(words: &[&str], operands: &[&str], sources_too: bool) -> Vec<String> {
    let folder = values(words, &["t"], "target-directory").pop();
    let (sources, target) = match (folder, operands) {
        (Some(folder), sources) => {
            let sources = sources.iter().filter(|source| **source != folder).copied().collect();
            (sources, folder)
        }
        (None, [sources @ .., target]) if !sources.is_empty() => {
            (sources.to_vec(), (*target).to_owned())
        }
        // `ln TARGET` makes a link in the working directory.
        (None, sources) => (sources.to_vec(), ".".to_owned()),
    };
    let inside = |source: &&str| {
        let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source);
        format!("{}/{name}", target.trim_end_matches('/'))
    };
    let mut found: Vec<String> = sources.iter().map(inside).collect();
    found.push(target.clone());
    if sources_too {
        found.extend(owned(&sources));
    }
    found
}

fn found_files(words: &[&str]) -> Vec<String> {
    let writes = |word: &str| matches!(word, "-fprint" | "-fprint0" | "-fprintf" | "-fls");
    let mut found: Vec<String> =
        words.windows(2).filter(|pair| writes(pair[0])).map(|pair| pair[1].to_owned()).collect();
    if words.contains(&"-delete") {
        found.extend(
            words[1..]
                .iter()
                .take_while(|word| !word.starts_with('-'))
                .map(|word| (*word).to_owned()),
        );
    }
    found
}
