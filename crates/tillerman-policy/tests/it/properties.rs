//! What holds for every command and every set of rules.

use proptest::prelude::*;
use serde_json::json;
use tillerman_policy::{Before, Facts, Rule, Unseen};
use tillerman_protocol::permission::PermissionMode;

use crate::world::{World, default_world};

const WORDS: [&str; 44] = [
    "ls",
    "cat",
    "echo",
    "git",
    "status",
    "log",
    "push",
    "rm",
    "-rf",
    "touch",
    "cp",
    "mv",
    "sed",
    "-i",
    "a.txt",
    ".env",
    "CLAUDE.md",
    "src/x",
    "/etc/passwd",
    "..",
    "&&",
    "||",
    ";",
    "|",
    ">",
    ">>",
    "<",
    "2>&1",
    "$(",
    ")",
    "`",
    "'",
    "\"",
    "$X",
    "*",
    "{a,b}",
    "\\",
    "\n",
    "sh",
    "-c",
    "sudo",
    "cd",
    "sub",
    "A=b",
];

const RULES: [&str; 16] = [
    "Bash",
    "Bash(ls *)",
    "Bash(touch *)",
    "Bash(rm -rf *)",
    "Bash(git *)",
    "Bash(git push:*)",
    "Bash(*)",
    "Bash(cat*)",
    "Read(.env)",
    "Read(src/**)",
    "Edit(src/**)",
    "Edit",
    "Read",
    "Write(a)",
    "mcp__*",
    "*",
];

fn command() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 1..9);
    prop_oneof![
        4 => words.prop_map(|words| words.join(" ")),
        1 => "\\PC{0,40}",
        1 => "[a-z '\"$(){};|&<>\\\\*~-]{0,40}",
    ]
}

fn some_rules() -> impl Strategy<Value = Vec<Rule>> {
    let texts = prop::collection::vec(prop::sample::select(RULES.to_vec()), 0..4);
    texts.prop_map(|texts| texts.iter().map(|text| Rule::parse(text).unwrap()).collect())
}

fn mode() -> impl Strategy<Value = PermissionMode> {
    prop::sample::select(PermissionMode::ALL.iter().map(|(_, mode)| *mode).collect::<Vec<_>>())
}

fn before() -> impl Strategy<Value = Before> {
    prop::sample::select(vec![
        Before::Nothing,
        Before::HookAllowed,
        Before::HookAsked,
        Before::Approved,
    ])
}

prop_compose! {
    fn world()(allow in some_rules(), deny in some_rules(), ask in some_rules(), mode in mode(), before in before()) -> World {
        let mut world = default_world();
        world.policy.allow = allow;
        world.policy.deny = deny;
        world.policy.ask = ask;
        world.mode = mode;
        world.before = before;
        world
    }
}

fn verdicts(world: &World, command: &str) -> Vec<&'static str> {
    let calls = [
        ("Bash", json!({ "command": command })),
        ("Write", json!({ "file_path": command })),
        ("Read", json!({ "file_path": command })),
        ("mcp__a__b", json!({ "x": command })),
    ];
    calls
        .iter()
        .map(|(tool, input)| world.ruling_of(tool, input, *tool == "Read").verdict.name())
        .collect()
}

fn nothing_new(before: &[&str], after: &[&str]) -> bool {
    before.iter().zip(after).all(|(before, after)| *after != "allow" || *before == "allow")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_further_deny_rule_allows_nothing_new(world in world(), command in command(), rule in prop::sample::select(RULES.to_vec())) {
        let before = verdicts(&world, &command);
        let mut stricter = world;
        stricter.policy.deny.push(Rule::parse(rule).unwrap());
        prop_assert!(nothing_new(&before, &verdicts(&stricter, &command)));
    }

    #[test]
    fn a_further_ask_rule_allows_nothing_new(world in world(), command in command(), rule in prop::sample::select(RULES.to_vec())) {
        let before = verdicts(&world, &command);
        let mut stricter = world;
        stricter.policy.ask.push(Rule::parse(rule).unwrap());
        prop_assert!(nothing_new(&before, &verdicts(&stricter, &command)));
    }

    #[test]
    fn fewer_allow_rules_allow_nothing_new(world in world(), command in command()) {
        let before = verdicts(&world, &command);
        let mut stricter = world;
        stricter.policy.allow.pop();
        prop_assert!(nothing_new(&before, &verdicts(&stricter, &command)));
    }

    #[test]
    fn judging_twice_is_the_same(world in world(), command in command()) {
        prop_assert_eq!(world.ruling(&command), world.ruling(&command));
    }

    #[test]
    fn quoting_a_word_changes_nothing(words in prop::collection::vec("[a-z./_-]{1,8}", 1..5), at in 0_usize..5) {
        let quoted = |quote: &str| -> String {
            let at = at % words.len();
            let words: Vec<String> = words.iter().enumerate().map(|(number, word)| {
                if number == at { format!("{quote}{word}{quote}") } else { word.clone() }
            }).collect();
            words.join(" ")
        };
        let world = default_world().allow(&["Bash(a *)"]).deny(&["Bash(b *)", "Read(.env)"]);
        let plain = world.ruling(&quoted("")).verdict.name();
        // A keyword in quotes is no keyword, so only the verdict of commands is compared.
        let keywords = ["if", "do", "fi", "in", "then", "else", "elif", "for", "case", "time", "done", "esac", "while", "until", "coproc", "select", "function"];
        prop_assume!(!words.iter().any(|word| keywords.contains(&word.as_str())));
        prop_assert_eq!(world.ruling(&quoted("'")).verdict.name(), plain);
        prop_assert_eq!(world.ruling(&quoted("\"")).verdict.name(), plain);
    }

    #[test]
    fn a_part_that_is_asked_about_spoils_the_whole(first in command(), second in prop::sample::select(vec!["touch x", "make", "rm y", "$z"])) {
        // A comment or a continued line makes the second part something else than a command.
        prop_assume!(!first.contains('#') && !first.ends_with('\\'));
        for joiner in [" ; ", " && ", " || ", " | ", "\n"] {
            let joined = format!("{first}{joiner}{second}");
            prop_assert_ne!(default_world().ruling(&joined).verdict.name(), "allow", "{}", joined);
        }
    }

    #[test]
    fn rules_of_any_text_are_read_or_refused(text in "\\PC{0,30}") {
        drop(Rule::parse(&text));
        drop(Rule::parse(&format!("Bash({text})")));
        drop(Rule::parse(&format!("Read({text})")));
    }

    #[test]
    fn inputs_of_any_shape_are_judged(tool in "[A-Za-z_]{1,12}", text in "\\PC{0,30}", number in any::<i64>()) {
        let inputs = [json!(null), json!(number), json!(text), json!([text]), json!({ "command": number }), json!({ "file_path": [text] }), json!({ "files": text, "url": text, "pattern": text })];
        let world = default_world().allow(&["Bash(a *)", "WebFetch(domain:a.b)"]).deny(&["Read(x)"]);
        for input in &inputs {
            for tool in [tool.as_str(), "Bash", "Read", "Write", "WebFetch", "Glob", "Agent"] {
                let facts = Facts { tool, input, only_looks: false, disk: &Unseen };
                drop(world.policy.judge(&facts, world.mode, world.before));
            }
        }
    }
}
