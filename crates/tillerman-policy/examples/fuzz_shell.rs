//! Feeds random commands to the shell analyser: `--inputs N --seed S --threads T`.
//!
//! Every input must be judged without a panic and within a bound, the same way twice, and a further
//! deny rule must never make a command approved. `--print-allowed` prints what was approved, for
//! comparing with a real shell.

#![expect(clippy::print_stdout, reason = "a tool for developers talks to its terminal")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use tillerman_policy::{Before, Facts, Guard, Guarded, Policy, Rule, Unseen, Verdict};
use tillerman_protocol::permission::PermissionMode;

/// No input may take longer; it covers a busy machine with room to spare.
const BOUND: Duration = Duration::from_millis(500);
const ATTEMPTS: usize = 5;

const FRAGMENTS: [&str; 154] = [
    "ls",
    "cat",
    "echo",
    "git",
    "status",
    "log",
    "diff",
    "grep",
    "find",
    "sed",
    "awk",
    "sort",
    "touch",
    "rm",
    "-rf",
    "cp",
    "mv",
    "tee",
    "sh",
    "-c",
    "bash",
    "eval",
    "exec",
    "env",
    "xargs",
    "sudo",
    "timeout",
    "5",
    "time",
    "command",
    "cd",
    "sub",
    "a.txt",
    "b",
    ".",
    "..",
    "/",
    "~",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "$X",
    "${X}",
    "$(ls)",
    "`ls`",
    "$((1+1))",
    "$'a'",
    "$\"a\"",
    "'",
    "\"",
    "'a b'",
    "\"a b\"",
    "\\",
    "\\\n",
    "\n",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "(",
    ")",
    "{",
    "}",
    "!",
    "[",
    "]",
    "[[",
    "]]",
    "((",
    "))",
    "<",
    ">",
    ">>",
    ">|",
    "&>",
    ">&",
    "<&",
    "<>",
    "2>&1",
    "2>",
    "/dev/null",
    "<<",
    "<<-",
    "<<<",
    "EOF",
    "<<EOF\n",
    "\nEOF\n",
    "<<'EOF'\nx\nEOF",
    "if",
    "then",
    "else",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "while",
    "case",
    "esac",
    "function",
    "f()",
    "select",
    "A=b",
    "PATH=.",
    "LC_ALL=C",
    "a[0]=1",
    "-n",
    "-e",
    "-i",
    "--output=x",
    "--",
    "-exec",
    "\\;",
    "p",
    "1,5p",
    "s/a/b/",
    "w x",
    "{print $1}",
    "-name",
    "-type",
    "f",
    "test",
    "-f",
    "-v",
    "=",
    "-eq",
    "1",
    "#",
    "# c",
    "\t",
    "\r",
    "\u{0}",
    "\u{202e}",
    "\u{200b}",
    "é",
    "😀",
    "\u{10ffff}",
    "{1..",
    "＝",
    "CLAUDE.md",
    ".git/config",
    ".env",
    "/etc/passwd",
    "=ls",
    "$",
    "$(",
    "${",
    "<(",
    ">(",
    "printf",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.below(from.len())).copied().unwrap_or_default()
    }
}

struct Options {
    inputs: usize,
    seed: u64,
    threads: usize,
    print_allowed: bool,
}

#[derive(Default)]
struct Tally {
    allowed: usize,
    asked: usize,
    denied: usize,
    slowest: Duration,
    slowest_input: String,
}

fn main() {
    let options = options();
    let began = Instant::now();
    let share = options.inputs.div_ceil(options.threads);
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.threads)
            .map(|worker| {
                let seed =
                    options.seed.wrapping_add(worker as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                        | 1;
                let print = options.print_allowed;
                scope.spawn(move || run(share, Random(seed), print))
            })
            .collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    assert_eq!(tallies.len(), options.threads, "a worker panicked; its seed and input are above");
    let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
    let (allowed, asked, denied) = (sum(|t| t.allowed), sum(|t| t.asked), sum(|t| t.denied));
    let seconds = began.elapsed().as_secs_f64();
    let inputs = allowed + asked + denied;
    println!(
        "{inputs} inputs in {seconds:.1} s: {allowed} allowed, {asked} asked, {denied} denied"
    );
    if let Some(slowest) = tallies.iter().max_by_key(|tally| tally.slowest) {
        let start: String = slowest.slowest_input.chars().take(80).collect();
        println!(
            "slowest: {:?} for {} bytes: {start:?}…",
            slowest.slowest,
            slowest.slowest_input.len()
        );
    }
}

fn options() -> Options {
    let mut options = Options { inputs: 100_000, seed: 1, threads: 2, print_allowed: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number =
            || arguments.next().and_then(|text| text.parse::<usize>().ok()).unwrap_or(1);
        match argument.as_str() {
            "--inputs" => options.inputs = number(),
            "--seed" => options.seed = number() as u64,
            "--threads" => options.threads = number().max(1),
            "--print-allowed" => options.print_allowed = true,
            other => println!("{other} is not an option and was left out"),
        }
    }
    options
}

fn run(inputs: usize, mut random: Random, print: bool) -> Tally {
    let open = policy(&[]);
    let strict = policy(&["Bash(touch *)", "Read(.env)", "Bash(rm -rf *)"]);
    let mut tally = Tally::default();
    let mut previous = String::from("ls -l");
    for _ in 0..inputs {
        let command = generate(&mut random, &previous);
        let (verdict, took) = timed(&open, &command);
        if took > tally.slowest {
            tally.slowest = took;
            tally.slowest_input.clone_from(&command);
        }
        let restricted = judge(&strict, &command);
        assert!(
            restricted != Verdict::Allow || verdict == Verdict::Allow,
            "a deny rule approved {command:?}"
        );
        match verdict {
            Verdict::Allow => {
                tally.allowed += 1;
                if print {
                    println!("{}", json!(command));
                }
            }
            Verdict::Ask { .. } => tally.asked += 1,
            Verdict::Deny { .. } => tally.denied += 1,
        }
        previous = command;
    }
    tally
}

/// Judges a command within the bound. A thread that waits for its turn looks slow once; a command
/// that is slow stays slow.
fn timed(policy: &Policy, command: &str) -> (Verdict, Duration) {
    let once = || {
        let began = Instant::now();
        (judge(policy, command), began.elapsed())
    };
    let (mut verdict, mut took) = once();
    for _ in 1..ATTEMPTS {
        if took < BOUND {
            break;
        }
        (verdict, took) = once();
    }
    assert!(took < BOUND, "{took:?} for {command:?}");
    (verdict, took)
}

fn policy(deny: &[&str]) -> Policy {
    Policy {
        deny: deny.iter().filter_map(|rule| Rule::parse(rule).ok()).collect(),
        directories: vec![PathBuf::from("/w")],
        home: Some(PathBuf::from("/h")),
        guard: Guard { guarded: vec![Guarded::read("CLAUDE.md")] },
        ..Policy::default()
    }
}

fn judge(policy: &Policy, command: &str) -> Verdict {
    let input = json!({ "command": command });
    let facts = Facts { tool: "Bash", input: &input, only_looks: false, disk: &Unseen };
    policy.judge(&facts, PermissionMode::Default, Before::Nothing).verdict
}

fn generate(random: &mut Random, previous: &str) -> String {
    match random.below(10) {
        0..=5 => sentence(random),
        6..=7 => mutated(random, previous),
        8 => {
            // Deep or long repetitions find what is not linear.
            let fragment = random.pick(&FRAGMENTS);
            let count = random.below(40);
            let blank = random.pick(&["", " "]);
            vec![fragment; count].join(blank)
        }
        _ => {
            let fragment = random.pick(&FRAGMENTS);
            let repeated = if random.below(400) == 0 { 3000 } else { 60 };
            format!("{} {}", sentence(random), fragment.repeat(random.below(repeated)))
        }
    }
}

fn sentence(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(9) {
        text.push_str(random.pick(&FRAGMENTS));
        text.push_str(random.pick(&[" ", " ", " ", "", "\n"]));
    }
    text
}

fn mutated(random: &mut Random, previous: &str) -> String {
    let mut chars: Vec<char> = previous.chars().take(300).collect();
    for _ in 0..=random.below(3) {
        let at = random.below(chars.len() + 1);
        match random.below(4) {
            0 if at < chars.len() => drop(chars.remove(at)),
            1 => {
                let fragment: Vec<char> = random.pick(&FRAGMENTS).chars().collect();
                chars.splice(at..at, fragment);
            }
            2 if at < chars.len() => {
                let piece: Vec<char> = chars[at..].iter().take(8).copied().collect();
                chars.splice(at..at, piece);
            }
            _ => {
                let code = u32::try_from(random.below(0x250)).unwrap_or(32);
                chars.insert(at, char::from_u32(code).unwrap_or(' '));
            }
        }
    }
    chars.into_iter().collect()
}
