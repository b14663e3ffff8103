//! A queue however long is worked off in one step, without a deep stack.

use tillerman_engine::{Activity, Effect, Input, Prompt, Restored, Session};
use tillerman_protocol::Moment;
use tillerman_protocol::frame::Frame;

use super::dice::Dice;
use super::setup::Stage;

#[test]
fn rounds_that_end_at_once_do_not_nest() {
    let mut config = Stage::new().config(&mut Dice::new(1));
    config.hooked.clear();
    (config.limits.max_turns, config.limits.max_budget_usd) = (None, None);
    (config.limits.max_total_tokens, config.limits.deadline) = (None, None);
    config.limits.max_total_turns = None;
    let mut session = Session::new(config, Restored::default());
    let now = Moment::from_millis(0);
    session.step(now, Input::Prompted(Prompt::text("hi")));
    for _ in 0..5_000 {
        session.step(now, Input::Prompted(Prompt::text("/help")));
    }
    let effects = session.step(now, Input::Interrupted);
    let is_result = |effect: &&Effect| matches!(effect, Effect::Emit(frame) if matches!(**frame, Frame::Result(_)));
    assert_eq!(effects.iter().filter(is_result).count(), 5_001);
    assert_eq!(session.activity(), Activity::Idle);
}
