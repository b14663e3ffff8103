//! Every rule of tidy, shown on small trees.

use crate::tidy::tree::{Finding, Tree};
use crate::tidy::{cited, edges, generated, lints, names, registered, size, unused, wording};

fn tree(files: &[(&str, &str)]) -> Tree {
    Tree::of(files)
}

/// Asserts which places a rule complains about, as `path:line`.
fn check(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)], expected: &[&str]) {
    let findings = rule(&tree(files));
    let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let place = |text: &String| text.splitn(3, ':').take(2).collect::<Vec<_>>().join(":");
    assert_eq!(texts.iter().map(place).collect::<Vec<_>>(), expected, "{texts:#?}");
}

fn lines(count: usize) -> String {
    "//! x\n".repeat(count)
}

#[test]
fn sizes() {
    check(size::check, &[("a/src/x.rs", &lines(500)), ("a/src/x/tests.rs", &lines(800))], &[]);
    check(size::check, &[("a/src/x.rs", &lines(501))], &["a/src/x.rs:501"]);
    check(size::check, &[("a/tests/it/x.rs", &lines(801))], &["a/tests/it/x.rs:801"]);
    check(size::check, &[("notes.md", &lines(900))], &[]);
}

#[test]
fn exceptions_to_sizes_only_shrink() {
    let said = |count: usize| {
        let tree = tree(&[("a.rs", &lines(count))]);
        let findings = size::check_with(&tree, &[("a.rs", 600)]);
        findings.first().map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(said(600), "");
    assert!(said(601).contains("has grown from 600 to 601"));
    assert!(said(599).contains("lower its entry"));
    assert!(said(500).contains("remove its entry"));
    assert_eq!(size::check_with(&tree(&[]), &[("a.rs", 600)]).len(), 1);
}

#[test]
fn first_lines() {
    check(wording::check, &[("a.rs", "//! Says what it is for.\n"), ("a.md", "text")], &[]);
    for text in ["", "use std::fmt;\n", "\n//! Late.\n", "// Not a doc comment.\n", "//!\n"] {
        check(wording::check, &[("a.rs", text)], &["a.rs:1"]);
    }
}

#[test]
fn markers() {
    let (to_do, fix_me) = (concat!("TO", "DO"), concat!("FIX", "ME"));
    let not_done = concat!("unimple", "mented!()");
    for marked in [to_do, fix_me, not_done] {
        let text = format!("fine\n# {marked}: later\n");
        check(wording::check, &[("a.sh", &text)], &["a.sh:2"]);
        check(wording::check, &[("x.lock", &text)], &[]);
    }
    let harmless = format!("{to_do}S and My{to_do} and {to_do}_LIST, unimple{}", "mented");
    check(wording::check, &[("a.md", &harmless)], &[]);
}

#[test]
fn machine_paths() {
    let (home, work) = (concat!("/ro", "ot/"), concat!("/wo", "rk/"));
    for text in [format!("cd {home}x"), format!("\"{work}x\""), format!("PATH={home}")] {
        check(wording::check, &[("a.md", &text)], &["a.md:1"]);
    }
    for text in [format!("src{work}x"), format!("~{work}x"), format!("https://x.org{home}")] {
        check(wording::check, &[("a.md", &text)], &[]);
    }
    check(wording::check, &[("a.md", "/workspace/x and /rooted/x")], &[]);
}

#[test]
fn globs_of_the_parent() {
    let glob = concat!("use super", "::*;");
    for line in [glob.to_owned(), format!("pub {glob}"), format!("    pub(crate) {glob}")] {
        let text = format!("//! X.\n{line}\n");
        check(wording::check, &[("a/src/x.rs", &text)], &["a/src/x.rs:2"]);
        check(wording::check, &[("a/src/x/tests.rs", &text), ("a/tests/it/x.rs", &text)], &[]);
    }
    let inline = format!("//! X.\n#[cfg(test)]\nmod tests {{\n    {glob}\n}}\n");
    check(wording::check, &[("a/src/x.rs", &inline)], &[]);
    let declared = format!("//! X.\n#[cfg(test)]\nmod tests;\n{glob}\n");
    check(wording::check, &[("a/src/x.rs", &declared)], &["a/src/x.rs:4"]);
}

#[test]
fn banned_names() {
    let good = [("crates/a/Cargo.toml", "[package]\nname = \"a-score\"\n"), ("a/score.rs", "")];
    check(names::check, &good, &[]);
    check(names::check, &[("a/Cargo.toml", "[package]\nname = \"a-core\"\n")], &["a/Cargo.toml:1"]);
    check(names::check, &[("a/src/util.rs", "")], &["a/src/util.rs:1"]);
    check(names::check, &[("a/src/helpers/x.rs", "")], &["a/src/helpers/x.rs:1"]);
    check(names::check, &[("a/src/x.rs", "\npub mod common {\n")], &["a/src/x.rs:2"]);
    check(names::check, &[("a/src/x.rs", "// a mod common {\n")], &[]);
}

const PLAIN: (&str, &str) = ("a/Cargo.toml", "[package]\nname = \"a\"\n");

#[test]
fn registered_modules() {
    let declared = "pub mod x;\nmod y;\n#[cfg(test)]\nmod tests;\n";
    let good = [
        PLAIN,
        ("a/src/lib.rs", declared),
        ("a/src/x.rs", "pub(crate) mod deep;"),
        ("a/src/x/deep.rs", ""),
        ("a/src/y/mod.rs", "#[cfg(test)] mod tests;"),
        ("a/src/y/tests.rs", ""),
        ("a/src/tests.rs", ""),
        ("a/src/bin/tool.rs", ""),
    ];
    check(registered::check, &good, &[]);
    for orphan in ["a/src/z.rs", "a/src/x/tests.rs", "a/src/z/mod.rs", "a/src/y/deep.rs"] {
        let files = [good.as_slice(), &[(orphan, "")]].concat();
        check(registered::check, &files, &[&format!("{orphan}:1")]);
    }
    let commented =
        [PLAIN, ("a/src/lib.rs", "// mod x; is gone\n#[cfg(test)]"), ("a/src/x.rs", "")];
    check(registered::check, &commented, &["a/src/x.rs:1"]);
}

#[test]
fn registered_tests() {
    let manifest =
        "[package]\nname = \"a\"\nautotests = false\n[[test]]\npath = \"tests/it/main.rs\"\n";
    let good = [
        ("a/Cargo.toml", manifest),
        ("a/tests/it/main.rs", "//! X.\n#[cfg(test)]\nmod topic;\n"),
        ("a/tests/it/topic.rs", "mod part;"),
        ("a/tests/it/topic/part.rs", ""),
    ];
    check(registered::check, &good, &[]);
    for orphan in ["a/tests/it/lost.rs", "a/tests/lost.rs", "a/tests/it/topic/lost.rs"] {
        let files = [good.as_slice(), &[(orphan, "")]].concat();
        check(registered::check, &files, &[&format!("{orphan}:1")]);
    }
    check(registered::check, &[PLAIN, ("a/tests/found.rs", "")], &[]);
}

#[test]
fn libraries_are_built_for_tests_that_they_have() {
    let without = ("a/Cargo.toml", "[package]\nname = \"a\"\n[lib]\ntest = false\n");
    let (tests, plain) = (("a/src/lib.rs", "#[cfg(test)]\nmod tests {}"), ("a/src/lib.rs", ""));
    let program = ("a/src/bin/b.rs", "#[cfg(test)]\nmod tests {}");
    check(registered::check, &[PLAIN, tests], &[]);
    check(registered::check, &[without, plain, program], &[]);
    check(registered::check, &[without, tests], &["a/Cargo.toml:1"]);
    check(registered::check, &[PLAIN, plain, program], &["a/Cargo.toml:1"]);
}

fn edge(name: &str, dependencies: &str, expected: &[usize]) {
    let text = format!("[package]\nname = \"{name}\"\n{dependencies}");
    let expected: Vec<String> =
        expected.iter().map(|line| format!("a/Cargo.toml:{line}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(edges::check, &[("a/Cargo.toml", &text)], &expected);
}

#[test]
fn crate_edges() {
    let on = |name: &str| format!("[dependencies]\n{name} = {{ workspace = true }}\n");
    edge("tillerman-engine", &on("tillerman-protocol"), &[]);
    edge("tillerman-engine", &on("serde_json"), &[]);
    edge("tillerman-engine", &on("tillerman-ports"), &[4]);
    edge("tillerman-engine", &on("tokio"), &[4]);
    edge("tillerman-protocol", &on("tillerman-engine"), &[4]);
    edge("tillerman-runtime", &on("tillerman-policy"), &[]);
    edge("tillerman-runtime", &on("tillerman-models"), &[4]);
    edge("tillerman-models", &on("tillerman-testkit"), &[4]);
    edge("tillerman-models", "[dev-dependencies]\ntillerman-testkit.workspace = true\n", &[]);
    edge("tillerman-models", "[dev-dependencies]\ntillerman-store.workspace = true\n", &[4]);
    edge("tillerman-tools", "[dependencies.tillerman-store]\nworkspace = true\n", &[3]);
    edge("tillerman-tools", "[target.'cfg(unix)'.dependencies]\ntillerman-store = \"1\"\n", &[4]);
    edge("tillerman-tools", "[build-dependencies]\ntillerman-store = \"1\"\n", &[4]);
    edge("tillerman-assembly", &on("tillerman-sandbox"), &[]);
    edge("tillerman-assembly", &on("tillerman-cli"), &[4]);
    edge("tillerman-runtime", &on("tillerman-assembly"), &[4]);
    edge("tillerman-cli", &on("tillerman-store"), &[]);
    edge("xtask", &on("tillerman-protocol"), &[4]);
    edge("tillerman-new", "", &[1]);
}

fn dependency(manifest: &str, files: &[(&str, &str)], expected: &[&str]) {
    let text = format!("[package]\nname = \"a\"\n{manifest}");
    let files = [&[("a/Cargo.toml", text.as_str())], files].concat();
    check(unused::check, &files, expected);
}

#[test]
fn unused_dependencies() {
    let one = "[dependencies]\nsome-bytes = \"1\"\n";
    for used in [
        "use some_bytes::Bytes;",
        "pub use some_bytes as bytes;",
        "use some_bytes;",
        "#[derive(some_bytes::Thing)]",
        "fn f(x: &some_bytes::Bytes) {}",
        "let x = ::some_bytes::new();",
    ] {
        dependency(one, &[("a/src/lib.rs", used)], &[]);
    }
    for idle in [
        "",
        "// use some_bytes::Bytes;",
        "let some_bytes = 1;",
        "use crate::some_bytes::X;",
        "awesome_some_bytes::x();",
    ] {
        dependency(one, &[("a/src/lib.rs", idle)], &["a/Cargo.toml:4"]);
    }
    dependency(one, &[("a/src/tests.rs", "use some_bytes::X;")], &["a/Cargo.toml:4"]);
    dependency(one, &[("b/src/lib.rs", "use some_bytes::X;")], &["a/Cargo.toml:4"]);
    dependency("[dependencies]\nx = \"1\" # for its features\n", &[], &[]);
    let dev = "[dev-dependencies]\nx = \"1\"\n";
    dependency(dev, &[("a/tests/it/y.rs", "use x::Y;")], &[]);
    dependency(dev, &[("a/src/y/tests.rs", "use x::Y;")], &[]);
    dependency(dev, &[], &["a/Cargo.toml:4"]);
}

#[test]
fn required_lints() {
    let workspace = "too_many_lines = \"deny\"\nunwrap_used = \"deny\"\n\
                     disallowed_methods = \"deny\"\nmissing_docs = \"warn\"\n";
    let clippy = "too-many-lines-threshold = 70\n";
    let member = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n";
    let good = [("Cargo.toml", workspace), ("clippy.toml", clippy), ("a/Cargo.toml", member)];
    check(lints::check, &good, &[]);
    let loose = [("Cargo.toml", workspace), ("clippy.toml", ""), ("a/Cargo.toml", "")];
    check(lints::check, &loose, &["clippy.toml:1", "a/Cargo.toml:1"]);
}

#[test]
fn a_table_of_lints_of_its_own() {
    let all = "too_many_lines = \"deny\"\nunwrap_used = \"deny\"\ndisallowed_methods = \"deny\"\n";
    let docs = "missing_docs = \"warn\"\n";
    let workspace = format!("[workspace.lints.rust]\n{docs}[workspace.lints.clippy]\n{all}");
    let own = |lints: &str| {
        format!(
            "[package]\nname = \"tillerman-sandbox\"\n[lints.clippy]\n{lints}[lints.rust]\n{docs}"
        )
    };
    let clippy = ("clippy.toml", "too-many-lines-threshold = 70");
    let whole = own(&format!("{all}undocumented_unsafe_blocks = \"deny\"\n"));
    check(lints::check, &[("Cargo.toml", &workspace), clippy, ("s/Cargo.toml", &whole)], &[]);
    let weaker = own(&all.replace("unwrap_used = \"deny\"", "unwrap_used = \"allow\""));
    let files = [("Cargo.toml", workspace.as_str()), clippy, ("s/Cargo.toml", weaker.as_str())];
    check(lints::check, &files, &["s/Cargo.toml:1"]);
}

#[test]
fn generated_files() {
    let rust = (
        "crates/tillerman-protocol/src/frame.rs",
        "//! x\npub struct Frame { pub a: u32 }\npub struct PermissionUpdate {}\n",
    );
    let fresh = crate::typescript::generate(&tree(&[rust])).unwrap();
    check(generated::check, &[rust, ("web/src/protocol.ts", &fresh)], &[]);
    check(generated::check, &[rust, ("web/src/protocol.ts", "old")], &["web/src/protocol.ts:1"]);
    check(generated::check, &[("web/src/protocol.ts", &fresh)], &["web/src/protocol.ts:1"]);
    check(generated::check, &[rust], &[]);
}

#[test]
fn tests_that_documents_name() {
    let file = (
        "crates/tillerman-host/tests/it/door.rs",
        "#[tokio::test]\nasync fn shut() {}\nfn ajar() {}\n",
    );
    let unit =
        ("crates/tillerman-host/src/display/tests.rs", "#[test]\n#[expect(x)]\nfn plain() {}\n");
    let page = ("web/test/text.test.ts", "  test(\"loads nothing\", () => {");
    let golden = ("crates/tillerman-engine/testdata/late.txt", "");
    let on = |document: &str, rows: &str, expected: &[&str]| {
        let text = format!("| id | what | proof |\n|---|---|---|\n{rows}\n");
        check(cited::check, &[file, unit, page, golden, (document, &text)], expected);
    };
    let cases = |rows: &str, expected: &[&str]| on("docs/host-cases.md", rows, expected);
    cases("| A1 | holds | `host::door::shut`, `host::display::plain` |", &[]);
    cases("| A1 | holds | `web::text::loads nothing`; `engine::golden::late` |", &[]);
    cases("| A1 | a `word` | not built yet: later |\n| A2 | x | does not apply: y |", &[]);
    for wrong in [
        "host::door::open",
        "host::door::ajar",
        "host::gate::shut",
        "cli::door::shut",
        "shut",
        "web::text::loads",
        "engine::golden::early",
    ] {
        cases(&format!("| A1 | holds | `{wrong}` |"), &["docs/host-cases.md:3"]);
    }
    cases("| A1 | holds | because |", &["docs/host-cases.md:3"]);
    let faults = |rows: &str, expected: &[&str]| on("docs/faults.md", rows, expected);
    faults("| 1 | x | y | host `door::shut`; engine `late` |", &[]);
    faults("| 1 | x | y | host `open` |", &["docs/faults.md:3"]);
}
