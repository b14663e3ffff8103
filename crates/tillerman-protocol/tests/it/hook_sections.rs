//! Hooks as they are written into settings, plugins, skills and agents.

use serde_json::{Value, json};
use tillerman_protocol::hook::{HookAction, HookEvent, HookSection};

fn read(section: &Value) -> HookSection {
    HookSection::read(section.as_object().unwrap())
}

#[test]
fn every_kind_of_handler_is_read_with_all_its_fields() {
    let section = read(&json!({
        "PreToolUse": [{"matcher": "Bash|Write", "hooks": [
            {"type": "command", "command": "check", "args": ["-v"], "shell": "bash", "async": true,
                "asyncRewake": true, "timeout": 2.5, "if": "Bash(git *)", "once": true,
                "statusMessage": "Checking"},
            {"type": "http", "url": "https://example.com/hook", "headers": {"X-Key": "$KEY"},
                "allowedEnvVars": ["KEY"]},
            {"type": "mcp_tool", "server": "scan", "tool": "look", "input": {"a": "${tool_name}"}},
            {"type": "prompt", "prompt": "Is $ARGUMENTS fine?", "model": "m",
                "continueOnBlock": true},
        ]}],
        "Stop": [{"hooks": [{"type": "command", "command": "bell", "fromTheFuture": 1}]}],
    }));
    assert_eq!(section.problems, Vec::<String>::new());
    let [before, stop] = &section.groups[..] else { panic!("{section:?}") };
    assert_eq!(
        (before.event, before.matcher.as_deref()),
        (HookEvent::PreToolUse, Some("Bash|Write"))
    );
    assert_eq!((stop.event, stop.matcher.as_deref()), (HookEvent::Stop, None));
    let kinds: Vec<&str> = before.handlers.iter().map(|it| it.action.kind()).collect();
    assert_eq!(kinds, ["command", "http", "mcp_tool", "prompt"]);
    let command = &before.handlers[0];
    assert_eq!(command.timeout, Some(2.5));
    assert_eq!(command.condition.as_deref(), Some("Bash(git *)"));
    assert_eq!(command.status_message.as_deref(), Some("Checking"));
    assert!(command.once);
    let HookAction::Command(command) = &command.action else { panic!("{command:?}") };
    assert!(command.in_background && command.async_rewake);
    assert_eq!(command.args.as_deref(), Some(&["-v".to_owned()][..]));
    let HookAction::McpTool(tool) = &before.handlers[2].action else { panic!() };
    assert_eq!(tool.tool_name(), "mcp__scan__look");
}

#[test]
fn what_cannot_be_used_is_named_and_takes_nothing_else_with_it() {
    let good = json!({"type": "command", "command": "check"});
    let table = [
        (json!({"BeforeLunch": []}), "BeforeLunch"),
        (json!({"Stop": {"hooks": []}}), "Stop holds no list"),
        (json!({"Stop": [{"matcher": "x"}]}), "Stop[0] has no list named hooks"),
        (json!({"Stop": [{"matcher": 7, "hooks": [good]}]}), "the matcher of Stop[0]"),
        (json!({"Stop": [{"hooks": ["check"]}]}), "Stop[0].hooks[0] is no object"),
        (json!({"Stop": [{"hooks": [good, {"command": "x"}]}]}), "Stop[0].hooks[1] has no type"),
        (json!({"Stop": [{"hooks": [{"type": "carrier_pigeon"}]}]}), "carrier_pigeon"),
        (json!({"Stop": [{"hooks": [{"type": "agent"}]}]}), "missing field `prompt`"),
        (json!({"Stop": [{"hooks": [{"type": "command"}]}]}), "missing field `command`"),
        (json!({"Stop": [{"hooks": [{"type": "http", "url": 7}]}]}), "cannot be read"),
        (json!({"Stop": [{"hooks": [{"type": "command", "command": "x", "if": 7}]}]}), "`if`"),
    ];
    for (mut section, said) in table {
        section["SessionEnd"] = json!([{"hooks": [good]}]);
        let section = read(&section);
        assert_eq!(section.problems.len(), 1, "{section:?}");
        assert!(section.problems[0].contains(said), "{said}: {section:?}");
        let kept = section.groups.iter().find(|group| group.event == HookEvent::SessionEnd);
        assert_eq!(kept.map(|group| group.handlers.len()), Some(1), "{said}");
    }
}

#[test]
fn an_empty_section_says_nothing() {
    assert!(read(&json!({})).is_empty());
    assert!(read(&json!({"Stop": []})).is_empty());
}
