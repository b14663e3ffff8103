//! A command that is watched is judged as if Bash ran it; every table of commands proves it too.

use serde_json::{Value, json};
use tillerman_policy::{Rule, Runs};
use tillerman_protocol::sandbox::SandboxSettings;

use crate::world::{World, default_world, told, unguarded_world};

fn watch(command: &str) -> Value {
    json!({"command": command, "description": "watch it"})
}

fn verdict(world: &World, input: &Value) -> &'static str {
    world.ruling_of("Monitor", input, false).verdict.name()
}

#[test]
fn rules_about_bash_hold_for_what_is_watched() {
    let commands = ["make all", "make; rm -rf x", "sh -c 'make'", "echo $(make)", "tail -f log"];
    for rule in ["Bash", "Bash(make *)", "B*", "*", "Bash(rm *)"] {
        for command in commands {
            let world = unguarded_world();
            for world in [world.clone().deny(&[rule]), world.clone().ask(&[rule])] {
                assert_eq!(world.watching(command), told(&world.ruling(command)), "{rule}");
            }
            let world = world.allow(&[rule]);
            assert_eq!(world.watching(command), told(&world.ruling(command)), "{rule}");
        }
    }
}

#[test]
fn who_may_not_run_commands_may_not_watch_any() {
    for rule in ["Bash", "B*", "*"] {
        let policy = unguarded_world().deny(&[rule]).policy;
        assert!(policy.removes("Bash") && policy.removes("Monitor"), "{rule}");
    }
    let policy = unguarded_world().deny(&["Monitor"]).policy;
    assert!(policy.removes("Monitor") && !policy.removes("Bash"));
    let (slip, _) = Rule::parse_restriction("Bash(make");
    let mut world = unguarded_world();
    world.policy.deny = vec![slip];
    assert_eq!(verdict(&world, &watch("true")), "deny");
}

#[test]
fn rules_about_watching_hold_for_nothing_else() {
    let denied = unguarded_world().deny(&["Monitor(make *)"]);
    assert_eq!(verdict(&denied, &watch("make all")), "deny");
    assert_eq!(verdict(&denied, &watch("true && sh -c 'make all'")), "deny");
    assert_eq!(denied.ruling("make all").verdict.name(), "ask");
    let allowed = unguarded_world().allow(&["Monitor(make *)"]);
    assert_eq!(verdict(&allowed, &watch("make all")), "allow");
    assert_eq!(verdict(&allowed, &watch("make all; rm x")), "ask");
    assert_eq!(allowed.ruling("make all").verdict.name(), "ask");
    let whole = unguarded_world().allow(&["Monitor"]);
    assert_eq!(verdict(&whole, &watch("make all")), "allow");
    assert_eq!(whole.ruling("make all").verdict.name(), "ask");
}

#[test]
fn modes_hold_for_what_is_watched() {
    for mode in ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto"] {
        for command in ["tail -f log", "make", "echo > CLAUDE.md", "rm -rf ~", "touch x"] {
            let world = default_world().mode(mode);
            assert_eq!(world.watching(command), told(&world.ruling(command)), "{mode}");
        }
    }
}

#[test]
fn a_rule_about_the_background_is_about_what_is_watched() {
    let denied = unguarded_world().deny(&["Bash(run_in_background:true)"]);
    assert_eq!(verdict(&denied, &watch("cat log")), "deny");
    let denied = unguarded_world().deny(&["Monitor(persistent:true)"]);
    let persistent = json!({"command": "cat log", "persistent": true});
    assert_eq!(verdict(&denied, &persistent), "deny");
    assert_eq!(verdict(&denied, &watch("cat log")), "allow");
}

#[test]
fn a_sandbox_holds_what_is_watched() {
    let mut world = unguarded_world();
    let settings = json!({"enabled": true, "excludedCommands": ["docker *"]});
    world.policy.sandbox = Some(SandboxSettings::parse(&settings).unwrap());
    for command in ["make", "docker ps", "docker ps; make", "rm -rf ~"] {
        assert_eq!(world.watching(command), told(&world.ruling(command)), "{command}");
    }
    let free = json!({"command": "make", "dangerouslyDisableSandbox": true});
    let ruling = world.ruling_of("Monitor", &free, false);
    assert_eq!((ruling.verdict.name(), ruling.runs), ("ask", Runs::Free));
}

#[test]
fn watching_what_runs_already_needs_no_question() {
    let watch_task = json!({"task_id": "b1", "description": "watch it"});
    for mode in ["default", "plan", "dontAsk"] {
        assert_eq!(verdict(&default_world().mode(mode), &watch_task), "allow", "{mode}");
    }
    let world = default_world().deny(&["Bash(rm *)", "Read(.env)"]);
    assert_eq!(verdict(&world, &watch_task), "allow");
    for rule in ["Bash", "Monitor"] {
        assert_eq!(verdict(&default_world().deny(&[rule]), &watch_task), "deny", "{rule}");
    }
    // A command beside the task is what is judged, and one that is no text approves nothing.
    let both = json!({"task_id": "b1", "command": "make"});
    assert_eq!(verdict(&default_world(), &both), "ask");
    let odd = json!({"task_id": "b1", "command": ["make"]});
    assert_eq!(verdict(&default_world(), &odd), "ask");
}

#[test]
fn suggestions_are_those_of_bash() {
    let ruling = default_world().ruling_of("Monitor", &watch("make all"), false);
    assert_eq!(ruling.verdict, default_world().ruling("make all").verdict);
}
