//! Heads of files, as people really write them.

use crate::grove::{Grove, only};

fn described(head: &str) -> String {
    let grove = Grove::new();
    grove.put("user/commands/it.md", &format!("---\n{head}\n---\nBody"));
    let extensions = grove.load();
    assert_eq!(extensions.problems, [], "{head}");
    let skill = &extensions.skills[0];
    assert_eq!(skill.body().unwrap(), "Body");
    format!("{} | {}", skill.description, skill.argument_hint)
}

#[test]
fn values_that_are_no_yaml_are_read_as_text() {
    assert_eq!(described("description: Use this: when asked"), "Use this: when asked | ");
    assert_eq!(described("description: d\nargument-hint: [file] [n]"), "d | [file] [n]");
    assert_eq!(described("description: d\nargument-hint: [file]"), "d | [file]");
    assert_eq!(described("description: 42"), "42 | ");
    assert_eq!(described("description: \"quoted: text\""), "quoted: text | ");
    assert_eq!(described("description: |\n  two\n  lines"), "two\nlines | ");
}

#[test]
fn a_file_without_a_head_is_all_text() {
    let grove = Grove::new();
    grove.put("user/commands/plain.md", "\u{feff}# Title\n\nDo it.\n---\nnot a head\n");
    let extensions = grove.load();
    assert_eq!(extensions.skills[0].description, "Title");
    assert_eq!(extensions.skills[0].body().unwrap(), "# Title\n\nDo it.\n---\nnot a head");
}

#[test]
fn windows_line_ends_are_line_ends() {
    let grove = Grove::new();
    grove.put("user/commands/crlf.md", "---\r\ndescription: d\r\n---\r\nBody\r\n");
    let extensions = grove.load();
    assert_eq!(extensions.problems, []);
    assert_eq!(extensions.skills[0].description, "d");
    assert_eq!(extensions.skills[0].body().unwrap(), "Body");
}

#[test]
fn errors_have_a_file_and_a_line() {
    for (head, expected) in [
        ("---\ndescription: d\nhooks: {a: [b\n---\n", "it.md:"),
        ("---\n- a\n- b\n---\n", "it.md:2: the head is not a list of `name: value` lines"),
        ("---\ndescription: d\n", "it.md:1: the line --- opens a head that nothing ends"),
    ] {
        let grove = Grove::new();
        grove.put("user/commands/it.md", head);
        let extensions = grove.load();
        assert!(extensions.skills.is_empty());
        let problem = only(&extensions.problems);
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn hostile_heads_are_refused_quickly() {
    let laughs: String = (1..40)
        .map(|n| format!("a{n}: &a{n} [{0},{0},{0}]\n", format_args!("*a{}", n - 1)))
        .collect();
    let bomb = format!("---\na0: &a0 [x,x,x]\n{laughs}---\n");
    let deep = format!("---\nhooks: {}\n---\n", "[".repeat(20_000));
    let huge = format!("---\ndescription: {}\n---\n", "x".repeat(70_000));
    for (name, text) in [("bomb", bomb), ("deep", deep), ("huge", huge)] {
        let grove = Grove::new();
        grove.put("user/commands/it.md", &text);
        let began = std::time::Instant::now();
        let extensions = grove.load();
        assert!(extensions.skills.iter().all(|skill| skill.hooks.is_none()), "{name}");
        assert_eq!(extensions.problems.len() + extensions.skills.len(), 1, "{name}");
        assert!(began.elapsed().as_secs() < 1, "{name} took {:?}", began.elapsed());
    }
}

#[test]
fn files_that_are_no_text_or_too_large_are_named() {
    let grove = Grove::new();
    grove.put("user/commands/big.md", &"x".repeat((4 << 20) + 1));
    std::fs::write(grove.path("user/commands/raw.md"), [0xff, 0xfe, 0x00]).unwrap();
    std::fs::create_dir_all(grove.path("user/skills/odd/SKILL.md")).unwrap();
    let extensions = grove.load();
    assert!(extensions.skills.is_empty());
    let texts: Vec<String> = extensions.problems.iter().map(ToString::to_string).collect();
    assert!(texts[0].contains("not a regular file"), "{texts:?}");
    assert!(texts[1].contains("larger than 4 MiB"), "{texts:?}");
    assert!(texts[2].contains("not UTF-8"), "{texts:?}");
}
