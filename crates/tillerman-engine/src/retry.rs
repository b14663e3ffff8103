//! Whether and when a failed request is repeated.

use tillerman_protocol::model::{FailureKind, ModelFailure};

use crate::identity::IdSource;

const FIRST_DELAY_MS: u64 = 500;
const LONGEST_DELAY_MS: u64 = 32_000;
/// A provider that asks for more patience than this gets an error shown instead of a silent wait.
const LONGEST_REQUESTED_MS: u64 = 600_000;
/// Repetitions that an overloaded model gets while another one is at hand.
const PATIENCE_WITH_OVERLOAD: u32 = 2;

/// How long to wait before repetition number `attempt` (from 1), or `None` to give up.
pub(crate) fn delay(failure: &ModelFailure, attempt: u32, dice: &mut IdSource) -> Option<u64> {
    if !failure.should_retry.unwrap_or_else(|| failure.kind.is_transient()) {
        return None;
    }
    let doubled = FIRST_DELAY_MS << attempt.saturating_sub(1).min(10);
    let backoff = doubled.min(LONGEST_DELAY_MS);
    let jittered = backoff + dice.below(backoff / 4);
    match failure.retry_after_ms {
        Some(requested) if requested > LONGEST_REQUESTED_MS => None,
        Some(requested) => Some(requested + dice.below(250)),
        None => Some(jittered),
    }
}

/// Whether another model, if there is one, should answer before this one is asked again.
pub(crate) const fn another_model_is_better(kind: FailureKind, retries: u32) -> bool {
    matches!(kind, FailureKind::Overloaded) && retries >= PATIENCE_WITH_OVERLOAD
}

/// Whether another model may do better where this one failed for good.
pub(crate) const fn another_model_may_help(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Overloaded
            | FailureKind::RateLimit
            | FailureKind::Server
            | FailureKind::ModelUnavailable
            | FailureKind::Stream
    )
}
