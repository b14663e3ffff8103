//! Programs that run other programs.

/// What a command runs besides itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Launch {
    /// The words from here on are a command of their own.
    Command {
        /// The first of them.
        at: usize,
        /// Whether rules look through to that command.
        seen_through: bool,
    },
    /// A script as text.
    Code(String),
    /// A script that cannot be seen, such as standard input or a file.
    Unseen,
}

/// A program that runs the command behind its own arguments.
struct Wrapper {
    name: &'static str,
    /// Letters of options with a value.
    valued: &'static str,
    /// How many operands come before the command.
    operands: usize,
    /// Whether rules look through it.
    seen_through: bool,
}

const fn through(name: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, valued, operands, seen_through: true }
}

const fn wrapper(name: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, valued, operands, seen_through: false }
}

const WRAPPERS: [Wrapper; 62] = [
    through("timeout", "ks", 1),
    through("time", "", 0),
    through("nice", "n", 0),
    through("nohup", "", 0),
    through("stdbuf", "ioe", 0),
    through("command", "", 0),
    through("builtin", "", 0),
    through("noglob", "", 0),
    through("xargs", "", 0),
    wrapper("gtimeout", "ks", 1),
    wrapper("exec", "a", 0),
    wrapper("coproc", "", 0),
    wrapper("sudo", "ugpCcDRTUrth", 0),
    wrapper("doas", "uC", 0),
    wrapper("pkexec", "", 0),
    wrapper("run0", "", 0),
    wrapper("runuser", "ug", 0),
    wrapper("setpriv", "", 0),
    wrapper("setsid", "", 0),
    wrapper("ionice", "cnpPu", 0),
    wrapper("chrt", "TPD", 1),
    wrapper("taskset", "", 1),
    wrapper("numactl", "CNmipl", 0),
    wrapper("flock", "wE", 1),
    wrapper("setarch", "", 0),
    wrapper("linux64", "", 0),
    wrapper("linux32", "", 0),
    wrapper("i386", "", 0),
    wrapper("x86_64", "", 0),
    wrapper("choom", "np", 0),
    wrapper("prlimit", "p", 0),
    wrapper("unshare", "SGRw", 0),
    wrapper("nsenter", "tSGrw", 0),
    wrapper("chroot", "", 1),
    wrapper("chpst", "ueUbm/nlLpoft012", 0),
    wrapper("strace", "oepsuaEIOPSXb", 0),
    wrapper("ltrace", "oepsuaAFlnx", 0),
    wrapper("perf", "", 1),
    wrapper("valgrind", "", 0),
    wrapper("gdb", "", 0),
    wrapper("catchsegv", "", 0),
    wrapper("systemd-run", "pEtuMH", 0),
    wrapper("systemd-inhibit", "", 0),
    wrapper("busybox", "", 0),
    wrapper("toybox", "", 0),
    wrapper("faketime", "f", 1),
    wrapper("fakeroot", "", 0),
    wrapper("proxychains", "f", 0),
    wrapper("proxychains4", "f", 0),
    wrapper("torsocks", "", 0),
    wrapper("torify", "", 0),
    wrapper("dbus-run-session", "", 0),
    wrapper("xvfb-run", "efnpsw", 0),
    wrapper("firejail", "", 0),
    wrapper("bwrap", "", 0),
    wrapper("unbuffer", "", 0),
    wrapper("rlwrap", "", 0),
    wrapper("entr", "", 0),
    wrapper("daemonize", "acelopu", 0),
    wrapper("start-stop-daemon", "", 0),
    wrapper("cgexec", "g", 0),
    wrapper("ld.so", "", 0),
];

/// Runners of programs by name: the words that lead to the program.
const RUNNERS: [(&[&str], usize); 40] = [
    (&["npx"], 0),
    (&["bunx"], 0),
    (&["uvx"], 0),
    (&["pnpx"], 0),
    (&["npm", "exec"], 0),
    (&["npm", "x"], 0),
    (&["pnpm", "exec"], 0),
    (&["pnpm", "dlx"], 0),
    (&["yarn", "exec"], 0),
    (&["yarn", "dlx"], 0),
    (&["bun", "x"], 0),
    (&["pipx", "run"], 0),
    (&["uv", "run"], 0),
    (&["uv", "tool", "run"], 0),
    (&["poetry", "run"], 0),
    (&["pdm", "run"], 0),
    (&["hatch", "run"], 0),
    (&["pipenv", "run"], 0),
    (&["conda", "run"], 0),
    (&["bundle", "exec"], 0),
    (&["direnv", "exec"], 1),
    (&["mise", "exec"], 0),
    (&["mise", "x"], 0),
    (&["asdf", "exec"], 0),
    (&["rustup", "run"], 1),
    (&["nix", "run"], 0),
    (&["nix", "shell"], 0),
    (&["docker", "exec"], 1),
    (&["docker", "run"], 1),
    (&["docker", "compose", "exec"], 1),
    (&["docker", "compose", "run"], 1),
    (&["docker-compose", "exec"], 1),
    (&["podman", "exec"], 1),
    (&["podman", "run"], 1),
    (&["kubectl", "exec"], 1),
    (&["kubectl", "run"], 1),
    (&["ip", "netns", "exec"], 1),
    (&["ip", "vrf", "exec"], 1),
    (&["git", "bisect", "run"], 0),
    (&["adb", "shell"], 0),
];

const SHELLS: [&str; 14] = [
    "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "pdksh", "fish", "csh",
    "tcsh", "yash",
];

/// Interpreters of other languages, which can do anything a shell can.
const INTERPRETERS: [&str; 40] = [
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "irb",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "wish",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "view",
    "emacs",
    "m4",
    "guile",
    "sqlite3",
    "osascript",
    "pwsh",
    "powershell",
    "java",
    "jshell",
    "scala",
    "Rscript",
    "julia",
];

/// The file name of a program.
pub(crate) fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether a program runs code of another language that it is given.
pub(crate) fn is_interpreter(word: &str) -> bool {
    let name = program(word).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&program(word)) || INTERPRETERS.contains(&name)
}

/// Whether a program is a shell.
pub(crate) fn is_shell(word: &str) -> bool {
    SHELLS.contains(&program(word))
}

/// What a command runs besides itself.
pub(crate) fn launch(words: &[&str]) -> Vec<Launch> {
    let Some(first) = words.first() else { return Vec::new() };
    let name = program(first);
    if is_shell(name) {
        return vec![shell_script(words)];
    }
    match name {
        "eval" => return vec![Launch::Code(words[1..].join(" "))],
        "source" | "." => return vec![Launch::Unseen],
        "trap" => {
            return words.get(1).map(|code| Launch::Code((*code).to_owned())).into_iter().collect();
        }
        "env" => return vec![env(words)],
        "find" => return found(words),
        "alias" => {
            let code =
                |word: &&str| word.split_once('=').map(|(_, code)| Launch::Code(code.to_owned()));
            return words[1..].iter().filter_map(code).collect();
        }
        "watch" | "parallel" | "ssh" | "sem" | "at" | "batch" => {
            let from = words.iter().skip(1).position(|word| !word.starts_with('-'));
            let skip = usize::from(name == "ssh");
            return from
                .and_then(|from| words.get(1 + from + skip..))
                .filter(|rest| !rest.is_empty())
                .map_or_else(|| vec![Launch::Unseen], |rest| vec![Launch::Code(rest.join(" "))]);
        }
        "script" | "su" | "mapfile" | "readarray" | "complete" | "compgen" | "flock"
            if code_option(words).is_some() =>
        {
            return code_option(words).map(Launch::Code).into_iter().collect();
        }
        _ => {}
    }
    if let Some(rest) = foreach(words) {
        return vec![Launch::Code(rest)];
    }
    if let Some(at) = run_by(words) {
        return vec![Launch::Command { at, seen_through: false }];
    }
    WRAPPERS
        .iter()
        .find(|wrapper| wrapper.name == name)
        .and_then(|wrapper| wrapped(wrapper, words))
        .into_iter()
        .collect()
}

/// Each way to read a command: as it stands, and behind every program that runs another.
pub(crate) fn views<'a, 'b>(words: &'b [&'a str]) -> Vec<&'b [&'a str]> {
    let mut views = vec![words];
    let mut at = 0;
    while at < views.len() {
        let view = views[at];
        for launched in launch(view) {
            if let Launch::Command { at, .. } = launched
                && let Some(inner) = view.get(at..).filter(|inner| !inner.is_empty())
                && views.len() < MAX_VIEWS
            {
                views.push(inner);
            }
        }
        at += 1;
    }
    views
}

/// Programs that run programs that run programs end somewhere.
const MAX_VIEWS: usize = 12;

/// Where the command begins behind a wrapper's own arguments.
fn wrapped(wrapper: &Wrapper, words: &[&str]) -> Option<Launch> {
    let mut at = 1;
    let mut plain = true;
    let mut operands = wrapper.operands;
    while let Some(word) = words.get(at) {
        if *word == "--" {
            // The keyword `time` knows no such mark and would run it.
            plain &= wrapper.name != "time";
            at += 1;
            break;
        }
        if word.len() > 1 && word.starts_with('-') {
            let takes_next = match word.strip_prefix("--") {
                Some(long) => matches!(
                    long,
                    "signal"
                        | "kill-after"
                        | "adjustment"
                        | "input"
                        | "output"
                        | "error"
                        | "user"
                        | "group"
                ),
                None => word.len() == 2 && wrapper.valued.contains(&word[1..]),
            };
            plain &= is_known_option(wrapper.name, word);
            at += 1 + usize::from(takes_next);
        } else if operands > 0 {
            plain &= word.starts_with(|c: char| c.is_ascii_digit())
                && word.trim_end_matches(['s', 'm', 'h', 'd']).parse::<f64>().is_ok();
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    // `command -v` only asks where a program is.
    let asks =
        wrapper.name == "command" && words.get(1).is_some_and(|word| matches!(*word, "-v" | "-V"));
    let seen_through = wrapper.seen_through && plain && words[0] == wrapper.name;
    (at < words.len() && !asks).then_some(Launch::Command { at, seen_through })
}

/// Options with which a wrapper is still nothing but a wrapper.
fn is_known_option(wrapper: &str, word: &str) -> bool {
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    match wrapper {
        "timeout" => {
            matches!(
                word,
                "-k" | "-s"
                    | "--signal"
                    | "--kill-after"
                    | "--foreground"
                    | "--preserve-status"
                    | "-v"
                    | "--verbose"
            ) || word.starts_with("--signal=")
                || word.starts_with("--kill-after=")
        }
        "nice" => {
            word == "-n"
                || word == "--adjustment"
                || word.strip_prefix('-').is_some_and(number)
                || word.strip_prefix("-n").is_some_and(number)
        }
        "stdbuf" => ["-i", "-o", "-e", "--input", "--output", "--error"]
            .iter()
            .any(|known| word.starts_with(known)),
        "time" => word == "-p",
        _ => false,
    }
}

/// Where the program stands that a runner starts.
fn run_by(words: &[&str]) -> Option<usize> {
    RUNNERS.iter().find_map(|(lead, operands)| {
        let mut at = 0;
        for expected in *lead {
            at += words.get(at..)?.iter().position(|word| !word.starts_with('-') || at == 0)?;
            let found = if at == 0 { program(words[0]) } else { words[at] };
            if found != *expected {
                return None;
            }
            at += 1;
        }
        let mut operands = *operands;
        loop {
            let word = words.get(at)?;
            at += 1;
            if word.starts_with('-') {
                continue;
            }
            if operands == 0 {
                return Some(at - 1);
            }
            operands -= 1;
        }
    })
}

fn shell_script(words: &[&str]) -> Launch {
    let is_code = |word: &&str| {
        word.len() > 1
            && word.starts_with('-')
            && !word.starts_with("--")
            && word[1..].contains('c')
    };
    let Some(option) = words.iter().skip(1).position(is_code) else { return Launch::Unseen };
    let code = words[1 + option + 1..].iter().find(|word| !word.starts_with(['-', '+']));
    code.map_or(Launch::Unseen, |code| Launch::Code((*code).to_owned()))
}

fn env(words: &[&str]) -> Launch {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if let Some(code) = word.strip_prefix("--split-string=") {
            return Launch::Code(code.to_owned());
        }
        if word.starts_with("-S")
            || word.starts_with("-vS")
            || word.starts_with("-iS")
            || *word == "--split-string"
        {
            let attached = word.split_once('S').map_or("", |(_, code)| code);
            let code = [&[attached], words.get(at + 1..).unwrap_or_default()].concat().join(" ");
            return Launch::Code(code);
        }
        at += match *word {
            "-u" | "-C" | "--unset" | "--chdir" | "-a" | "--argv0" => 2,
            _ if word.starts_with('-') || word.contains('=') => 1,
            _ => return Launch::Command { at, seen_through: false },
        };
    }
    Launch::Unseen
}

fn found(words: &[&str]) -> Vec<Launch> {
    let runs = |word: &str| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir");
    let starts = words.iter().enumerate().filter(|(_, word)| runs(word));
    starts.map(|(at, _)| Launch::Command { at: at + 1, seen_through: false }).collect()
}

/// The value of `-c`, `-C` or `--command`.
fn code_option(words: &[&str]) -> Option<String> {
    words.iter().enumerate().skip(1).find_map(|(at, word)| {
        if let Some(code) = word.strip_prefix("--command=") {
            return Some(code.to_owned());
        }
        let is_option = *word == "--command"
            || (word.starts_with('-') && !word.starts_with("--") && word.ends_with(['c', 'C']));
        if is_option { words.get(at + 1).map(|code| (*code).to_owned()) } else { None }
    })
}

/// Commands that git runs for each submodule or commit.
fn foreach(words: &[&str]) -> Option<String> {
    if program(words[0]) != "git" {
        return None;
    }
    if let Some(at) = words.iter().position(|word| *word == "foreach") {
        let rest: Vec<&str> =
            words[at + 1..].iter().copied().filter(|word| *word != "--recursive").collect();
        return Some(rest.join(" "));
    }
    let at = words.iter().position(|word| matches!(*word, "-x" | "--exec" | "--extcmd"))?;
    words.get(at + 1).map(|code| (*code).to_owned())
}
