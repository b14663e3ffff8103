//! Many sessions in one process.

use std::time::Instant;

use serde_json::json;
use tokio::task::JoinSet;

use crate::model::{calls, says};
use crate::stage::stage;
use crate::tools::{Conduct, looking};

#[tokio::test]
async fn a_thousand_sessions_finish_side_by_side() {
    let began = Instant::now();
    let mut sessions = JoinSet::new();
    for n in 0..1000 {
        sessions.spawn(async move {
            let look = looking("Look", Conduct::Succeed);
            let scripts = [calls("Look", "toolu_1", &json!({"n": n})), says("Done.")];
            let mut play = stage(scripts).tools([&look]).begin();
            play.say("Go").await;
            let result = play.until("result/success").await;
            assert_eq!(result["result"], "Done.");
            assert_eq!(look.log(), [json!({"n": n})]);
            let (_, end) = play.close().await;
            usize::from(!end.last_result_failed)
        });
    }
    let finished: usize = sessions.join_all().await.into_iter().sum();
    assert_eq!(finished, 1000);
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}
