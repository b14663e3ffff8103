//! Tools of one's own: a little warehouse that the agent can look into and order from.
//!
//! `cargo run -p tillerman --example tool_server -- [MODEL]`

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tillerman::tools::{Json, create_mcp_server, tool};
use tillerman::{Message, Options, Permission, query};

static STOCK: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Says how many of something there are.
#[tool(read_only)]
async fn stock(
    /// The article, in the singular.
    article: String,
) -> Json<BTreeMap<String, u32>> {
    let stock = STOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let count = stock.get(&article).copied().unwrap_or_default();
    Json(BTreeMap::from([(article, count)]))
}

/// Takes articles out of the warehouse.
#[tool(destructive)]
async fn order(
    /// The article, in the singular.
    article: String,
    /// How many.
    count: u32,
) -> Result<String, String> {
    let mut stock = STOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let left = stock.get_mut(&article).ok_or_else(|| format!("there is no {article}"))?;
    *left = left.checked_sub(count).ok_or_else(|| format!("there are only {left}"))?;
    Ok(format!("{count} ordered, {left} left"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tillerman::Result<()> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "rehearsal".to_owned());
    STOCK.lock().unwrap_or_else(PoisonError::into_inner).insert("lamp".to_owned(), 3);
    let server = create_mcp_server("warehouse", "1.0.0", [stock_tool(), order_tool()])?;
    let options = Options::new()
        .model(model)
        .no_session_persistence()
        .mcp_server("warehouse", server)
        .allow_tool("mcp__warehouse__stock")
        // Looking is free; ordering is asked about, here by a rule of the house.
        .can_use_tool(async |call| {
            if call.input["count"].as_u64().is_some_and(|count| count <= 2) {
                Permission::allow()
            } else {
                Permission::deny("more than two need a signature")
            }
        });
    let mut messages = query("use mcp__warehouse__stock with {\"article\": \"lamp\"}", options);
    while let Some(message) = futures_util::StreamExt::next(&mut messages).await {
        match message? {
            Message::Result(result) => println!("{}", result.result.unwrap_or_default()),
            message => {
                if let Some((_, tool, input)) = message.tool_call() {
                    println!("[{tool} {input}]");
                }
            }
        }
    }
    Ok(())
}
