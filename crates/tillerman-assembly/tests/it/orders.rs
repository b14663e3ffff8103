//! Orders that cannot be carried out, and what is read relative to where.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use tillerman_assembly::{
    Environment, JsonSource, SessionOrder, StartFailure, TextSource, assemble,
};
use tillerman_testkit::{ScriptedServer, response, script};
use tokio_util::sync::CancellationToken;

use crate::world::{World, converse};

async fn refused(order: &SessionOrder) -> StartFailure {
    match assemble(order, CancellationToken::new()).await {
        Ok(setup) => panic!("it was assembled: {setup:?}"),
        Err(failure) => failure,
    }
}

#[tokio::test]
async fn a_working_directory_is_given_and_is_one() {
    let world = World::new();
    let order = world.order("work", &[]);
    let file = world.path("file");
    std::fs::write(&file, "").unwrap();
    for (cwd, why) in [
        (PathBuf::new(), "not an absolute path"),
        (PathBuf::from("work"), "not an absolute path"),
        (world.path("nowhere"), "No such file"),
        (file, "not a directory"),
    ] {
        let failure = refused(&SessionOrder { cwd, ..order.clone() }).await;
        assert!(failure.to_string().contains(why), "{failure}");
    }
}

#[tokio::test]
async fn a_linked_directory_counts_under_its_real_name() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("done"))).await;
    let mut order = world.order_asking("work", &server);
    let link = world.path("link");
    std::os::unix::fs::symlink(&order.cwd, &link).unwrap();
    let real = std::mem::replace(&mut order.cwd, link);
    converse(&order, "hello").await;
    let system = server.request(0).system_text();
    assert!(system.contains(&format!("Working directory: {}\n", real.display())), "{system}");
}

#[tokio::test]
async fn files_of_an_order_lie_below_its_directory() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("done"))).await;
    let mut order = world.order_asking("work", &server);
    let write = |name: &str, text: &str| std::fs::write(order.cwd.join(name), text).unwrap();
    write("prompt.txt", "You are a lighthouse.");
    write("settings.json", r#"{"model": "claude-from-settings"}"#);
    write("servers.json", r#"{"mcpServers": {}}"#);
    std::fs::create_dir(order.cwd.join("more")).unwrap();
    order.model.system_prompt = Some(TextSource::File(PathBuf::from("prompt.txt")));
    order.extension.settings = Some(JsonSource::read("settings.json"));
    order.extension.mcp_config = vec![JsonSource::read("servers.json")];
    order.session.directories = vec![PathBuf::from("more")];
    converse(&order, "hello").await;
    let request = server.request(0);
    assert_eq!(request.model(), "claude-from-settings");
    let system = request.system_text();
    assert!(system.starts_with("You are a lighthouse."), "{system}");
    let more = order.cwd.join("more");
    assert!(system.contains(&format!("Further directory: {}", more.display())), "{system}");
}

#[tokio::test]
async fn a_key_helper_sees_the_order_s_environment_and_directory() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("done"))).await;
    let url = server.url();
    let order = world.order("work", &[("ANTHROPIC_BASE_URL", &url), ("WORD", "from-the-order")]);
    let helper = json!({ "apiKeyHelper": "echo sk-$WORD-$(basename $PWD)" }).to_string();
    std::fs::write(world.path("config/settings.json"), helper).unwrap();
    converse(&order, "hello").await;
    assert_eq!(server.request(0).header("x-api-key"), Some("sk-from-the-order-work"));
}

#[tokio::test]
async fn without_credentials_a_program_gets_an_error_and_never_a_pretended_answer() {
    let world = World::new();
    let finished = converse(&world.order("work", &[]), "hello").await;
    assert_eq!(finished.result()["is_error"], true, "{:?}", finished.frames);
    assert!(finished.end.last_result_failed);
}

#[tokio::test]
async fn a_sandbox_needs_a_program_for_its_stages() {
    let world = World::new();
    let mut order = world.order("work", &[]);
    order.extension.settings = Some(json!({ "sandbox": { "enabled": true } }).into());
    let failure = refused(&order).await;
    assert!(failure.message.contains("stage program"), "{failure}");
    assert!(!failure.as_frame);
}

#[test]
fn printing_an_order_tells_no_secret() {
    let variables = [("ANTHROPIC_API_KEY".into(), "sk-secret".into())];
    let order =
        SessionOrder { environment: Environment::new(variables), ..SessionOrder::default() };
    let printed = format!("{order:?}");
    assert!(printed.contains("ANTHROPIC_API_KEY") && !printed.contains("sk-secret"), "{printed}");
}

#[tokio::test]
async fn a_key_file_may_be_named_relative_to_the_directory() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("done"))).await;
    let url = server.url();
    let order =
        world.order("work", &[("ANTHROPIC_BASE_URL", &url), ("TILLERMAN_API_KEY_FILE", "key")]);
    let key: &Path = &order.cwd.join("key");
    std::fs::write(key, "sk-of-a-file").unwrap();
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).unwrap();
    converse(&order, "hello").await;
    assert_eq!(server.request(0).header("x-api-key"), Some("sk-of-a-file"));
}
