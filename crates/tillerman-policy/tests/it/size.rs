//! Large and odd commands are judged quickly and never approved.

use std::time::{Duration, Instant};

use crate::world::default_world;

/// Debug builds on busy machines are slow; a release build needs a fraction.
const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn a_megabyte_is_judged_at_once() {
    let world = default_world().deny(&["Bash(touch *)", "Read(.env)"]);
    for fragment in ["a", "ls; ", "$(", "'", "\"", "(", "<<E\n", "é"] {
        let command = fragment.repeat((1 << 20) / fragment.len());
        let began = Instant::now();
        assert_ne!(world.ruling(&command).verdict.name(), "allow");
        assert!(began.elapsed() < Duration::from_secs(1), "{fragment:?}: {:?}", began.elapsed());
    }
}

#[test]
fn repetition_up_to_the_limit_stays_linear() {
    let world = default_world().deny(&["Bash(touch *)", "Read(.env)"]);
    let fragments = [
        "ls;",
        "ls|",
        "ls&&",
        "$(",
        "`",
        "((",
        "{ ",
        "f()",
        "if ls;then ",
        "<<E\n",
        "find -exec ",
        "sudo ",
        "> x ",
        "\"$X\" ",
        "*a",
        "[[ ",
        "case x in ",
    ];
    for fragment in fragments {
        let command = fragment.repeat(9_900 / fragment.len());
        let began = Instant::now();
        assert_ne!(world.ruling(&command).verdict.name(), "allow", "{fragment}");
        assert!(began.elapsed() < PATIENCE, "{fragment:?}: {:?}", began.elapsed());
    }
}

#[test]
fn what_never_ends_is_judged_in_linear_time() {
    for start in ["test << esac ls\n\r for while <<EOF\n  ", "cat <( ", "echo $( ", "ls ( "] {
        stays_linear(start);
    }
}

fn stays_linear(start: &str) {
    let world = default_world().deny(&["Bash(touch *)"]);
    let time = |bytes: usize| {
        let command = format!("{start}{}; touch x", "[a]".repeat(bytes / 3));
        let began = Instant::now();
        assert_eq!(world.ruling(&command).verdict.name(), "deny");
        began.elapsed()
    };
    // A busy machine disturbs a measurement now and then; quadratic time shows in each.
    let measured: Vec<_> = (0..10).map(|_| (time(2_400), time(9_600))).collect();
    assert!(measured.iter().any(|(short, long)| *long < *short * 10), "{measured:?}");
}

#[test]
fn caps_fail_closed() {
    let many = format!("{}touch x", "true;".repeat(60));
    assert_eq!(default_world().ruling(&many).verdict.name(), "ask");
    let only_harmless = "true;".repeat(60);
    assert_eq!(default_world().ruling(&only_harmless).verdict.name(), "ask");
    let deep = format!("{}ls{}", "(".repeat(200), ")".repeat(200));
    assert_ne!(default_world().ruling(&deep).verdict.name(), "allow");
    let nested = "sh -c \"sh -c 'sh -c \\\"sh -c ls\\\"'\"";
    assert_ne!(default_world().ruling(nested).verdict.name(), "allow");
    for empty in ["", " ", "\n", "# only a comment"] {
        assert_eq!(default_world().ruling(empty).verdict.name(), "ask", "{empty:?}");
    }
}

#[test]
fn hidden_characters_are_never_approved() {
    for c in [
        '\u{0}',
        '\u{7}',
        '\u{1b}',
        '\r',
        '\u{7f}',
        '\u{85}',
        '\u{a0}',
        '\u{ad}',
        '\u{200b}',
        '\u{200e}',
        '\u{202e}',
        '\u{2028}',
        '\u{2066}',
        '\u{3000}',
        '\u{feff}',
        '\u{fe0f}',
        '\u{e0041}',
        '\u{3164}',
    ] {
        let command = format!("echo a{c}b");
        let world = default_world();
        assert_eq!(world.ruling(&command).verdict.name(), "ask", "{c:?}");
        assert_eq!(
            world.allow(&["Bash", "Bash(echo *)"]).ruling(&command).verdict.name(),
            "ask",
            "{c:?}"
        );
    }
}

#[test]
fn characters_beyond_ascii_after_a_brace_are_asked_about() {
    let world = default_world();
    for character in ['é', '\u{180}', '☃', '😀', '\u{10ffff}'] {
        for before in ["{", "{1", "{12..", "{1..3", "${"] {
            let command = format!("echo {before}{character}}}");
            assert_eq!(world.ruling(&command).verdict.name(), "ask", "{command}");
        }
    }
    assert_eq!(world.ruling("echo é ☃ '{é}' | cat").verdict.name(), "ask");
    assert_eq!(world.ruling("echo é ☃ | cat").verdict.name(), "allow");
}
