//! One replacement: what the model asked for and what it makes of a content.

use super::subject::Subject;
use super::substitute::Substitution;
use crate::input::Fields;

/// One text to look for and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) old_string: String,
    pub(super) new_string: String,
    pub(super) replace_all: bool,
}

impl Replacement {
    pub(super) fn parse(fields: &Fields<'_>) -> Result<Self, String> {
        let old_string = fields.required_text("old_string", "the text to replace")?;
        let new_string = fields.required_text("new_string", "the text that takes its place")?;
        if old_string == new_string {
            return Err(fields
                .fault("old_string and new_string are the same, so there is nothing to change."));
        }
        Ok(Self {
            old_string: old_string.to_owned(),
            new_string: new_string.to_owned(),
            replace_all: fields.optional_flag("replace_all")?.unwrap_or(false),
        })
    }

    /// The content with this replacement made, or why it cannot be. Content that another
    /// replacement has made already is given in place of the file's.
    pub(super) fn apply(&self, subject: &Subject, bytes: Option<&[u8]>) -> Result<Vec<u8>, String> {
        let shown = subject.path.display();
        let bytes = match (bytes, &subject.before) {
            (Some(bytes), _) => bytes,
            (None, Ok(before)) => &before.bytes,
            (None, Err(_)) if self.old_string.is_empty() => &[],
            (None, Err(missing)) => return Err(missing.message.clone()),
        };
        if self.old_string.is_empty() {
            if bytes.is_empty() {
                return Ok(self.new_string.clone().into_bytes());
            }
            return Err(format!(
                "old_string is empty, which is only for new or empty files, but {shown} has \
                 content. Give the text to replace, or use Write to replace everything."
            ));
        }
        let substitution = Substitution::find(bytes, &self.old_string, &self.new_string);
        match substitution.count() {
            0 if subject.has_changed() => Err(format!(
                "old_string was not found in {shown}, which changed on disk since it was last read. \
                 It was not changed. Read it again."
            )),
            0 => Err(format!(
                "old_string was not found in {shown}, so it was not changed. It must match exactly, \
                 white space included and without line numbers. Read the place again and copy it."
            )),
            1 => Ok(substitution.apply(bytes)),
            count if !self.replace_all => Err(format!(
                "old_string occurs {count} times in {shown}, so it was not changed. \
                 Take in more of the surrounding lines, or set replace_all to change all of them."
            )),
            count if subject.has_changed() => Err(format!(
                "{shown} changed on disk since it was last read, and old_string occurs {count} \
                 times in it. It was not changed. Read it again."
            )),
            _ => Ok(substitution.apply(bytes)),
        }
    }
}
