//! Checks that the requests of a conversation only ever grow at the end, so that the prompt cache
//! stays useful.

use serde_json::Value;

use crate::request::CapturedRequest;

/// Tools and system prompt come before the first content block.
const HEAD: usize = 2;

/// A request as the check sees it.
#[derive(Debug)]
pub(crate) struct Link {
    number: usize,
    items: Vec<(String, Value)>,
    begins_anew: bool,
}

impl Link {
    /// A request with its number; `begins_anew` when the script says that it moves the prefix.
    pub(crate) fn new(number: usize, request: &CapturedRequest, begins_anew: bool) -> Self {
        Self { number, items: request.cache_items(), begins_anew }
    }
}

/// Finds the first request that changes what an earlier one of its conversation had sent.
///
/// Conversations are told apart by their first content block. A request that carries answers of
/// the model but begins like no earlier request has lost its beginning.
pub(crate) fn first_violation(requests: &[Link]) -> Option<String> {
    for (position, now) in requests.iter().enumerate().skip(1) {
        let has_answers = now.items.iter().any(|(role, _)| role == "assistant");
        if now.begins_anew || !has_answers {
            continue;
        }
        let n = now.number;
        let begins_alike = |link: &&Link| link.items.get(HEAD) == now.items.get(HEAD);
        let violation = match requests[..position].iter().rev().find(begins_alike) {
            Some(earlier) => difference(&earlier.items, &now.items).map(|what| {
                format!("request {n} does not continue request {}: {what}", earlier.number)
            }),
            None => {
                Some(format!("request {n} continues a conversation that no earlier request began"))
            }
        };
        if violation.is_some() {
            return violation;
        }
    }
    None
}

fn difference(before: &[(String, Value)], now: &[(String, Value)]) -> Option<String> {
    let position = (0..before.len()).find(|&i| now.get(i) != Some(&before[i]))?;
    let (role, old) = &before[position];
    let place = if position < HEAD {
        format!("the {role}")
    } else {
        format!("content block {} ({role})", position - HEAD)
    };
    let new = now.get(position).map_or_else(|| "nothing".to_owned(), |(_, new)| new.to_string());
    Some(format!("{place} was\n  {old}\nand is now\n  {new}"))
}
