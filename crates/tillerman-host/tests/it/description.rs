//! The description of the API, kept as a file so that changes to it are seen.

use std::path::Path;

use tillerman_host::Host;

use crate::harness::World;

#[tokio::test]
async fn the_description_is_the_one_that_is_kept() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let made = serde_json::to_string_pretty(&Host::openapi("0")).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "the API has changed; look at it and run with UPDATE_GOLDEN=1");
}

#[tokio::test]
async fn the_host_serves_it_and_every_reference_leads_somewhere() {
    let world = World::new().await;
    let document = world.get("/openapi.json").await.expect(200);
    let text = document.to_string();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name} is not described");
    }
    assert!(document["paths"].as_object().unwrap().len() > 20);
}
