//! Rules as text: what is read, and what is wrong where.

use tillerman_policy::{Rule, RuleError, split_rules};
use tillerman_protocol::permission::PermissionRule;

#[test]
fn rules_are_read_and_written_back() {
    for (text, written) in [
        ("Bash", "Bash"),
        ("Bash(*)", "Bash"),
        ("Bash()", "Bash"),
        (" Read ", "Read"),
        ("Bash(git log *)", "Bash(git log *)"),
        ("Bash(npm run test:*)", "Bash(npm run test:*)"),
        ("Bash(echo (a))", "Bash(echo (a))"),
        ("Read(//etc/**)", "Read(//etc/**)"),
        ("WebFetch(domain:example.com)", "WebFetch(domain:example.com)"),
        ("mcp__server__tool", "mcp__server__tool"),
        ("mcp__*", "mcp__*"),
        ("Agent(reviewer)", "Agent(reviewer)"),
        ("SomeTool(name:value)", "SomeTool(name:value)"),
    ] {
        assert_eq!(Rule::parse(text).unwrap().to_string(), written);
    }
}

/// Rules that make no sense, each with the column at which the problem stands.
const MALFORMED: &[(&str, usize)] = &[
    ("", 1),
    ("   ", 1),
    ("(ls)", 1),
    ("Bash(ls", 5),
    ("Bash(ls) x", 9),
    ("Bash(ls)x", 9),
    ("Bash)", 5),
    ("Ba sh(ls)", 3),
    ("Bash;", 5),
    ("Bash(:*)", 6),
    ("Bash(git:* push)", 9),
    ("Bash(a\u{1}b)", 7),
    ("Read(!x)", 6),
    ("Read([a)", 6),
    ("Read(src/[a-)", 10),
    ("Read(../x)", 6),
    ("Read(a\u{7}b)", 7),
    ("Read({a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b})", 6),
    ("WebFetch(example.com)", 10),
    ("WebFetch(domain:)", 17),
    ("WebFetch(domain:ex ample)", 19),
    ("WebSearch(x)", 11),
    ("SomeTool(x)", 10),
    ("é(x", 2),
];

#[test]
fn malformed_rules_say_where() {
    for (text, column) in MALFORMED {
        let error = Rule::parse(text).expect_err(text);
        assert_eq!(error.column(), *column, "{text:?}: {error}");
        let told = error.to_string();
        assert!(
            told.contains(&format!("column {column}")) || matches!(error, RuleError::Empty),
            "{told}"
        );
    }
}

#[test]
fn a_list_says_which_rule_is_wrong() {
    let error =
        Rule::parse_all("permissions.deny of settings.json", &["Read", "Bash(ls"]).unwrap_err();
    assert_eq!(error.number, 2);
    assert_eq!(
        error.to_string(),
        "permissions.deny of settings.json, rule 2: the rule `Bash(ls` is not complete: the parenthesis at column 5 is never closed"
    );
}

#[test]
fn a_rule_from_an_update_that_cannot_be_read_restricts_and_never_allows() {
    let rule =
        PermissionRule { tool_name: "Bash".to_owned(), rule_content: Some("git:* x".to_owned()) };
    let mut world = crate::world::default_world();
    world.policy.allow = vec![Rule::from(&rule)];
    assert_eq!(world.ruling("git y x").verdict.name(), "ask");
    world.policy.deny = vec![Rule::from(&rule)];
    assert_eq!(world.ruling("ls").verdict.name(), "deny");
}

#[test]
fn lists_are_split_outside_parentheses() {
    assert_eq!(split_rules("Read, Bash(git log, x) Edit"), ["Read", "Bash(git log, x)", "Edit"]);
    assert!(split_rules(" , ").is_empty());
}

#[test]
fn a_restriction_that_cannot_be_read_restricts_its_whole_tool() {
    for (text, command) in
        [("Bash(ls", "make"), ("Bash(git:* x)", "make"), ("(ls)", "make"), ("", "make")]
    {
        let (rule, error) = Rule::parse_restriction(text);
        assert!(error.is_some(), "{text}");
        let mut world = crate::world::default_world().allow(&["Bash"]);
        world.policy.deny = vec![rule];
        assert_eq!(world.ruling(command).verdict.name(), "deny", "{text}");
    }
    assert!(Rule::parse_restriction("Bash(ls *)").1.is_none());
    let mut world = crate::world::default_world();
    world.policy.deny = vec![Rule::parse_restriction("WebFetch(nonsense)").0];
    assert_eq!(world.ruling("ls").verdict.name(), "allow");
}
