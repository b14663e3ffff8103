//! Credentials that tools come across.

use serde_json::json;
use tillerman_runtime::Secrets;

use crate::model::{calls, says};
use crate::stage::{SECRET, stage};
use crate::tools::{Conduct, looking};

#[test]
fn a_credential_that_comes_to_be_known_is_known_to_all() {
    let secrets = Secrets::new([SECRET.to_owned()]);
    let elsewhere = secrets.clone();
    elsewhere.learn("a-lent-secret".to_owned());
    elsewhere.learn("short".to_owned());
    let mut text = format!("{SECRET}, a-lent-secret, short");
    secrets.redact_text(&mut text);
    assert_eq!(text, "[redacted], [redacted], short");
    assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    // Tokens that are made anew every minute do not fill the memory.
    for number in 0..1_000 {
        secrets.learn(format!("token-number-{number}"));
    }
    assert_eq!(format!("{secrets:?}"), "Secrets(257)");
    let mut newest = "token-number-999".to_owned();
    elsewhere.redact_text(&mut newest);
    assert_eq!(newest, "[redacted]");
}

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
