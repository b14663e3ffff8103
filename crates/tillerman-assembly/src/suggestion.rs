//! What somebody may have meant who mistyped a name.

const FARTHEST: usize = 2;

/// The name that is nearest to a mistyped one, if any is near.
pub(crate) fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| (distance(typed, name), name));
    let near = near.filter(|(far, name)| *far <= FARTHEST && *far < name.chars().count());
    near.min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

/// How many letters have to be added, removed or replaced to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], at + 1);
        for (column, other) in to.iter().enumerate() {
            let replaced = before + usize::from(letter != *other);
            before = row[column + 1];
            row[column + 1] = replaced.min(before + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}
