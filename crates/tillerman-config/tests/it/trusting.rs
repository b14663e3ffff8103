//! Whom the user trusts, and how long that lasts.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use serde_json::json;
use tillerman_config::{Source, Trust, TrustState, persist};
use tillerman_protocol::permission::PermissionUpdate;

use crate::desk::Desk;

fn ledger(desk: &Desk) -> PathBuf {
    desk.places.config_dir.join("tillerman-trust.json")
}

fn add(desk: &Desk, name: &str, text: &str) {
    let path = desk.places.cwd.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn changed(files: &[&str]) -> TrustState {
    TrustState::Changed { files: files.iter().map(|&name| name.to_owned()).collect() }
}

#[test]
fn nothing_is_trusted_until_the_user_says_so() {
    let desk = Desk::new();
    desk.put(Source::Project, &json!({"model": "m"}));
    assert!(matches!(desk.state(), TrustState::Untrusted { .. }));
    assert_eq!(desk.trust(), [".claude/settings.json"]);
    assert_eq!(desk.state(), TrustState::Trusted);
    let mode = std::fs::metadata(ledger(&desk)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(Trust::revoke(&desk.places.cwd, &desk.places.config_dir).unwrap());
    assert!(matches!(desk.state(), TrustState::Untrusted { .. }));
    assert!(!Trust::revoke(&desk.places.cwd, &desk.places.config_dir).unwrap());
}

#[test]
fn any_file_that_runs_or_loosens_asks_again_when_it_changes() {
    let names = [
        ".claude/agents/a.md",
        ".claude/commands/deep/er/c.md",
        ".claude/hooks/check.sh",
        ".claude/plugins/p/plugin.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/skills/s/SKILL.md",
        ".mcp.json",
    ];
    for name in names {
        let desk = Desk::new();
        desk.trust();
        add(&desk, name, "{}");
        assert_eq!(desk.state(), changed(&[name]), "a new file");
        desk.trust();
        add(&desk, name, "{ }");
        assert_eq!(desk.state(), changed(&[name]), "other content");
        add(&desk, name, "{}");
        assert_eq!(desk.state(), TrustState::Trusted, "the content counts, not the time");
        std::fs::remove_file(desk.places.cwd.join(name)).unwrap();
        assert_eq!(desk.state(), changed(&[name]), "a file that is gone");
    }
    let desk = Desk::new();
    desk.trust();
    add(&desk, "src/main.rs", "fn main() {}");
    add(&desk, ".claude/worktrees/x/.claude/settings.json", "{}");
    assert_eq!(desk.state(), TrustState::Trusted, "the rest of a repository is not about trust");
}

#[test]
fn folders_above_count_up_to_the_root_of_the_repository() {
    let desk = Desk::new();
    let inner = desk.places.cwd.join("packages/inner");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::create_dir(desk.places.cwd.join(".git")).unwrap();
    Trust::grant(&inner, &desk.places.config_dir).unwrap();
    add(&desk, ".claude/skills/s/SKILL.md", "x");
    let state = Trust::of(&inner, &desk.places.config_dir);
    assert_eq!(state, changed(&["../../.claude/skills/s/SKILL.md"]));
    assert!(matches!(desk.state(), TrustState::Untrusted { .. }), "trust is for one folder");
}

#[test]
fn trust_belongs_to_the_folder_and_not_to_its_name() {
    let desk = Desk::new();
    desk.trust();
    let link = desk.places.config_dir.join("link");
    symlink(&desk.places.cwd, &link).unwrap();
    assert_eq!(Trust::of(&link, &desk.places.config_dir), TrustState::Trusted);
    // What a link leads to counts as what it is read as.
    let target = desk.places.config_dir.join("target.json");
    std::fs::write(&target, "{}").unwrap();
    symlink(&target, desk.path(Source::Project)).unwrap();
    desk.trust();
    std::fs::write(&target, r#"{"apiKeyHelper": "x"}"#).unwrap();
    assert_eq!(desk.state(), changed(&[".claude/settings.json"]));
}

#[test]
fn a_repository_that_points_at_a_trusted_one_is_another_folder() {
    let desk = Desk::new();
    std::fs::create_dir(desk.places.cwd.join(".git")).unwrap();
    desk.trust();
    let other = desk.places.config_dir.join("other");
    std::fs::create_dir_all(other.join(".git")).unwrap();
    let shared = desk.places.cwd.join(".git").display().to_string();
    std::fs::write(other.join(".git/commondir"), format!("{shared}\n")).unwrap();
    let state = Trust::of(&other, &desk.places.config_dir);
    assert!(matches!(state, TrustState::Untrusted { .. }), "{state:?}");
    // The same goes for a work tree whose `.git` is a file that names the trusted repository.
    std::fs::remove_dir_all(other.join(".git")).unwrap();
    std::fs::write(other.join(".git"), format!("gitdir: {shared}\n")).unwrap();
    let state = Trust::of(&other, &desk.places.config_dir);
    assert!(matches!(state, TrustState::Untrusted { .. }), "{state:?}");
}

#[test]
fn a_record_that_others_can_write_or_nobody_can_read_proves_nothing() {
    let desk = Desk::new();
    desk.trust();
    std::fs::set_permissions(ledger(&desk), std::fs::Permissions::from_mode(0o666)).unwrap();
    let TrustState::Untrusted { why } = desk.state() else { panic!("{:?}", desk.state()) };
    assert!(why.contains("chmod 600"), "{why}");
    std::fs::set_permissions(ledger(&desk), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(desk.state(), TrustState::Trusted);
    std::fs::write(ledger(&desk), "{").unwrap();
    assert!(matches!(desk.state(), TrustState::Untrusted { .. }));
    Trust::grant(&desk.places.cwd, &desk.places.config_dir).unwrap_err();
    assert_eq!(std::fs::read_to_string(ledger(&desk)).unwrap(), "{", "nothing is thrown away");
}

#[test]
fn a_loop_of_links_and_a_pipe_do_not_keep_anybody_waiting() {
    let desk = Desk::new();
    add(&desk, ".claude/skills/s/SKILL.md", "x");
    symlink("..", desk.places.cwd.join(".claude/skills/s/up")).unwrap();
    Trust::grant(&desk.places.cwd, &desk.places.config_dir).unwrap_err();
    std::fs::remove_file(desk.places.cwd.join(".claude/skills/s/up")).unwrap();
    symlink("/dev/zero", desk.places.cwd.join(".mcp.json")).unwrap();
    desk.trust();
    assert_eq!(desk.state(), TrustState::Trusted);
}

#[test]
fn the_users_own_directory_needs_no_trust() {
    let mut desk = Desk::new();
    desk.places.config_dir = desk.places.cwd.join(".claude");
    desk.put(Source::User, &json!({"permissions": {"allow": ["Bash(make)"]}}));
    assert_eq!(desk.state(), TrustState::Trusted);
    let layers = desk.session(&[]);
    assert_eq!(layers.allow(), ["Bash(make)"]);
    assert_eq!(layers.all().len(), 1, "the same file is not read twice");
}

#[test]
fn what_the_user_approved_holds_without_trusting_the_rest() {
    let desk = Desk::new();
    desk.put(Source::Local, &json!({"permissions": {"allow": ["Bash(evil)"]}}));
    let update: PermissionUpdate = serde_json::from_value(json!({
        "type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{"toolName": "Bash", "ruleContent": "make *"}]}))
    .unwrap();
    persist(&desk.places, &update).unwrap();
    let layers = desk.session(&[]);
    assert_eq!(layers.allow(), ["Bash(make *)"]);
    assert_eq!(layers.left_out().len(), 1, "the other rule is still left out");
    // The same text in a file does nothing where nobody approved it.
    let other = Desk::new();
    other.put(Source::Local, &json!({"permissions": {"allow": ["Bash(make *)"]}}));
    assert!(other.session(&[]).allow().is_empty());
}

#[test]
fn an_update_the_user_asked_for_keeps_the_trust() {
    let desk = Desk::new();
    desk.put(Source::Project, &json!({"permissions": {"allow": ["Bash(a)"]}}));
    desk.trust();
    let update: PermissionUpdate = serde_json::from_value(json!({
        "type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{"toolName": "Bash", "ruleContent": "b"}]}))
    .unwrap();
    persist(&desk.places, &update).unwrap();
    assert_eq!(desk.state(), TrustState::Trusted);
    assert_eq!(desk.session(&[]).allow(), ["Bash(a)", "Bash(b)"]);
    // What somebody else wrote meanwhile is not trusted along with it.
    desk.put(Source::Local, &json!({"permissions": {"allow": ["Bash(evil)"]}}));
    persist(&desk.places, &update).unwrap();
    assert_eq!(desk.state(), changed(&[".claude/settings.local.json"]));
    assert_eq!(desk.session(&[]).allow(), ["Bash(b)"], "it was approved by itself");
}
