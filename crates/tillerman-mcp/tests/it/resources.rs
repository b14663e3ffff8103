//! Resources and prompts.

use serde_json::json;
use tillerman_ports::McpServers as _;
use tillerman_protocol::control::McpRequest;
use tillerman_protocol::tool::Access;

use crate::stage::with_script;

#[tokio::test]
async fn resources_are_listed_and_read_by_tools() {
    let stage = with_script("well").await;
    let listed = stage.text("ListMcpResourcesTool", json!({})).await;
    assert!(listed.contains("note://one") && listed.contains(r#""server": "s""#), "{listed}");
    let read = json!({"server": "s", "uri": "note://one"});
    let text = stage.text("ReadMcpResourceTool", read).await;
    assert_eq!(text, "[Resource: note://one]\nfirst note");
    let table = [
        ("ListMcpResourcesTool", json!({"server": "x"}), "There is no MCP server called x"),
        ("ReadMcpResourceTool", json!({"server": "x", "uri": "a"}), "no MCP server called x"),
        ("ReadMcpResourceTool", json!({"server": "s", "uri": "note://2"}), "no such note"),
    ];
    for (tool, input, why) in table {
        let message = stage.failure(tool, input).await;
        assert!(message.contains(why), "{message}");
    }
    let tool = stage.tool("ReadMcpResourceTool").unwrap();
    assert_eq!(tool.spec().access, Access::ReadOnly);
    assert!(tool.check(&json!({"server": "s"})).is_err());
    stage.end().await;
}

#[tokio::test]
async fn servers_without_resources_bring_no_tools_for_them() {
    let stage = with_script("old").await;
    assert!(stage.tool("ListMcpResourcesTool").is_none());
    stage.end().await;
}

#[tokio::test]
async fn a_host_reads_a_resource() {
    let stage = with_script("well").await;
    let request =
        McpRequest::McpReadResource { server_name: "s".to_owned(), uri: "note://one".to_owned() };
    let answer = stage.hub.carry_out(request).await.unwrap();
    assert_eq!(answer["contents"][0]["text"], "first note");
    stage.end().await;
}

#[tokio::test]
async fn prompts_are_commands_with_words_as_arguments() {
    let stage = with_script("well").await;
    let prompts = stage.hub.prompts();
    assert_eq!(prompts[0].command, "mcp__s__greet");
    assert_eq!(prompts[0].arguments, ["who", "how"]);
    let table = [("Ada", "Greet Ada None"), ("Ada very warmly", "Greet Ada very warmly")];
    for (typed, expected) in table {
        let content = stage.hub.render("mcp__s__greet".to_owned(), typed.to_owned()).await;
        assert_eq!(content.unwrap().plain_text(), expected);
    }
    let refusal = stage.hub.render("mcp__s__nothing".to_owned(), String::new()).await;
    assert_eq!(refusal.unwrap_err().0, "There is no prompt called /mcp__s__nothing.");
    stage.end().await;
}
