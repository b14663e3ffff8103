//! Full-text search over conversations.

use rusqlite::{Connection, params};

/// Words before and after a hit.
const AROUND: u32 = 12;
/// Words of a question that are looked for; more make no better answer.
const MOST_WORDS: usize = 16;

/// Which conversations are looked through.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Among<'a> {
    /// Everybody's.
    All,
    /// Those of the same owner as this one, without itself.
    OthersOfOwner(&'a str),
}

/// Conversations in which all words occur, best first, each with the text around a hit, which
/// stands between U+0002 and U+0003.
pub(crate) fn search(
    connection: &Connection,
    question: &str,
    among: Among<'_>,
    limit: usize,
) -> Result<Vec<(String, String)>, rusqlite::Error> {
    let Some(question) = quote(question) else { return Ok(Vec::new()) };
    let sql = format!(
        "SELECT conversation_id, snippet(words, 0, char(2), char(3), '…', {AROUND}) FROM words \
         WHERE words MATCH ?1 AND (?3 IS NULL OR (conversation_id != ?3 AND conversation_id IN \
         (SELECT id FROM conversations WHERE owner = \
         (SELECT owner FROM conversations WHERE id = ?3)))) ORDER BY rank LIMIT ?2"
    );
    let like = match among {
        Among::All => None,
        Among::OthersOfOwner(conversation) => Some(conversation),
    };
    let mut statement = connection.prepare(&sql)?;
    // One conversation may have many hits; the best one stands for it.
    let rows = statement.query_map(params![question, limit.saturating_mul(8), like], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut found: Vec<(String, String)> = Vec::new();
    for row in rows {
        let (conversation, snippet) = row?;
        if !found.iter().any(|(held, _)| *held == conversation) {
            found.push((conversation, snippet));
        }
        if found.len() == limit {
            break;
        }
    }
    Ok(found)
}

/// A question without operators: every word is looked for as it stands, the last as a beginning.
fn quote(question: &str) -> Option<String> {
    let words: Vec<String> = question
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
        .map(|word| format!("\"{word}\""))
        .collect();
    (!words.is_empty()).then(|| format!("{}*", words.join(" ")))
}
