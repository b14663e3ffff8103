//! Searching through an address somebody configured.

use std::fmt;
use std::sync::Arc;

use reqwest::Url;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::results::{Hit, MOST_HITS, Part, Query};
use crate::config::Reach;
use crate::web::connection::{Connection, literal};
use crate::web::fetch::{FetchError, Fetched, fetch, parse_url};

const PLACEHOLDER: &str = "{query}";

/// A configured search address.
pub(super) struct Endpoint {
    template: String,
    connection: Arc<Connection>,
}

/// Leaves out the address, which may hold a key.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The address may be on this machine when it says so itself.
    pub(super) fn new(template: String) -> Self {
        let url = Url::parse(&template.replace(PLACEHOLDER, "query")).ok();
        let own = url.as_ref().is_some_and(|url| {
            url.host_str() == Some("localhost")
                || literal(url).is_some_and(|address| address.to_canonical().is_loopback())
        });
        let reach = if own { Reach::PublicAndLoopback } else { Reach::Public };
        Self { template, connection: Arc::new(Connection::new(reach)) }
    }

    /// Searches.
    ///
    /// # Errors
    /// A text for the model, without the address, which may hold a key.
    pub(super) async fn search(
        &self,
        query: &Query,
        cancel: &CancellationToken,
    ) -> Result<Vec<Part>, String> {
        if !self.template.contains(PLACEHOLDER) {
            return Err(format!("the configured search address does not contain {PLACEHOLDER}"));
        }
        let encoded: String = url_encoded(&query.text);
        let url = parse_url(&self.template.replace(PLACEHOLDER, &encoded))
            .map_err(|_| "the configured search address is not a URL".to_owned())?;
        let body = match fetch(&self.connection, url, cancel).await {
            Ok(Fetched::Page(body)) if body.status.is_success() => body,
            Ok(Fetched::Page(body)) => return Err(format!("the search answered {}", body.status)),
            Ok(Fetched::Elsewhere { .. }) => {
                return Err("the search redirects to another host".to_owned());
            }
            Err(FetchError::Interrupted) => return Err("the call was interrupted".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        let answer: Value = serde_json::from_slice(&body.bytes)
            .map_err(|_| "the search did not answer with JSON".to_owned())?;
        let list = answer.get("results").unwrap_or(&answer).as_array();
        let list = list.ok_or("the search answered with JSON that holds no list of results")?;
        let wanted = |hit: &Hit| {
            let url = Url::parse(&hit.url).ok();
            url.and_then(|url| url.host_str().map(|host| query.wants(host))).unwrap_or(false)
        };
        let hits = list.iter().filter_map(Hit::read).filter(wanted).take(MOST_HITS).collect();
        Ok(vec![Part::Hits("search_1".to_owned(), hits)])
    }
}

/// The text as it may stand in a URL's query.
fn url_encoded(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
