//! Credentials that tools come across.

use serde_json::json;

use crate::model::{calls, says};
use crate::stage::{SECRET, stage};
use crate::tools::{Conduct, looking};

#[tokio::test(start_paused = true)]
async fn a_credential_in_a_tools_output_is_seen_by_nobody() {
    for conduct in [Conduct::Leak, Conduct::LeakInFailure] {
        let look = looking("Look", conduct);
        let mut play =
            stage([calls("Look", "toolu_1", &json!({})), says("Done.")]).tools([&look]).begin();
        play.say("Look").await;
        let frames = play.round().await;
        let shown = serde_json::to_string(&frames).unwrap();
        assert!(shown.contains("[redacted]"), "{shown}");
        assert!(!shown.contains(SECRET), "{shown}");
        let stored = serde_json::to_string(&play.shelf.entries()).unwrap();
        assert!(stored.contains("[redacted]") && !stored.contains(SECRET), "{stored}");
    }
}
