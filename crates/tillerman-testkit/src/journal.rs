//! What the server remembers of a test: requests, how their replies ended, and problems.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::watch;

use crate::deadline::within;
use crate::prefix::{Link, first_violation};
use crate::reply::Reply;
use crate::request::CapturedRequest;
use crate::script::Script;

/// How the reply to a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is still being sent or held.
    Open,
    /// All of it was handed to the connection.
    Complete,
    /// The script broke it off.
    Broken,
    /// The client went away before the end.
    ClientGone,
}

/// The shared memory of one server.
#[derive(Debug)]
pub(crate) struct Journal {
    script: Script,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    /// How many message requests came, whether they are kept or not.
    admitted: usize,
    entries: Vec<Entry>,
    others: Vec<CapturedRequest>,
    taken: BTreeSet<usize>,
    problems: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    request: CapturedRequest,
    outcome: Outcome,
    moves_prefix: bool,
}

/// What to do with a message request.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Answer it.
    Play(Reply),
    /// Refuse it, because the real API would; the text says why.
    Refuse(String),
    /// Fail, because the script has nothing more; the text says so.
    Exhausted(String),
}

impl Journal {
    pub(crate) fn new(script: Script) -> Self {
        Self { script, state: Mutex::default(), changed: watch::Sender::new(()) }
    }

    /// Remembers a message request and decides about it. A refused request takes no reply.
    pub(crate) fn admit(&self, request: CapturedRequest) -> (usize, Verdict) {
        let mut state = self.lock();
        let number = state.admitted;
        state.admitted += 1;
        let refused = (!request.problems.is_empty()).then(|| request.problems.join("; "));
        let verdict = match refused {
            Some(why) => Verdict::Refuse(why),
            None => match self.script.reply(&state.taken, &request) {
                Some((number, reply)) => {
                    state.taken.insert(number);
                    Verdict::Play(reply)
                }
                None => Verdict::Exhausted(self.exhausted(state.taken.len())),
            },
        };
        match &verdict {
            Verdict::Play(_) => {}
            Verdict::Refuse(why) | Verdict::Exhausted(why) => {
                state.problems.push(format!("request {number}: {why}"));
            }
        }
        let moves_prefix =
            matches!(&verdict, Verdict::Play(reply) if reply.moves_prefix().is_some());
        if self.script.keeps_requests() {
            state.entries.push(Entry { request, outcome: Outcome::Open, moves_prefix });
        }
        drop(state);
        self.changed.send_replace(());
        (number, verdict)
    }

    fn exhausted(&self, taken: usize) -> String {
        let all = self.script.len().unwrap_or(taken);
        if taken < all {
            format!("{} replies of the script are left and none is for it", all - taken)
        } else {
            format!("the script has {all} replies and all are taken")
        }
    }

    /// Remembers any other request.
    pub(crate) fn note_other(&self, request: CapturedRequest) {
        self.lock().others.push(request);
        self.changed.send_replace(());
    }

    /// Remembers how a reply ended.
    pub(crate) fn close(&self, number: usize, outcome: Outcome) {
        if let Some(entry) = self.lock().entries.get_mut(number) {
            entry.outcome = outcome;
        }
        self.changed.send_replace(());
    }

    pub(crate) fn requests(&self) -> Vec<CapturedRequest> {
        self.lock().entries.iter().map(|entry| entry.request.clone()).collect()
    }

    pub(crate) fn others(&self) -> Vec<CapturedRequest> {
        self.lock().others.clone()
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        self.lock().problems.clone()
    }

    pub(crate) fn outcome(&self, number: usize) -> Option<Outcome> {
        self.lock().entries.get(number).map(|entry| entry.outcome)
    }

    /// How many replies of the script nobody asked for.
    pub(crate) fn left_over(&self) -> usize {
        let taken = self.lock().taken.len();
        self.script.len().map_or(0, |replies| replies.saturating_sub(taken))
    }

    /// The first break of the prefix rule, if there is one; refused requests are left out.
    pub(crate) fn prefix_violation(&self) -> Option<String> {
        let state = self.lock();
        let good = state.entries.iter().enumerate();
        let good = good.filter(|(_, entry)| entry.request.problems.is_empty());
        let links: Vec<Link> =
            good.map(|(n, entry)| Link::new(n, &entry.request, entry.moves_prefix)).collect();
        first_violation(&links)
    }

    /// Waits until a condition on the journal holds.
    pub(crate) async fn until(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let mut changes = self.changed.subscribe();
        // The sender lives in `self`, so the wait can only end by the condition.
        drop(within(what, changes.wait_for(|()| condition(self))).await);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
