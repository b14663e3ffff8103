//! Who somebody is: tokens, cookies, and a limit on guessing.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE};
use tillerman_protocol::Moment;

use crate::access::{self, Token, User};
use crate::live::Now;
use crate::store::{Store, StoreError, UserRow};

/// The cookie's name.
pub(crate) const COOKIE_NAME: &str = "tillerman";
/// How long a cookie lasts, in milliseconds: 90 days.
const COOKIE_LASTS: i64 = 90 * 24 * 3_600 * 1_000;
/// How long a cookie that was looked up is believed without looking again.
const BELIEVED: Duration = Duration::from_secs(30);
const MOST_BELIEVED: usize = 1_024;
/// Wrong tokens from one address in a minute before it has to wait.
const MOST_FAILURES: u32 = 20;
const WINDOW: Duration = Duration::from_secs(60);
const MOST_ADDRESSES: usize = 4_096;

/// Somebody who was recognised, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visitor {
    pub(crate) user: User,
    pub(crate) by: Proof,
}

/// What somebody showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// A token that only programs send.
    Bearer,
    /// A cookie that browsers send by themselves.
    Cookie,
}

/// Recognises people.
pub(crate) struct Gate {
    store: Store,
    now: Now,
    believed: Mutex<HashMap<Vec<u8>, (Instant, User)>>,
    failures: Mutex<HashMap<IpAddr, (Instant, u32)>>,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

impl Gate {
    pub(crate) fn new(store: Store, now: Now) -> Self {
        let (believed, failures) = (Mutex::default(), Mutex::default());
        Self { store, now, believed, failures }
    }

    /// Who sent these headers.
    pub(crate) async fn recognise(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<Visitor>, StoreError> {
        if let Some(token) = bearer(headers) {
            let user = self.of_token(token).await?;
            return Ok(user.map(|user| Visitor { user, by: Proof::Bearer }));
        }
        let Some(cookie) = cookie(headers) else { return Ok(None) };
        let user = self.of_cookie(cookie).await?;
        Ok(user.map(|user| Visitor { user, by: Proof::Cookie }))
    }

    /// The holder of a token.
    pub(crate) async fn of_token(&self, token: &str) -> Result<Option<User>, StoreError> {
        let shown = access::hash(token);
        let all = self.store.read(UserRow::all).await?;
        let mut found = None;
        // Every user is compared with, so that the time tells nothing.
        for row in all {
            if access::same(&row.token_hash, &shown) {
                found = Some(row.user);
            }
        }
        Ok(found)
    }

    async fn of_cookie(&self, cookie: &str) -> Result<Option<User>, StoreError> {
        let hash = access::hash(cookie);
        if let Some(user) = self.believed_user(&hash) {
            return Ok(Some(user));
        }
        let not_before = Moment::from_millis((self.now)().as_millis() - COOKIE_LASTS);
        let wanted = hash.clone();
        let found = self.store.read(move |db| UserRow::of_cookie(db, &wanted, not_before)).await?;
        if let Some(user) = &found {
            let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
            if believed.len() >= MOST_BELIEVED {
                believed.clear();
            }
            believed.insert(hash, (Instant::now(), user.clone()));
        }
        Ok(found)
    }

    fn believed_user(&self, hash: &[u8]) -> Option<User> {
        let believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, user) = believed.get(hash)?;
        (since.elapsed() < BELIEVED).then(|| user.clone())
    }

    /// A cookie that stands for a user from now on.
    pub(crate) async fn sign_in(&self, user: &User) -> Result<Option<Token>, StoreError> {
        let Some(cookie) = Token::random() else { return Ok(None) };
        let (hash, name, now) = (cookie.hash(), user.name.clone(), (self.now)());
        let not_before = Moment::from_millis(now.as_millis() - COOKIE_LASTS);
        self.store
            .write(move |db| {
                UserRow::sweep(db, not_before)?;
                UserRow::sign_in(db, &hash, &name, now)
            })
            .await?;
        Ok(Some(cookie))
    }

    /// Whether somebody at this address has guessed too often lately.
    pub(crate) fn is_barred(&self, address: IpAddr) -> bool {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures
            .get(&address)
            .is_some_and(|(since, count)| since.elapsed() < WINDOW && *count >= MOST_FAILURES)
    }

    /// Notes a wrong token or cookie.
    pub(crate) fn note_failure(&self, address: IpAddr) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= MOST_ADDRESSES {
            failures.clear();
        }
        let entry = failures.entry(address).or_insert((Instant::now(), 0));
        if entry.0.elapsed() >= WINDOW {
            *entry = (Instant::now(), 0);
        }
        entry.1 += 1;
    }
}

/// Whether somebody showed anything at all.
pub(crate) fn shows_something(headers: &HeaderMap) -> bool {
    bearer(headers).is_some() || cookie(headers).is_some()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ").map(str::trim)
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE_NAME)
        .map(|(_, value)| value)
}
