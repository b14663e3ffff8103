//! Working trees of agents whose session was killed.

use std::path::{Path, PathBuf};

use serde_json::json;
use tillerman_assembly::agent_trees;
use tillerman_testkit::{ScriptedServer, response, script};

use crate::belongings::{git, repository};
use crate::world::{World, converse};

/// A tree as an agent of a killed session leaves it.
async fn left_behind(cwd: &Path, id: &str) -> PathBuf {
    let tree = cwd.join(format!(".claude/worktrees/agent-{id}"));
    let add = format!("worktree add --quiet -B agent-{id} {} HEAD", tree.display());
    git(cwd, &add).await;
    std::fs::write(cwd.join(".claude/worktrees/.gitignore"), "*\n").unwrap();
    std::fs::write(tree.with_extension("lock"), "").unwrap();
    tree
}

#[tokio::test]
async fn the_next_isolated_agent_finds_only_trees_that_are_worth_keeping() {
    let world = World::new();
    let call = json!({"description": "d", "prompt": "p", "isolation": "worktree"});
    let look = json!({"command": "ls .."});
    let server = ScriptedServer::start(
        script()
            .reply(response().tool_call("Agent", call))
            .reply(response().tool_call("Bash", look))
            .reply(response().text("seen"))
            .reply(response().text("done")),
    )
    .await;
    let order = world.order_asking("work", &server);
    let cwd = order.cwd.clone();
    repository(&cwd).await;
    let untouched = left_behind(&cwd, "a1").await;
    let changed = left_behind(&cwd, "a2").await;
    std::fs::write(changed.join("new.txt"), "new").unwrap();
    let committed = left_behind(&cwd, "a3").await;
    git(&committed, "commit -q --allow-empty -m more").await;
    let held = left_behind(&cwd, "a4").await;
    let lock = std::fs::File::options().write(true).open(held.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let foreign = cwd.join(".claude/worktrees/agent-of-mine");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("precious.txt"), "mine").unwrap();
    std::os::unix::fs::symlink(&foreign, cwd.join(".claude/worktrees/agent-link")).unwrap();

    converse(&order, "go").await;

    let seen = server.request(2).tool_result_texts().join("");
    assert!(!seen.lines().any(|it| it == "agent-a1"), "it is gone before the agent begins: {seen}");
    assert!(!untouched.exists() && !untouched.with_extension("lock").exists());
    assert_eq!(
        agent_trees(&cwd),
        [changed.clone(), committed.clone(), held.clone(), foreign.clone()]
    );
    assert!(changed.join("new.txt").exists() && foreign.join("precious.txt").exists());
    let branches = git(&cwd, "branch").await;
    assert!(!branches.contains("agent-a1") && branches.contains("agent-a3"), "{branches}");
    // The agent's own tree, in which nothing changed, has gone with its sign.
    let left = std::fs::read_dir(cwd.join(".claude/worktrees")).unwrap();
    let signs =
        left.filter(|it| it.as_ref().unwrap().path().extension().is_some_and(|e| e == "lock"));
    assert_eq!(signs.count(), 3);
}

#[tokio::test]
async fn a_tree_that_somebody_works_in_is_not_removed_by_a_session_beside_it() {
    let world = World::new();
    let call = json!({"description": "d", "prompt": "p", "isolation": "worktree"});
    let gate = tillerman_testkit::Gate::new();
    let first = ScriptedServer::start(
        script()
            .reply(response().tool_call("Agent", call.clone()))
            .reply(response().text("slow").hold_before(&gate))
            .reply(response().text("done")),
    )
    .await;
    let second = ScriptedServer::start(
        script()
            .reply(response().tool_call("Agent", call))
            .reply(response().text("quick"))
            .reply(response().text("done")),
    )
    .await;
    let order = world.order_asking("work", &first);
    repository(&order.cwd).await;
    let mut beside = world.order_asking("beside", &second);
    beside.cwd.clone_from(&order.cwd);
    let other = async {
        first.wait_for_requests(2).await;
        converse(&beside, "go").await;
        let trees = agent_trees(&order.cwd);
        gate.open();
        trees
    };
    let (finished, trees) = tokio::join!(converse(&order, "go"), other);
    assert_eq!(trees.len(), 1, "{trees:?}");
    assert_eq!(finished.result()["subtype"], "success");
    assert!(agent_trees(&order.cwd).is_empty());
}
