//! A shell command before the rules: what is forbidden about it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::call::Facts;
use crate::critical::critical_removal;
use crate::glob::{self, Case};
use crate::guard::{Guard, shown};
use crate::path_pattern::Side;
use crate::place::{Names, OtherNames, Place};
use crate::protected::{could_be_protected, is_protected};
use crate::rule::{Matter, Rule};
use crate::shell::{self, Hit, Launch, Script, Simple, Target, Word};
use crate::verdict::Written;

/// A shell command with its surroundings.
pub(crate) struct ShellCall<'a> {
    /// The tool that is to run it.
    pub(crate) tool: &'a str,
    pub(crate) place: Place<'a>,
    pub(crate) guard: &'a Guard,
    pub(crate) script: Script,
    /// Names that were looked up before: asking a disk takes long, and every rule asks again.
    known: RefCell<HashMap<(String, PathBuf), Names>>,
}

/// A rule that fits a part of a command.
pub(crate) struct Found<'a> {
    pub(crate) hit: Hit,
    pub(crate) rule: &'a Rule,
    /// The part; nothing when it is the command as a whole.
    pub(crate) part: Option<usize>,
}

impl<'a> ShellCall<'a> {
    pub(crate) fn read(
        facts: &Facts<'a>,
        command: &str,
        place: Place<'a>,
        guard: &'a Guard,
    ) -> Self {
        let script = shell::read(command, place.cwd(), place.home);
        Self { tool: facts.tool, place, guard, script, known: RefCell::default() }
    }

    /// Whether what a rule says about commands is said about this one: rules about Bash are, and
    /// those about the tool itself.
    pub(crate) fn is_subject_to(&self, rule: &Rule) -> bool {
        rule.tool() == "Bash" || rule.tool() == self.tool
    }

    /// The directories in which a part may run.
    pub(crate) fn directories(&self, simple: &Simple) -> Vec<PathBuf> {
        if simple.directory.candidates.is_empty() {
            return vec![self.place.cwd().to_path_buf()];
        }
        simple.directory.candidates.clone()
    }

    /// A path by all names it may have, wherever the part runs.
    pub(crate) fn names(&self, text: &str, simple: &Simple) -> Names {
        let directories = self.directories(simple);
        let mut names = self.names_in(text, &directories[0]);
        for directory in &directories[1..] {
            names.add(&self.names_in(text, directory));
        }
        names
    }

    fn names_in(&self, text: &str, directory: &Path) -> Names {
        let key = (text.to_owned(), directory.to_path_buf());
        let mut known = self.known.borrow_mut();
        known.entry(key).or_insert_with(|| self.place.names(text, directory)).clone()
    }

    /// The guarded file that a part would write.
    pub(crate) fn guarded(&self) -> Option<(Option<usize>, String)> {
        if self.guard.guarded.is_empty() {
            return None;
        }
        for (at, simple) in self.script.commands.iter().enumerate() {
            let removes = self.removes(simple);
            for target in shell::targets(simple) {
                let names = self.names(&target.text, simple);
                if self.guard.covers(&names) || (removes && self.guard.lies_below(&names)) {
                    return Some((Some(at), shown(names.shown(), &self.place)));
                }
                let could = target.pattern.and_then(|pattern| self.guard.could_cover(&pattern));
                if let Some(name) = could {
                    return Some((Some(at), name));
                }
            }
            if self.runs_code(simple)
                && let Some(name) =
                    simple.words.iter().find_map(|word| self.guard.mentioned_in(word.text()))
            {
                return Some((Some(at), name));
            }
        }
        let unread = self.script.commands.is_empty() && !self.script.readable;
        self.guard.mentioned_in(&self.script.text).filter(|_| unread).map(|name| (None, name))
    }

    /// A part that is not known to only look and mentions a guarded file.
    pub(crate) fn mentions_guarded(&self) -> Option<(usize, String)> {
        self.script.commands.iter().enumerate().find_map(|(at, simple)| {
            let words: Option<Vec<&str>> = simple.literal_words();
            if words.is_some_and(|words| shell::looks(simple, &words).is_some()) {
                return None;
            }
            let texts = simple.words.iter().skip(1).map(Word::text);
            let assigned = simple.assignments.iter().map(|(_, value)| value.text());
            texts
                .chain(assigned)
                .find_map(|text| self.guard.mentioned_in(text))
                .map(|name| (at, name))
        })
    }

    fn removes(&self, simple: &Simple) -> bool {
        let words: Vec<&str> = simple.words.iter().map(Word::text).collect();
        shell::views(&words).iter().any(|view| {
            view.first().is_some_and(|name| {
                matches!(name.rsplit('/').next(), Some("rm" | "rmdir" | "mv" | "find" | "rename"))
            })
        })
    }

    /// Whether a part runs code that is one of its words.
    fn runs_code(&self, simple: &Simple) -> bool {
        let words: Vec<&str> = simple.words.iter().map(Word::text).collect();
        words.first().is_some_and(|first| shell::is_interpreter(first) || shell::is_shell(first))
            || shell::launch(&words).iter().any(|launch| matches!(launch, Launch::Code(_)))
    }

    /// The best fitting rule of those that forbid or ask.
    pub(crate) fn restricted<'r>(&self, rules: &'r [Rule]) -> Option<Found<'r>> {
        let mut best: Option<Found<'r>> = None;
        for rule in rules {
            let found = self.restricted_by(rule);
            if found.hit > best.as_ref().map_or(Hit::No, |best| best.hit) {
                best = Some(found);
            }
        }
        best
    }

    fn restricted_by<'r>(&self, rule: &'r Rule) -> Found<'r> {
        let mut best = Found { hit: self.whole_hit(rule), rule, part: None };
        for (at, simple) in self.script.commands.iter().enumerate() {
            let hit = match &rule.matter {
                Matter::Command(pattern) if self.is_subject_to(rule) => {
                    pattern.hits(simple, &self.script)
                }
                _ => self.file_hit(rule, simple),
            };
            if hit > best.hit {
                best = Found { hit, rule, part: Some(at) };
            }
        }
        best
    }

    /// What can be said without looking at parts.
    fn whole_hit(&self, rule: &Rule) -> Hit {
        match &rule.matter {
            Matter::Everything if rule.is_about(self.tool, Side::Restrict) => Hit::Yes,
            Matter::Unknown if rule.is_about(self.tool, Side::Restrict) => Hit::Yes,
            Matter::Command(pattern) if self.is_subject_to(rule) && !self.script.readable => {
                if pattern.could_begin_in(&self.script.text) {
                    Hit::Yes
                } else {
                    Hit::Maybe
                }
            }
            Matter::Path(_) if !self.script.readable && self.script.commands.is_empty() => {
                Hit::Maybe
            }
            _ => Hit::No,
        }
    }

    /// How a rule about files fits the files of a part.
    fn file_hit(&self, rule: &Rule, simple: &Simple) -> Hit {
        if !matches!(rule.tool(), "Read" | "Edit") || rule.matter == Matter::Unknown {
            return Hit::No;
        }
        let fits = |text: &str| {
            self.names(text, simple).any(|name| rule.fits_path(name, &self.place, Side::Restrict))
        };
        let mut best = Hit::No;
        for target in shell::targets(simple) {
            // A bare rule is about the tool; only redirections count as its writes.
            if is_free(&target.text)
                || (rule.content().is_none() && (rule.tool() == "Read" || !target.redirected))
            {
                continue;
            }
            best = best.max(if fits(&target.text) {
                Hit::Yes
            } else if target.certain {
                Hit::No
            } else {
                Hit::Maybe
            });
        }
        if rule.tool() == "Read" && rule.content().is_some() {
            best = best.max(self.read_hit(rule, simple, &fits));
        }
        best
    }

    fn read_hit(&self, rule: &Rule, simple: &Simple, fits: &dyn Fn(&str) -> bool) -> Hit {
        if shell::reads_of(simple).iter().any(|text| fits(text)) {
            return Hit::Yes;
        }
        let Matter::Path(pattern) = &rule.matter else { return Hit::No };
        let plain = pattern.plain_names();
        let could_be = |word: &Word| {
            let last = word.as_glob();
            let last = last.rsplit('/').next().unwrap_or_default().to_owned();
            word.likely.is_none()
                && !word.is_open()
                && plain.iter().any(|name| glob::matches(&last, name, Case::Folded))
        };
        let inputs = || simple.redirects.iter().filter_map(|redirect| redirect.target.as_ref());
        let words = || simple.words.iter().skip(1).chain(inputs());
        if words().any(could_be) {
            return Hit::Yes;
        }
        let mentions = |word: &Word| plain.iter().any(|name| word.text().contains(name));
        let program = simple.words.first().map_or("", |word| word.text());
        let reads_files = shell::reads_files(program);
        let open = words().any(|word| word.likely.is_none() && (reads_files || word.is_glob()))
            || inputs().any(|word| word.likely.is_none());
        let reaches = |text: &str| {
            self.names(text, simple)
                .any(|folder| pattern.may_reach_below(folder, &self.place, rule.source.as_deref()))
        };
        let literal: Option<Vec<&str>> = simple.literal_words();
        let looking = literal.and_then(|words| shell::looks(simple, &words));
        let deep = match &looking {
            Some(looking) => looking.deep && looking.reads.iter().any(|path| reaches(path)),
            None => words().any(|word| {
                matches!(word.text().trim_end_matches('/'), "." | ".." | "" | "~" | "./*" | "*")
                    && !word.raw.is_empty()
            }),
        };
        if words().any(mentions) || open || deep { Hit::Maybe } else { Hit::No }
    }

    /// A removal that only a person approves.
    pub(crate) fn critical(&self) -> Option<(usize, &str)> {
        self.script.commands.iter().enumerate().find_map(|(at, simple)| {
            critical_removal(simple, &self.place).map(|word| (at, word.raw.as_str()))
        })
    }

    /// Whether a target is one that nothing but a person approves.
    pub(crate) fn is_protected(&self, target: &Target, simple: &Simple) -> bool {
        self.names(&target.text, simple).any(is_protected)
            || target.pattern.as_deref().is_some_and(could_be_protected)
    }

    /// The files that a part would write, for people.
    ///
    /// Nobody knows what every program does with its words, so guarded files count as
    /// written by any part that is not known to only look.
    pub(crate) fn written(&self, simple: &Simple) -> Vec<Written> {
        let mut written: Vec<Written> = Vec::new();
        for target in shell::targets(simple) {
            let names = self.names(&target.text, simple);
            let open = target.pattern.is_some();
            let path = if open { target.text.clone() } else { names.shown().display().to_string() };
            if !is_free(&target.text) {
                self.add_written(path, &mut written);
            }
        }
        let looks =
            simple.literal_words().is_some_and(|words| shell::looks(simple, &words).is_some());
        if !looks && !self.guard.guarded.is_empty() {
            let words = simple.words.iter().skip(1).flat_map(|word| shell::file_names(word.text()));
            for names in words.map(|text| self.names(&text, simple)) {
                if self.guard.covers(&names) {
                    self.add_written(names.shown().display().to_string(), &mut written);
                }
            }
        }
        written
    }

    fn add_written(&self, path: String, written: &mut Vec<Written>) {
        if written.iter().any(|known| known.path == path) {
            return;
        }
        let unknown = self.place.disk.other_names(Path::new(&path)) != OtherNames::None;
        let may_be = self.guard.names().filter(|_| unknown).map(str::to_owned).collect();
        written.push(Written { path, may_be });
    }
}

/// Places that anything may be written to.
pub(crate) fn is_free(text: &str) -> bool {
    matches!(text, "/dev/null" | "/dev/stdout" | "/dev/stderr")
}
