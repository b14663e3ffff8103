//! Agent files: what they can say, whose wins, and what broken ones do.

use serde_json::json;
use tillerman_config::extensions::{Origin, Trust};
use tillerman_protocol::permission::PermissionMode;

use crate::grove::{Grove, only};

const FULL: &str = "---\nname: reviewer\ndescription: >\n  Reviews changes\n  with care\ntools: Read, \
    Grep, Bash(git diff:*)\ndisallowedTools: [Write]\nmodel: haiku\npermissionMode: plan\nmaxTurns: \
    7\nskills: [style]\nmcpServers:\n  notes: {command: notes}\nhooks:\n  PreToolUse: \
    []\nmemory: project\nbackground: yes\neffort: high\nisolation: worktree\ncolor: red\n---\n\nYou \
    review.\n";

#[test]
fn every_field_of_an_agent_is_read() {
    let grove = Grove::new();
    grove.put("repo/.claude/agents/deep/reviewer.md", FULL);
    let extensions = grove.load();
    assert_eq!(extensions.problems, []);
    let [agent] = &extensions.agents[..] else { panic!("one agent was expected") };
    assert_eq!(agent.origin, Origin::Project { trust: Trust::Untrusted });
    let it = &agent.definition;
    assert_eq!(
        (it.name.as_str(), it.description.as_str()),
        ("reviewer", "Reviews changes with care")
    );
    assert_eq!(it.prompt, "You review.");
    assert_eq!(it.tools, Some(["Read", "Grep", "Bash(git diff:*)"].map(str::to_owned).to_vec()));
    assert_eq!(it.disallowed_tools, Some(vec!["Write".to_owned()]));
    assert_eq!(it.permission_mode, Some(PermissionMode::Plan));
    assert_eq!((it.max_turns, it.background), (Some(7), Some(true)));
    assert_eq!(it.mcp_servers, Some(vec![json!({"notes": {"command": "notes"}})]));
    assert_eq!(
        serde_json::to_value(it).unwrap(),
        json!({
            "name": "reviewer", "description": "Reviews changes with care", "prompt": "You review.",
            "tools": ["Read", "Grep", "Bash(git diff:*)"], "disallowedTools": ["Write"],
            "model": "haiku", "permissionMode": "plan", "maxTurns": 7, "skills": ["style"],
            "mcpServers": [{"notes": {"command": "notes"}}], "hooks": {"PreToolUse": []},
            "memory": "project", "background": true, "effort": "high", "isolation": "worktree",
            "color": "red",
        })
    );
}

#[test]
fn the_nearest_project_wins_over_the_user() {
    let grove = Grove::new();
    let agent = |text: &str| format!("---\nname: helper\ndescription: {text}\n---\nHelp.");
    grove.put("user/agents/helper.md", &agent("user"));
    let description = |grove: &Grove| grove.load().agents[0].definition.description.clone();
    assert_eq!(description(&grove), "user");
    grove.put("repo/.claude/agents/helper.md", &agent("repository"));
    assert_eq!(description(&grove), "repository");
    grove.put("repo/app/.claude/agents/helper.md", &agent("nearest"));
    assert_eq!(description(&grove), "nearest");
    assert_eq!(grove.load().agents.len(), 1);
    assert_eq!(grove.load().problems, []);
}

#[test]
fn two_agents_of_one_name_in_one_place_are_named() {
    let grove = Grove::new();
    let text = "---\nname: twin\ndescription: d\n---\n";
    grove.put("user/agents/a.md", text).put("user/agents/b.md", text);
    let extensions = grove.load();
    assert_eq!(extensions.agents.len(), 1);
    let problem = only(&extensions.problems);
    assert!(problem.contains("b.md") && problem.contains("a.md, which counts"), "{problem}");
}

#[test]
fn a_line_of_tools_with_nothing_behind_it_means_none() {
    let grove = Grove::new();
    grove.put("user/agents/a.md", "---\nname: bare\ndescription: d\ntools:\n---\n");
    grove.put("user/agents/b.md", "---\nname: all\ndescription: d\n---\n");
    let tools: Vec<_> =
        grove.load().agents.iter().map(|agent| agent.definition.tools.clone()).collect();
    assert_eq!(tools, [Some(vec![]), None]);
}

#[test]
fn broken_agents_are_named_and_spoil_nothing() {
    let grove = Grove::new();
    grove.put("user/agents/good.md", "---\nname: good\ndescription: d\n---\n");
    grove.put("user/agents/README.md", "# About these agents\n");
    grove.put("user/agents/nameless.md", "---\ndescription: d\n---\n");
    grove.put("user/agents/mode.md", "---\nname: m\ndescription: d\npermissionMode: yolo\n---\n");
    let extensions = grove.load();
    assert_eq!(extensions.agents.len(), 1);
    let problems: Vec<String> = extensions.problems.iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("mode.md:1: yolo is not a permission mode"), "{problems:?}");
    assert!(problems[1].contains("nameless.md:1: the head has no name"), "{problems:?}");
}

#[test]
fn a_link_out_of_the_repository_is_not_followed() {
    let grove = Grove::new();
    grove.put("home/secret.md", "---\nname: secret\ndescription: key\n---\n");
    grove.link("home/secret.md", "repo/.claude/agents/leak.md");
    grove.link("home", "repo/app/.claude/agents");
    let extensions = grove.load();
    assert_eq!(extensions.agents, []);
    assert_eq!(extensions.problems.len(), 2);
    assert!(extensions.problems.iter().all(|it| it.reason.contains("leads out of")));
}

#[test]
fn a_source_that_is_off_brings_nothing() {
    let mut grove = Grove::new();
    let text = "---\nname: helper\ndescription: d\n---\n";
    grove.put("user/agents/a.md", text).put("repo/app/.claude/agents/a.md", text);
    grove.places.sources = Vec::new();
    assert_eq!(grove.load().agents, []);
}
