//! A broken invariant: which check failed and what it saw.

/// A broken invariant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) check: &'static str,
    pub(super) detail: String,
}

pub(super) type Checked = Result<(), Fault>;

/// Passes if the condition holds; otherwise names the check that failed.
pub(super) fn ensure(holds: bool, check: &'static str, detail: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Fault { check, detail: detail() }) }
}
