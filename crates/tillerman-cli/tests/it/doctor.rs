//! `tillerman doctor` about the host: rows with a state, what it means, and what to do.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::harness::{Finished, World};
use crate::served::Served;

/// The report about a data directory, and whether all is well.
async fn examine(world: &World, port: &str) -> (Finished, Value) {
    let data = world.path("data");
    let arguments = ["doctor", "--json", "--data-dir", data.to_str().unwrap(), "--port", port];
    let finished = world.tillerman().args(arguments).run().await;
    let report = serde_json::from_str(&finished.text()).unwrap();
    (finished, report)
}

#[track_caller]
fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["rows"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
}

#[tokio::test]
async fn a_fresh_machine_is_well_and_nothing_is_made() {
    let world = World::new();
    let (finished, report) = examine(&world, "0").await;
    finished.assert_code(0);
    assert_eq!(report["well"], true);
    for name in ["data directory", "database", "token file", "port", "traces"] {
        assert_eq!(row(&report, name)["state"], "ok", "{report}");
    }
    let credentials = row(&report, "credentials");
    assert_eq!(credentials["state"], "note");
    assert!(credentials["meaning"].as_str().unwrap().contains("rehearsal"));
    assert!(credentials["advice"].as_str().unwrap().contains("ANTHROPIC_API_KEY"));
    assert!(!world.path("data").exists(), "looking made something");
    let text = world.tillerman().args(["doctor"]).run().await.text();
    assert!(text.contains("Host (tillerman serve)\n"), "{text}");
}

#[tokio::test]
async fn a_running_host_is_recognised_and_open_files_are_told() {
    let world = World::new();
    let host = Served::start(&world, &[]).await;
    let port = host.address.rsplit(':').next().unwrap().to_owned();
    let (finished, report) = examine(&world, &port).await;
    finished.assert_code(0);
    let found = row(&report, "port")["meaning"].as_str().unwrap().to_owned();
    assert!(found.contains("ours"), "{found}");
    assert!(row(&report, "database")["meaning"].as_str().unwrap().contains("version"));
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().port().to_string();
    drop(host);
    let database = world.path("data").join("host.db");
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (finished, report) = examine(&world, &taken).await;
    finished.assert_code(1);
    assert_eq!(row(&report, "port")["state"], "note", "{report}");
    assert_eq!(row(&report, "token file")["state"], "bad", "{report}");
    for name in ["host.db-wal", "host.db-shm"] {
        drop(std::fs::remove_file(world.path("data").join(name)));
    }
    std::fs::write(&database, "this is not a database. ".repeat(100)).unwrap();
    let (_, report) = examine(&world, "0").await;
    let broken = row(&report, "database");
    assert!(broken["advice"].as_str().unwrap().contains("reindex"), "{report}");
}

#[tokio::test]
async fn traces_and_their_credentials() {
    let world = World::new();
    let launch = world
        .tillerman()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:pass-word@collector.example/?key=k")
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=very-secret");
    let text = launch.args(["doctor"]).run().await.text();
    assert!(text.contains("go to https://collector.example/v1/traces"), "{text}");
    assert!(!text.contains("pass-word") && !text.contains("very-secret"), "{text}");
    let launch = world.tillerman().env("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c.example");
    let launch = launch.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let finished = launch.args(["doctor"]).run().await;
    finished.assert_code(1);
    assert!(finished.text().contains("http/protobuf"), "{}", finished.text());
}
