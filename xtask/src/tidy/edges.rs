//! The direction of dependencies between the crates of the workspace.

use crate::tidy::manifest::{Dependency, Manifest};
use crate::tidy::tree::{Finding, Tree};

/// Which crates of the workspace a crate may know.
#[derive(Clone, Copy)]
enum Allowed {
    Anything,
    Only(&'static [&'static str]),
}

const PROTOCOL: &str = "tillerman-protocol";
const PORTS: &str = "tillerman-ports";
const RUNTIME: &str = "tillerman-runtime";
const SDK: &str = "tillerman";
const MACROS: &str = "tillerman-macros";
const TESTKIT: &str = "tillerman-testkit";

/// Everything that is not listed here is forbidden. A new crate needs a row.
const EDGES: &[(&str, Allowed)] = &[
    (PROTOCOL, Allowed::Only(&[])),
    ("tillerman-engine", Allowed::Only(&[PROTOCOL])),
    ("tillerman-policy", Allowed::Only(&[PROTOCOL])),
    ("tillerman-config", Allowed::Only(&[PROTOCOL])),
    (PORTS, Allowed::Only(&[PROTOCOL])),
    (RUNTIME, Allowed::Only(&["tillerman-engine", "tillerman-policy", PORTS, PROTOCOL])),
    ("tillerman-models", Allowed::Only(&[PORTS, PROTOCOL])),
    ("tillerman-tools", Allowed::Only(&[PORTS, PROTOCOL])),
    ("tillerman-desktop", Allowed::Only(&[PORTS, PROTOCOL, "tillerman-tools"])),
    ("tillerman-hooks", Allowed::Only(&[PORTS, PROTOCOL])),
    ("tillerman-store", Allowed::Only(&[PORTS, PROTOCOL])),
    ("tillerman-mcp", Allowed::Only(&[PORTS, PROTOCOL])),
    ("tillerman-telemetry", Allowed::Only(&[PORTS, PROTOCOL])),
    ("tillerman-sandbox", Allowed::Only(&[PORTS, PROTOCOL])),
    (
        "tillerman-assembly",
        Allowed::Only(&[
            RUNTIME,
            "tillerman-engine",
            "tillerman-policy",
            PORTS,
            PROTOCOL,
            "tillerman-models",
            "tillerman-tools",
            "tillerman-mcp",
            "tillerman-hooks",
            "tillerman-store",
            "tillerman-config",
            "tillerman-sandbox",
        ]),
    ),
    (
        SDK,
        Allowed::Only(&[
            SDK,
            MACROS,
            "tillerman-assembly",
            PORTS,
            PROTOCOL,
            "tillerman-store",
            TESTKIT,
        ]),
    ),
    (MACROS, Allowed::Only(&[])),
    ("tillerman-host", Allowed::Only(&[RUNTIME, PROTOCOL])),
    ("tillerman-web", Allowed::Only(&[])),
    (TESTKIT, Allowed::Only(&[PORTS, PROTOCOL])),
    ("tillerman-cli", Allowed::Anything),
    ("xtask", Allowed::Only(&[])),
];

/// Crates that compute and never act, and what they therefore must not know.
const PURE: [&str; 3] = [PROTOCOL, "tillerman-engine", "tillerman-policy"];
const ACTING: [&str; 6] = ["tokio", "reqwest", "rustix", "tempfile", "axum", "rusqlite"];

/// Finds dependencies that point the wrong way.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.manifests().iter().flat_map(check_manifest).collect()
}

fn check_manifest(manifest: &Manifest) -> Vec<Finding> {
    let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == manifest.name) else {
        let message = format!("{} has no row in the table of allowed edges", manifest.name);
        return vec![Finding::new(&manifest.path, 1, message)];
    };
    let wrong = manifest.dependencies.iter().filter(|it| !permits(*allowed, &it.name));
    let wrong_in_tests = manifest
        .dev_dependencies
        .iter()
        .filter(|it| it.name != TESTKIT && !permits(*allowed, &it.name));
    let edges = wrong.chain(wrong_in_tests).map(|it| (it, "points against the layers"));
    let acting = manifest
        .dependencies
        .iter()
        .filter(|it| PURE.contains(&manifest.name.as_str()) && ACTING.contains(&it.name.as_str()));
    let acting = acting.map(|it| (it, "brings I/O into a crate that only computes"));
    edges.chain(acting).map(|(it, why)| finding(manifest, it, why)).collect()
}

fn permits(allowed: Allowed, dependency: &str) -> bool {
    let ours = EDGES.iter().any(|(name, _)| *name == dependency);
    match allowed {
        Allowed::Anything => true,
        Allowed::Only(names) => !ours || names.contains(&dependency),
    }
}

fn finding(manifest: &Manifest, dependency: &Dependency, why: &str) -> Finding {
    let message = format!("{} → {} {why}", manifest.name, dependency.name);
    Finding::new(&manifest.path, dependency.line, message)
}
