//! The sandbox section: both documented shapes, layers, patterns and named errors.

use serde_json::json;

use super::SandboxSettings;

#[test]
fn both_documented_shapes_are_read() {
    let settings = SandboxSettings::parse(&json!({
        "enabled": true,
        "excludedCommands": ["docker"],
        "allowUnsandboxedCommands": false,
        "network": {
            "allowedDomains": ["example.com"],
            "allowLocalBinding": true,
            "allowUnixSockets": ["/run/a.sock"],
            "httpProxyPort": 8080,
        },
        "ignoreViolations": {"file": ["/etc/hosts"], "network": ["telemetry"]},
        "somethingNew": {"of": "tomorrow"},
    }))
    .unwrap();
    assert!(settings.is_enabled() && settings.auto_allows() && !settings.allows_unsandboxed());
    assert_eq!(settings.network.http_proxy_port, Some(8080));
    let older = SandboxSettings::parse(&json!({"enabled": true, "allowUnixSockets": true}));
    assert_eq!(older.unwrap().network.allow_all_unix_sockets, Some(true));
    let list = SandboxSettings::parse(&json!({"allowUnixSockets": ["/a"]})).unwrap();
    assert_eq!(list.network.allow_unix_sockets, ["/a"]);
}

#[test]
fn nothing_said_means_not_confined() {
    for value in [json!({}), json!(null), json!({"network": null, "enabled": null})] {
        let settings = SandboxSettings::parse(&value).unwrap();
        assert!(!settings.is_enabled() && !settings.auto_allows() && settings.allows_unsandboxed());
    }
}

#[test]
fn errors_name_the_setting() {
    let check = |value, expected: &str| {
        let error = SandboxSettings::parse(&value).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    };
    check(json!({"enabled": "yes"}), "sandbox.enabled must be true or false");
    check(json!({"network": {"allowedDomains": "a"}}), "sandbox.network.allowedDomains must be");
    check(json!({"network": {"httpProxyPort": 70000}}), "sandbox.network.httpProxyPort must be a");
    check(json!({"filesystem": {"denyRead": [1]}}), "sandbox.filesystem.denyRead must be a list");
    check(json!({"ignoreViolations": {"*": "x"}}), "sandbox.ignoreViolations.* must be a list");
    check(json!([]), "sandbox must be an object");
}

#[test]
fn a_later_layer_wins_and_lists_add_up() {
    let below = SandboxSettings::parse(&json!({
        "enabled": true, "network": {"allowedDomains": ["a"], "allowLocalBinding": true}
    }));
    let over = SandboxSettings::parse(&json!({
        "enabled": false, "network": {"allowedDomains": ["b"], "deniedDomains": ["c"]}
    }));
    let both = below.unwrap().overlaid(over.unwrap());
    assert_eq!(both.enabled, Some(false));
    assert_eq!(both.network.allowed_domains, ["a", "b"]);
    assert_eq!(both.network.denied_domains, ["c"]);
    assert_eq!(both.network.allow_local_binding, Some(true));
}

#[test]
fn every_part_of_an_excluded_command_must_match() {
    let settings = SandboxSettings::parse(&json!({
        "excludedCommands": ["docker", "npm run *", "git push:*"]
    }))
    .unwrap();
    assert!(settings.excludes(["docker ps"]));
    assert!(settings.excludes(["docker", "npm run build", "git push origin"]));
    assert!(!settings.excludes(["docker ps", "curl evil"]));
    assert!(!settings.excludes(["dockerd"]));
    assert!(!settings.excludes(["git pushy"]));
    assert!(!settings.excludes([]));
    let empty = SandboxSettings::parse(&json!({"excludedCommands": ["", " *", ":*"]})).unwrap();
    assert!(!empty.excludes(["anything"]));
}

#[test]
fn violations_are_ignored_by_command_or_by_kind() {
    let settings = SandboxSettings::parse(&json!({
        "ignoreViolations": {"npm": ["registry"], "network": ["telemetry"], "*": ["/etc/hosts"]}
    }))
    .unwrap();
    assert!(settings.ignores("network", "npm ci", "registry.example refused"));
    assert!(!settings.ignores("network", "yarn", "registry.example refused"));
    assert!(settings.ignores("network", "yarn", "telemetry.example refused"));
    assert!(settings.ignores("file", "cat", "/etc/hosts is guarded"));
}
