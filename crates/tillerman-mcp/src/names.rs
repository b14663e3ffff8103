//! Names of servers and tools as the model sees them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// What the provider accepts as the name of a tool.
const LONGEST_NAME: usize = 128;

/// The part of a name that providers accept: anything but letters, digits, `_` and `-` becomes `_`.
pub(crate) fn normalized(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}

/// Whether rules about a server of this name can be about no other: two underscores in a row end the
/// server's part of a tool's name, so that they must not be in it.
pub(crate) fn is_unmistakable(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_control) && !normalized(name).contains("__")
}

/// The name that the model uses for a server's tool, and hosts for a server's prompt.
pub(crate) fn full_name(server: &str, own: &str) -> String {
    let name = format!("mcp__{}__{}", normalized(server), normalized(own));
    if name.len() <= LONGEST_NAME {
        return name;
    }
    // Two long names may begin alike, so that the cut needs a mark of the rest.
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let mark = format!("_{:08x}", hasher.finish() & 0xffff_ffff);
    format!("{}{mark}", &name[..LONGEST_NAME - mark.len()])
}
