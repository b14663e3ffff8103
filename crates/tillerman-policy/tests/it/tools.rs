//! Rules about the web, agents, skills and MCP tools.

use serde_json::json;

use crate::world::default_world;

fn fetch(rule: &str, url: &str) -> &'static str {
    default_world().allow(&[rule]).verdict_of("WebFetch", &json!({ "url": url }))
}

#[test]
fn hosts_are_compared_label_by_label() {
    for (rule, url) in [
        ("WebFetch(domain:example.com)", "https://example.com/x"),
        ("WebFetch(domain:example.com)", "https://EXAMPLE.com:443"),
        ("WebFetch(domain:Example.com)", "http://example.com."),
        ("WebFetch(domain:*.example.com)", "https://a.b.example.com/"),
        ("WebFetch(domain:a-*.example.com)", "https://a-1.example.com/"),
        ("WebFetch", "https://anything.example"),
    ] {
        assert_eq!(fetch(rule, url), "allow", "{rule} {url}");
    }
    for (rule, url) in [
        ("WebFetch(domain:example.com)", "https://example.com.evil.com/"),
        ("WebFetch(domain:example.com)", "https://evilexample.com/"),
        ("WebFetch(domain:example.com)", "https://a.example.com/"),
        ("WebFetch(domain:example.com)", "https://example.com@evil.com/"),
        ("WebFetch(domain:example.com)", "https://evil.com\\@example.com/"),
        ("WebFetch(domain:example.com)", "https://evil.com#example.com"),
        ("WebFetch(domain:example.com)", "https:example.com"),
        ("WebFetch(domain:example.com)", "ftp://example.com"),
        ("WebFetch(domain:example.com)", "https://exam\tple.com"),
        ("WebFetch(domain:example.com)", "https://еxample.com"),
        ("WebFetch(domain:*.example.com)", "https://example.com/"),
        ("WebFetch(domain:*.example.com)", "https://evil-example.com/"),
        ("WebFetch(domain:a*.example.com)", "https://a.b.example.com/"),
    ] {
        assert_eq!(fetch(rule, url), "ask", "{rule} {url}");
    }
}

#[test]
fn an_address_that_cannot_be_read_is_restricted() {
    let world = default_world().allow(&["WebFetch"]).deny(&["WebFetch(domain:evil.com)"]);
    for url in ["https://evil.com", "https://user@evil.com/", "https:evil.com", "nonsense"] {
        assert_eq!(world.verdict_of("WebFetch", &json!({ "url": url })), "deny", "{url}");
    }
    assert_eq!(world.verdict_of("WebFetch", &json!({ "url": "https://good.com" })), "allow");
}

#[test]
fn the_web_is_asked_about() {
    assert_eq!(default_world().verdict_of("WebFetch", &json!({ "url": "https://a.com" })), "ask");
    assert_eq!(default_world().verdict_of("WebSearch", &json!({ "query": "x" })), "ask");
    assert_eq!(default_world().allow(&["WebSearch"]).verdict_of("WebSearch", &json!({})), "allow");
}

#[test]
fn servers_and_their_tools_are_named() {
    let tool = "mcp__files__write";
    for rule in
        ["mcp__files", "mcp__files__*", "mcp__files__write", "mcp__files__wr*", "mcp__files(*)"]
    {
        assert_eq!(default_world().allow(&[rule]).verdict_of(tool, &json!({})), "allow", "{rule}");
        assert_eq!(default_world().deny(&[rule]).verdict_of(tool, &json!({})), "deny", "{rule}");
    }
    for rule in ["mcp__file", "mcp__other", "mcp__files__read", "mcp__files__writ"] {
        assert_eq!(default_world().allow(&[rule]).verdict_of(tool, &json!({})), "ask", "{rule}");
    }
    // A wildcard over servers restricts but does not allow.
    for rule in ["*", "mcp__*", "mcp__*__write"] {
        assert_eq!(default_world().allow(&[rule]).verdict_of(tool, &json!({})), "ask", "{rule}");
        assert_eq!(default_world().deny(&[rule]).verdict_of(tool, &json!({})), "deny", "{rule}");
    }
}

#[test]
fn what_must_not_be_touched_is_safe_from_the_desktop_tools() {
    let named = |tool: &str| format!("mcp__desktop-assistant-tools__{tool}");
    let secret = json!({ "path": "secret/key" });
    for tool in ["read_file", "analyze_image", "open_in_default_app", "write_file"] {
        let world = default_world().deny(&["Read(./secret/**)"]);
        assert_eq!(world.verdict_of(&named(tool), &secret), "deny", "{tool}");
        assert_eq!(world.verdict_of(&named(tool), &json!({ "path": "notes" })), "ask", "{tool}");
        // Any server could call itself so; what allows files does not allow its tools.
        let world = default_world().allow(&["Read(./secret/**)", "Edit(./secret/**)"]);
        assert_eq!(world.verdict_of(&named(tool), &secret), "ask", "{tool}");
    }
    let world = default_world().deny(&["Edit(./secret/**)"]);
    assert_eq!(world.verdict_of(&named("write_file"), &secret), "deny");
    assert_eq!(world.verdict_of(&named("read_file"), &secret), "ask");
    let guarded = json!({ "path": "CLAUDE.md", "content": "x" });
    assert_eq!(default_world().verdict_of(&named("write_file"), &guarded), "deny");
}

#[test]
fn agents_and_skills_are_named() {
    let agent = json!({ "subagent_type": "reviewer", "prompt": "x" });
    for tool in ["Agent", "Task"] {
        assert_eq!(default_world().allow(&["Agent(reviewer)"]).verdict_of(tool, &agent), "allow");
        assert_eq!(default_world().allow(&["Task(reviewer)"]).verdict_of(tool, &agent), "allow");
        assert_eq!(default_world().allow(&["Agent(other)"]).verdict_of(tool, &agent), "ask");
        assert_eq!(default_world().deny(&["Agent(reviewer)"]).verdict_of(tool, &agent), "deny");
    }
    assert_eq!(default_world().deny(&["Agent(x)"]).verdict_of("Agent", &json!({})), "deny");
    let skill = json!({ "skill": "deploy staging" });
    assert_eq!(default_world().allow(&["Skill(deploy *)"]).verdict_of("Skill", &skill), "allow");
    assert_eq!(default_world().allow(&["Skill(deploy)"]).verdict_of("Skill", &skill), "ask");
    assert_eq!(
        default_world()
            .allow(&["Skill(deploy *)"])
            .verdict_of("Skill", &json!({ "skill": "deployer" })),
        "ask"
    );
}

#[test]
fn parameters_restrict_and_never_allow() {
    let input = json!({ "branch": "main", "force": true, "list": [1] });
    assert_eq!(
        default_world().deny(&["mcp__git__push(branch:main)"]).verdict_of("mcp__git__push", &input),
        "deny"
    );
    assert_eq!(
        default_world().ask(&["mcp__git__push(force:true)"]).verdict_of("mcp__git__push", &input),
        "ask"
    );
    assert_eq!(
        default_world().deny(&["mcp__git__push(branch:m*)"]).verdict_of("mcp__git__push", &input),
        "deny"
    );
    let world = default_world().allow(&["mcp__git__push"]).deny(&[
        "mcp__git__push(branch:dev)",
        "mcp__git__push(absent:x)",
        "mcp__git__push(list:1)",
    ]);
    assert_eq!(world.verdict_of("mcp__git__push", &input), "allow");
    assert_eq!(
        default_world()
            .allow(&["mcp__git__push(branch:main)"])
            .verdict_of("mcp__git__push", &input),
        "ask"
    );
}

#[test]
fn other_shells_are_only_matched_exactly() {
    let input = json!({ "command": "Remove-Item x" });
    assert_eq!(default_world().verdict_of("PowerShell", &input), "ask");
    assert_eq!(
        default_world().allow(&["PowerShell(Remove-Item *)"]).verdict_of("PowerShell", &input),
        "ask"
    );
    assert_eq!(
        default_world().allow(&["PowerShell(Remove-Item x)"]).verdict_of("PowerShell", &input),
        "allow"
    );
    assert_eq!(
        default_world().deny(&["PowerShell(Remove-Item *)"]).verdict_of("PowerShell", &input),
        "deny"
    );
}
