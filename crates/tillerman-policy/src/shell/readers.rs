//! The programs that only look, each with every option it may be given.

use super::options::Options;

/// A program that only looks.
pub(crate) struct Reader {
    pub(crate) names: &'static [&'static str],
    pub(crate) options: Options,
    pub(crate) operands: Operands,
}

/// What the operands of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// There are none.
    None,
    /// Texts that mean nothing to the file system.
    Text,
    /// Paths that are read.
    Paths,
    /// At most one path: a second one would be written.
    OnePath,
    /// Paths that are read; without any, the working directory.
    Tree,
    /// A pattern, then paths.
    PatternThenPaths,
}

const fn reader(names: &'static [&'static str], options: Options, operands: Operands) -> Reader {
    Reader { names, options, operands }
}

const fn letters(switches: &'static str, valued: &'static str) -> Options {
    Options::letters(switches, valued)
}

const GREP_LONG: &[&str] = &[
    "recursive",
    "ignore-case",
    "line-number",
    "files-with-matches",
    "files-without-match",
    "count",
    "invert-match",
    "word-regexp",
    "line-regexp",
    "extended-regexp",
    "fixed-strings",
    "basic-regexp",
    "perl-regexp",
    "only-matching",
    "quiet",
    "silent",
    "no-messages",
    "no-filename",
    "with-filename",
    "after-context=",
    "before-context=",
    "context=",
    "max-count=",
    "regexp=",
    "include=",
    "exclude=",
    "exclude-dir=",
    "color=?",
    "colour=?",
    "text",
    "null",
];

const RIPGREP_LONG: &[&str] = &[
    "ignore-case",
    "smart-case",
    "case-sensitive",
    "line-number",
    "no-line-number",
    "files-with-matches",
    "files-without-match",
    "count",
    "count-matches",
    "invert-match",
    "word-regexp",
    "line-regexp",
    "fixed-strings",
    "only-matching",
    "quiet",
    "after-context=",
    "before-context=",
    "context=",
    "max-count=",
    "max-depth=",
    "regexp=",
    "glob=",
    "iglob=",
    "type=",
    "type-not=",
    "type-list",
    "files",
    "hidden",
    "no-ignore",
    "no-ignore-vcs",
    "multiline",
    "multiline-dotall",
    "json",
    "stats",
    "heading",
    "no-heading",
    "no-filename",
    "with-filename",
    "sort=",
    "sortr=",
    "color=",
    "pcre2",
    "text",
    "trim",
    "vimgrep",
    "column",
    "no-config",
    "null",
    "replace=",
];

const HASH_LONG: &[&str] = &["binary", "text", "tag", "zero"];

pub(crate) const READERS: &[Reader] = &[
    reader(
        &["true", "false", ":", "whoami", "arch", "tty", "logname"],
        Options::NONE,
        Operands::None,
    ),
    reader(&["echo"], Options::NONE, Operands::Text),
    reader(&["pwd"], letters("LP", ""), Operands::None),
    reader(&["hostname"], letters("sfdiI", ""), Operands::None),
    reader(
        &["uname"],
        letters("asnrvmpio", "").long(&["all", "kernel-name", "machine"]),
        Operands::None,
    ),
    reader(&["id"], letters("ugGnr", ""), Operands::Text),
    reader(
        &["groups", "basename", "dirname"],
        letters("az", "s").long(&["multiple", "suffix=", "zero"]),
        Operands::Text,
    ),
    reader(&["nproc"], Options::NONE.long(&["all"]), Operands::None),
    reader(&["uptime"], letters("ps", ""), Operands::None),
    reader(&["free"], letters("bkmght", ""), Operands::None),
    reader(&["seq"], letters("w", "sf"), Operands::Text),
    reader(&["which"], letters("as", ""), Operands::Text),
    reader(&["type"], letters("afptP", ""), Operands::Text),
    reader(
        &["tr"],
        letters("cCdst", "").long(&["complement", "delete", "squeeze-repeats"]),
        Operands::Text,
    ),
    reader(
        &["ls", "dir", "vdir"],
        letters("1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ", "wIT").long(&[
            "all",
            "almost-all",
            "human-readable",
            "recursive",
            "reverse",
            "color=?",
            "sort=",
            "time=",
            "time-style=",
            "format=",
            "classify=?",
            "directory",
            "full-time",
            "size",
            "group-directories-first",
            "inode",
            "ignore=",
            "hide=",
            "no-group",
            "numeric-uid-gid",
            "quote-name",
            "si",
            "file-type",
            "indicator-style=",
            "literal",
            "author",
            "escape",
        ]),
        Operands::Tree,
    ),
    reader(
        &["cat", "tac"],
        letters("nbsAetvETu", "").long(&[
            "number",
            "number-nonblank",
            "show-all",
            "show-ends",
            "show-tabs",
            "squeeze-blank",
        ]),
        Operands::Paths,
    ),
    reader(
        &["head", "tail"],
        letters("qvz", "nc").long(&["lines=", "bytes=", "quiet", "silent", "verbose"]).number(),
        Operands::Paths,
    ),
    reader(
        &["wc"],
        letters("lwcmL", "").long(&["lines", "words", "bytes", "chars", "max-line-length"]),
        Operands::Paths,
    ),
    reader(
        &["grep", "egrep", "fgrep"],
        letters("rinlLcvwxEFGPoqshHaIzZbTU", "ABCme").long(GREP_LONG).number(),
        Operands::PatternThenPaths,
    ),
    reader(
        &["rg"],
        letters("inNlcvwxFoqSsuUaPHI0", "ABCmegtTdr").long(RIPGREP_LONG),
        Operands::PatternThenPaths,
    ),
    reader(
        &["stat"],
        letters("ft", "c").long(&["format=", "printf=", "terse", "file-system"]),
        Operands::Paths,
    ),
    reader(
        &["du"],
        letters("shackmbxS0", "d").long(&[
            "summarize",
            "human-readable",
            "all",
            "total",
            "max-depth=",
            "apparent-size",
            "bytes",
            "one-file-system",
            "si",
        ]),
        Operands::Tree,
    ),
    reader(
        &["df"],
        letters("hHkmTil", "").long(&[
            "human-readable",
            "si",
            "print-type",
            "inodes",
            "local",
            "total",
        ]),
        Operands::Paths,
    ),
    reader(
        &["tree"],
        letters("adfisphDFrtCnQ", "LIP").long(&["dirsfirst", "noreport", "du", "si"]),
        Operands::Tree,
    ),
    reader(
        &["diff"],
        letters("uqbBwiyNaEtTZsdcen", "UC").long(&[
            "brief",
            "unified=?",
            "context=?",
            "side-by-side",
            "ignore-case",
            "ignore-all-space",
            "ignore-space-change",
            "ignore-blank-lines",
            "new-file",
            "color=?",
            "report-identical-files",
            "minimal",
            "suppress-common-lines",
            "text",
            "width=",
            "strip-trailing-cr",
            "no-dereference",
        ]),
        Operands::Paths,
    ),
    reader(
        &["cmp"],
        letters("bls", "n").long(&["silent", "quiet", "verbose", "print-bytes", "bytes="]),
        Operands::Paths,
    ),
    reader(
        &["comm"],
        letters("123iz", "").long(&["check-order", "nocheck-order", "total"]),
        Operands::Paths,
    ),
    reader(
        &["sort"],
        letters("nrufhVbdgiMRcCsz", "kt").long(&[
            "numeric-sort",
            "reverse",
            "unique",
            "ignore-case",
            "human-numeric-sort",
            "version-sort",
            "ignore-leading-blanks",
            "key=",
            "field-separator=",
            "stable",
            "check",
            "zero-terminated",
            "general-numeric-sort",
            "dictionary-order",
            "month-sort",
        ]),
        Operands::Paths,
    ),
    reader(
        &["uniq"],
        letters("cduiDz", "fsw").long(&[
            "count",
            "repeated",
            "unique",
            "ignore-case",
            "skip-fields=",
            "skip-chars=",
            "check-chars=",
        ]),
        Operands::OnePath,
    ),
    reader(
        &["cut"],
        letters("snz", "dfcb").long(&[
            "delimiter=",
            "fields=",
            "characters=",
            "bytes=",
            "only-delimited",
            "complement",
            "output-delimiter=",
        ]),
        Operands::Paths,
    ),
    reader(&["rev"], Options::NONE, Operands::Paths),
    reader(&["nl"], letters("p", "bwsnvihfd"), Operands::Paths),
    reader(&["paste"], letters("sz", "d"), Operands::Paths),
    reader(&["fold"], letters("bs", "w"), Operands::Paths),
    reader(&["fmt"], letters("cstu", "w"), Operands::Paths),
    reader(&["expand", "unexpand"], letters("ai", "t"), Operands::Paths),
    reader(&["column"], letters("tx", "sc"), Operands::Paths),
    reader(&["join"], letters("iz", "12jtoeav"), Operands::Paths),
    reader(
        &["realpath"],
        letters("emLPqsz", "").long(&[
            "canonicalize-existing",
            "canonicalize-missing",
            "no-symlinks",
            "quiet",
        ]),
        Operands::Paths,
    ),
    reader(&["readlink"], letters("fenqsvmz", ""), Operands::Paths),
    reader(
        &["file"],
        letters("bihLNk0", "").long(&[
            "brief",
            "mime",
            "mime-type",
            "mime-encoding",
            "dereference",
            "no-dereference",
        ]),
        Operands::Paths,
    ),
    reader(
        &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"],
        letters("btz", "").long(HASH_LONG),
        Operands::Paths,
    ),
    reader(&["cksum", "sum"], Options::NONE, Operands::Paths),
    reader(&["od"], letters("abcdfilosxv", "AjNtw"), Operands::Paths),
    reader(&["hexdump", "hd"], letters("bcCdovx", "ns"), Operands::Paths),
    reader(&["xxd"], letters("abEipu", "cgls"), Operands::OnePath),
    reader(&["strings"], letters("afw", "nte"), Operands::Paths),
];

/// Options of `jq`, whose filter is checked apart.
pub(crate) const JQ: Options = letters("rcSeMCajs", "").long(&[
    "raw-output",
    "compact-output",
    "sort-keys",
    "exit-status",
    "tab",
    "slurp",
]);

/// Options of `sed` when it only prints.
pub(crate) const SED: Options = letters("nErsz", "e").long(&[
    "quiet",
    "silent",
    "expression=",
    "regexp-extended",
    "separate",
    "null-data",
    "posix",
    "sandbox",
]);

/// Options of `awk`.
pub(crate) const AWK: Options = letters("", "F");

/// Options of `date` that do not set the clock.
pub(crate) const DATE: Options = letters("uRI", "d").long(&[
    "utc",
    "universal",
    "date=",
    "iso-8601=?",
    "rfc-3339=",
    "rfc-email",
]);
