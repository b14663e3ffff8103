//! Killing the process at random moments: nothing that was shown is lost, nothing runs twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tillerman_protocol::content::ToolResult;
use tillerman_testkit::{CapturedRequest, Reply, Script, ScriptedServer, response};

use crate::harness::{FRAMES_OUT, World};

const KILLS: usize = 200;
const LANES: usize = 4;
const CALLS: usize = 20;
const SEED: u64 = 0x5eed_0007;
const UNKNOWN: &str = "may or may not have taken effect";

/// What resumed sessions told the model about earlier calls, by the number of the run.
type Told = Arc<Mutex<BTreeMap<usize, Vec<ToolResult>>>>;

/// Answers "work N" with twenty calls that leave a trace, and "go on N" with a word.
fn model(told: &Told) -> Script {
    let told = Arc::clone(told);
    Script::from_fn(move |request| {
        let text = request.user_text();
        let number =
            |word: &str| text.lines().find_map(|line| line.strip_prefix(word)?.parse().ok());
        if let Some(run) = number("go on ") {
            told.lock().unwrap().insert(run, request.tool_results());
            return response().text("resumed").into();
        }
        number("work ").map_or_else(|| response().text("lost").into(), |_: usize| next(request))
    })
}

fn next(request: &CapturedRequest) -> Reply {
    let done = request.tool_results().len();
    let call = match done {
        CALLS.. => return response().text("done").into(),
        _ if done.is_multiple_of(2) => {
            ("Bash", json!({ "command": format!("echo {done} >> log") }))
        }
        _ => ("Read", json!({ "file_path": "README.md" })),
    };
    response().text(format!("call {done}")).tool_call(call.0, call.1).into()
}

/// A run in a world of its own.
struct Run {
    number: usize,
    world: World,
    shown: Vec<Value>,
}

impl Run {
    /// Starts the work and kills it after this long, unless it has ended by then.
    async fn killed_after(number: usize, server: &ScriptedServer, delay: Duration) -> Self {
        let world = World::new();
        std::fs::write(world.file("README.md"), "read me\n").unwrap();
        let prompt = format!("work {number}");
        let arguments = FRAMES_OUT.into_iter().chain([prompt.as_str()]);
        let launch = world.tillerman().asks(server).unguarded().args(arguments);
        let mut agent = launch.start_as_is();
        agent.close();
        let reading = async { while agent.next_whole().await {} };
        if tokio::time::timeout(delay, reading).await.is_err() {
            agent.child.start_kill().unwrap();
            while agent.next_whole().await {}
        }
        agent.child.wait().await.unwrap();
        Self { number, world, shown: agent.seen }
    }

    /// Checks what the dead process left, resumes, and checks what the model is told.
    async fn check(&self, server: &ScriptedServer, told: &Told) -> Left {
        let Some(path) = self.world.transcripts().pop() else {
            assert!(self.shown.iter().all(|frame| frame["type"] == "system"), "{:?}", self.shown);
            return Left::Nothing;
        };
        let before = whole_lines(&path);
        let stored: BTreeSet<&str> =
            before.iter().filter_map(|line| line["uuid"].as_str()).collect();
        for frame in &self.shown {
            if frame["type"] == "user" || frame["type"] == "assistant" {
                let uuid = frame["uuid"].as_str().unwrap();
                assert!(
                    stored.contains(uuid),
                    "run {}: {frame} was shown, not stored",
                    self.number
                );
            }
        }
        let prompt = format!("go on {}", self.number);
        let arguments = FRAMES_OUT.into_iter().chain(["--continue", prompt.as_str()]);
        let resumed = self.world.tillerman().asks(server).unguarded().args(arguments).run().await;
        resumed.assert_code(0).assert_no_panic();
        assert_eq!(resumed.result()["result"], "resumed");
        if before.is_empty() {
            return Left::Nothing;
        }
        let told = told.lock().unwrap().remove(&self.number).unwrap();
        self.check_calls(&before, &told)
    }

    fn check_calls(&self, before: &[Value], told: &[ToolResult]) -> Left {
        let run = self.number;
        let calls: Vec<&str> = blocks(before, "tool_use").map(|block| id(block, "id")).collect();
        let answered: BTreeSet<&str> =
            blocks(before, "tool_result").map(|block| id(block, "tool_use_id")).collect();
        let log = std::fs::read_to_string(self.world.file("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let distinct: BTreeSet<&&str> = lines.iter().collect();
        assert_eq!(distinct.len(), lines.len(), "run {run}: a call ran twice: {lines:?}");
        assert_eq!(told.len(), calls.len(), "run {run}: {calls:?} {told:?}");
        for (number, (call, result)) in calls.iter().zip(told).enumerate() {
            assert_eq!(result.tool_use_id.as_str(), *call, "run {run}");
            let text = result.content.plain_text();
            let is_known = answered.contains(call);
            assert_eq!(!is_known, text.contains(UNKNOWN), "run {run}: {text}");
            let trace = number.to_string();
            if is_known && number.is_multiple_of(2) {
                assert!(lines.contains(&trace.as_str()), "run {run}: call {number} never ran");
            }
        }
        if answered.len() == CALLS {
            Left::Finished
        } else if answered.len() < calls.len() {
            Left::OpenCall
        } else {
            Left::Between
        }
    }
}

/// Where a kill hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    Nothing,
    OpenCall,
    Between,
    Finished,
}

/// The lines of a transcript; only the last may be torn.
fn whole_lines(path: &Path) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    lines.pop();
    lines.into_iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn blocks<'a>(entries: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let contents = entries.iter().filter_map(|entry| entry["message"]["content"].as_array());
    contents.flatten().filter(move |block| block["type"] == kind)
}

fn id<'a>(block: &'a Value, key: &str) -> &'a str {
    block[key].as_str().unwrap()
}

/// How long runs take when nobody disturbs them, side by side as later.
async fn usual_duration(server: &ScriptedServer) -> Duration {
    let patience = Duration::from_secs(20);
    let undisturbed = |number: usize| async move {
        let started = Instant::now();
        let run = Run::killed_after(number, server, patience).await;
        assert_eq!(run.shown.last().unwrap()["result"], "done");
        started.elapsed()
    };
    let lanes = (0..LANES).map(|lane| undisturbed(KILLS + lane));
    futures_util::future::join_all(lanes).await.into_iter().max().unwrap()
}

#[tokio::test]
async fn kills_at_random_moments_lose_and_repeat_nothing() {
    let told = Told::default();
    let server = ScriptedServer::start(model(&told)).await;
    let usual = usual_duration(&server).await;
    let lane = |lane: usize| {
        let (server, told) = (&server, &told);
        async move {
            let mut found = Vec::new();
            for number in (lane..KILLS).step_by(LANES) {
                let part = u32::try_from(splitmix(SEED + number as u64) % 1_000).unwrap();
                let run = Run::killed_after(number, server, usual * part / 1_000).await;
                found.push(run.check(server, told).await);
            }
            found
        }
    };
    let found = futures_util::future::join_all((0..LANES).map(lane)).await.concat();
    let count = |left: Left| found.iter().filter(|found| **found == left).count();
    let all = [Left::Nothing, Left::OpenCall, Left::Between, Left::Finished];
    let summary: Vec<(Left, usize)> = all.map(|left| (left, count(left))).into();
    println!("seed {SEED:#x}, runs of {usual:?}: {summary:?}");
    // A test whose kills all hit before or after the work would prove nothing.
    assert!(count(Left::OpenCall) + count(Left::Between) > KILLS / 4, "{summary:?}");
    assert_eq!(server.problems(), Vec::<String>::new());
}

fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
