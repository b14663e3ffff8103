//! From the text of a command to what is done: arguments, programs, files.

use tillerman_config::extensions::{Arguments, Part, expand};

fn arguments(text: &str) -> Arguments {
    Arguments { text: text.to_owned(), ..Arguments::default() }
}

/// The text of a template without programs and files.
#[track_caller]
fn filled(template: &str, given: &str) -> String {
    let parts = expand(template, &arguments(given));
    let text = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        other => panic!("{other:?} was not expected"),
    };
    parts.iter().map(text).collect()
}

fn program(text: &str) -> Part {
    Part::Program(text.to_owned())
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

#[test]
fn arguments_stand_where_the_text_wants_them() {
    assert_eq!(filled("Fix $ARGUMENTS now", "issue 7"), "Fix issue 7 now");
    assert_eq!(filled("$0-$1-$2|", "a \"b c\""), "a-b c-|");
    assert_eq!(filled("$ARGUMENTS[1] of $ARGUMENTS[0]", "x y"), "y of x");
    assert_eq!(filled("costs $5.00", "a b c d e f"), "costs f.00");
    assert_eq!(filled("no place", "left over"), "no place\n\nARGUMENTS: left over");
    assert_eq!(filled("no place", "  "), "no place");
}

#[test]
fn other_dollars_stay_as_they_are() {
    assert_eq!(filled("\\$ARGUMENTS and \\$0", "x"), "$ARGUMENTS and $0\n\nARGUMENTS: x");
    assert_eq!(filled("$HOME ${HOME} $ $", ""), "$HOME ${HOME} $ $");
    assert_eq!(filled("$ARGUMENTSX", ""), "$ARGUMENTSX");
    assert_eq!(filled("${", ""), "${");
}

#[test]
fn names_and_variables_are_filled_in() {
    let given = Arguments {
        text: "src/a.rs 12".to_owned(),
        names: vec!["file".to_owned(), "line".to_owned()],
        variables: vec![("CLAUDE_SKILL_DIR", "/skills/x".to_owned())],
    };
    let parts = expand("$file:$line in ${CLAUDE_SKILL_DIR}/run", &given);
    assert_eq!(parts, [text("src/a.rs:12 in /skills/x/run")]);
}

#[test]
fn programs_are_found_in_lines_and_fences() {
    let parts = expand("Status: !`git status`\n```!\nls -l\npwd\n```\nEnd", &arguments(""));
    assert_eq!(
        parts,
        [text("Status: "), program("git status"), text("\n"), program("ls -l\npwd"), text("\nEnd")]
    );
}

#[test]
fn what_only_looks_like_a_program_stays_text() {
    for template in ["wow!`x`", "`!`x", "Use `a` and !`b", "```\n!`x`\n@file\n```", "```!\nls"] {
        let parts = expand(template, &arguments(""));
        assert!(parts.iter().all(|part| matches!(part, Part::Text(_))), "{template}: {parts:?}");
    }
}

#[test]
fn arguments_never_become_programs_or_files() {
    let parts = expand("Do $ARGUMENTS", &arguments("!`rm -rf /` @/etc/passwd $0 ${HOME}"));
    assert_eq!(parts, [text("Do !`rm -rf /` @/etc/passwd $0 ${HOME}")]);
    let parts = expand("!`git show $0`", &arguments("HEAD"));
    assert_eq!(parts, [program("git show HEAD")]);
}

#[test]
fn files_are_mentioned_with_an_at_sign() {
    let parts = expand("Read @src/a.rs, then @b.", &arguments(""));
    let file = |name: &str| Part::File(name.to_owned());
    assert_eq!(parts, [text("Read "), file("src/a.rs"), text(", then "), file("b"), text(".")]);
    let parts = expand("mail me@home.net or `@code`", &arguments(""));
    assert_eq!(parts, [text("mail me@home.net or `@code`")]);
}
