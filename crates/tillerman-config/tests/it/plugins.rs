//! Plugins: what they bring, how they are found, and what they may not do.

use serde_json::json;
use tillerman_config::extensions::{Origin, Trust, enabled_plugins};
use tillerman_config::{Layers, Places, Source, Standing};

use crate::grove::{Grove, only};

fn garden(grove: &Grove) -> &Grove {
    grove
        .put("p/.claude-plugin/plugin.json", r#"{"name": "garden", "version": "1.2", "description": "Grows"}"#)
        .put("p/commands/water.md", "Water")
        .put("p/skills/prune/SKILL.md", "Prune")
        .put("p/agents/digger.md", "---\nname: digger\ndescription: d\npermissionMode: bypassPermissions\nhooks: {Stop: []}\n---\nDig.")
        .put("p/output-styles/green.md", "---\nname: Green\n---\nBe green.")
        .put("p/hooks/hooks.json", r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/stop"}]}]}}"#)
        .put("p/.mcp.json", r#"{"mcpServers": {"soil": {"command": "${CLAUDE_PLUGIN_ROOT}/soil", "args": ["--at", "${CLAUDE_PLUGIN_ROOT}"]}}}"#)
}

#[test]
fn a_plugin_brings_everything_under_its_name() {
    let grove = Grove::new();
    let extensions = garden(&grove).with_plugin("p", Trust::Trusted);
    assert_eq!(extensions.problems, []);
    let [plugin] = &extensions.plugins[..] else { panic!("one plugin was expected") };
    assert_eq!((plugin.name.as_str(), plugin.source.as_str()), ("garden", "garden@inline"));
    assert_eq!(plugin.version.as_deref(), Some("1.2"));
    let names: Vec<&str> = extensions.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["garden:prune", "garden:water"]);
    assert_eq!(extensions.skill("water").map(|it| it.name.as_str()), Some("garden:water"));
    let origin = Origin::Plugin { name: "garden".to_owned(), trust: Trust::Trusted };
    assert_eq!(extensions.skills[0].origin, origin);
    assert!(extensions.style("garden:Green").is_some());
    let root = grove.path("p").display().to_string();
    assert_eq!(
        json!(plugin.hooks),
        json!({"Stop": [{"hooks": [{"type": "command", "command": format!("{root}/bin/stop")}]}]})
    );
    assert_eq!(
        json!(plugin.mcp_servers),
        json!({"soil": {"command": format!("{root}/soil"), "args": ["--at", root]}})
    );
}

#[test]
fn agents_of_plugins_bring_no_powers() {
    let grove = Grove::new();
    let extensions = garden(&grove).with_plugin("p", Trust::Trusted);
    let agent = &extensions.agents[0].definition;
    assert_eq!(agent.name, "garden:digger");
    assert_eq!((agent.permission_mode, &agent.hooks, &agent.mcp_servers), (None, &None, &None));
}

#[test]
fn a_manifest_is_not_needed_and_may_name_other_folders() {
    let grove = Grove::new();
    grove.put("bare/commands/hi.md", "Hi").put("bare/SKILL.md", "The one");
    let names = |grove: &Grove, plugin: &str| -> Vec<String> {
        let extensions = grove.with_plugin(plugin, Trust::Trusted);
        assert_eq!(extensions.problems, []);
        extensions.skills.iter().map(|skill| skill.name.clone()).collect()
    };
    assert_eq!(names(&grove, "bare"), ["bare:bare", "bare:hi"]);
    let manifest = r#"{"name": "moved", "commands": ["./cmd"], "skills": "./more", "unknown": 1}"#;
    grove.put("m/.claude-plugin/plugin.json", manifest).put("m/commands/no.md", "No");
    grove.put("m/cmd/yes.md", "Yes").put("m/more/a/SKILL.md", "A").put("m/skills/b/SKILL.md", "B");
    assert_eq!(names(&grove, "m"), ["moved:b", "moved:a", "moved:yes"]);
}

#[test]
fn broken_and_hostile_plugins_are_named() {
    for (manifest, expected) in [
        ("{", "plugin.json:1: is not JSON"),
        ("[]", "is not a JSON object"),
        (r#"{"name": "../evil"}"#, "cannot be the name of a plugin"),
        (r#"{"name": "x", "commands": 7}"#, "commands must name folders"),
        (r#"{"name": "x", "commands": "/etc"}"#, "must begin with ./ and stay inside"),
        (r#"{"name": "x", "agents": "./../../home"}"#, "must begin with ./ and stay inside"),
        (r#"{"name": "x", "hooks": 7}"#, "hooks must be an object"),
        (r#"{"name": "x", "mcpServers": "./../secret.json"}"#, "must begin with ./"),
    ] {
        let grove = Grove::new();
        grove.put("p/.claude-plugin/plugin.json", manifest);
        let extensions = grove.with_plugin("p", Trust::Trusted);
        assert!(extensions.plugins.is_empty(), "{manifest}");
        let problem = only(&extensions.problems);
        assert!(problem.contains(expected), "{manifest}: {problem}");
    }
    let grove = Grove::new();
    assert!(only(&grove.with_plugin("gone", Trust::Trusted).problems).contains("no such folder"));
    grove.put("p/hooks/hooks.json", "{").put("p/commands/ok.md", "Ok");
    let extensions = grove.with_plugin("p", Trust::Trusted);
    assert_eq!((extensions.plugins.len(), extensions.skills.len()), (1, 1));
    assert!(only(&extensions.problems).contains("its hooks were left out"));
}

#[test]
fn a_plugin_reads_nothing_through_links() {
    let grove = Grove::new();
    grove.put("home/key.md", "PRIVATE").put("p/commands/ok.md", "Ok");
    grove.link("home/key.md", "p/commands/leak.md");
    grove.link("home", "p/skills");
    let extensions = grove.with_plugin("p", Trust::Trusted);
    assert_eq!(extensions.skills.len(), 1);
    assert!(extensions.problems.iter().all(|it| it.reason.contains("leads out of")));
}

fn layers(grove: &Grove) -> Layers {
    let places = Places::new(grove.path("user"), grove.path("repo/app"));
    // What a repository switches on counts where the host names it.
    let named = Standing { named: vec![Source::Project], ..Standing::default() };
    Layers::load(&places, &[Source::User, Source::Project, Source::Local]).in_effect(named)
}

#[test]
fn settings_switch_plugins_of_local_marketplaces_on() {
    let grove = Grove::new();
    let market =
        json!({"name": "m", "plugins": [{"name": "garden", "source": "./plugins/garden"}]});
    grove.put("market/.claude-plugin/marketplace.json", &market.to_string());
    grove.put("market/plugins/garden/commands/water.md", "Water");
    let path = grove.path("market");
    let known = json!({"m": {"source": {"source": "directory", "path": path}}});
    let on = json!({"enabledPlugins": {"garden@m": true, "weeds@m": false}, "extraKnownMarketplaces": known});
    grove.put("user/settings.json", &on.to_string());
    let find = |grove: &Grove| {
        enabled_plugins(&layers(grove), &grove.path("user"), &grove.places.cwd, Trust::Untrusted)
    };
    let (folders, problems) = find(&grove);
    assert_eq!(problems, []);
    assert_eq!(folders.len(), 1);
    assert_eq!(folders[0].root, grove.path("market/plugins/garden"));
    assert_eq!((folders[0].marketplace.as_str(), folders[0].trust), ("m", Trust::Trusted));
    let off = json!({"enabledPlugins": {"garden@m": false}});
    grove.put("repo/app/.claude/settings.json", &off.to_string());
    assert_eq!(find(&grove).0, []);
}

#[test]
fn a_project_switches_on_but_is_not_trusted_for_it() {
    let grove = Grove::new();
    let market = json!({"plugins": [
        {"name": "own", "source": "./own"},
        {"name": "out", "source": "../../../home"},
        {"name": "far", "source": {"source": "github", "repo": "a/b"}},
    ]});
    grove.put("repo/app/market/.claude-plugin/marketplace.json", &market.to_string());
    grove.put("repo/app/market/own/commands/x.md", "X");
    grove.put("user/plugins/cache/m/cached/1.0/commands/x.md", "X");
    let settings = json!({
        "enabledPlugins": {"own@m": true, "out@m": true, "far@m": true, "cached@m": true, "../x@m": true},
        "extraKnownMarketplaces": {"m": {"source": {"source": "directory", "path": "./market"}}},
    });
    grove.put("repo/app/.claude/settings.json", &settings.to_string());
    let (folders, problems) =
        enabled_plugins(&layers(&grove), &grove.path("user"), &grove.places.cwd, Trust::Untrusted);
    let found: Vec<String> = folders.iter().map(|it| grove.short(&it.root)).collect();
    assert_eq!(found, ["repo/app/market/own", "user/plugins/cache/m/cached/1.0"]);
    assert!(folders.iter().all(|folder| folder.trust == Trust::Untrusted));
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("leads out of"), "{problems:?}");
    assert!(problems[1].contains("far@m: the plugin is not on this machine"), "{problems:?}");
    assert!(problems[2].contains("is not the name of a plugin"), "{problems:?}");
}
