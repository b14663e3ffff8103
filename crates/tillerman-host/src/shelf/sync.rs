//! Taking over what the files say: documents of files are in the database as they last were right.

use rusqlite::Connection;
use serde_json::Value;
use tillerman_protocol::Moment;

use crate::shelf::head::{Read, Trouble};
use crate::shelf::scan::Held;
use crate::store::{AuditNote, FileRow, Kind};
use crate::wire::FileProblem;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) has_changed: bool,
    pub(crate) problems: Vec<FileProblem>,
}

/// Takes over what files say; kinds whose directory cannot be read stay as they are.
pub(crate) fn take(
    db: &Connection,
    held: &[Held],
    unknown: &[Kind],
    now: Moment,
) -> Result<Taken, rusqlite::Error> {
    let mut taken = Taken::default();
    for kind in Kind::ALL.into_iter().filter(|kind| !unknown.contains(kind)) {
        let before = kind.of_files(db)?;
        let files: Vec<&Held> = held.iter().filter(|file| file.kind == kind).collect();
        for row in before.iter().filter(|row| files.iter().all(|file| file.id != row.id)) {
            kind.delete(db, &row.id)?;
            note(db, now, kind, "delete", &row.id, &row.path)?;
            taken.has_changed = true;
        }
        for file in files {
            let row = before.iter().find(|row| row.id == file.id);
            take_file(db, file, row, now, &mut taken)?;
        }
    }
    for file in held.iter().filter(|file| file.kind == Kind::Project) {
        if let Ok(Read { body, .. }) = &file.outcome {
            check_names(db, file, body, &mut taken)?;
        }
    }
    Ok(taken)
}

fn take_file(
    db: &Connection,
    file: &Held,
    row: Option<&FileRow>,
    now: Moment,
    taken: &mut Taken,
) -> Result<(), rusqlite::Error> {
    let kind = file.kind;
    match &file.outcome {
        Ok(_) if row.is_none() && kind.find::<Value>(db, &file.id)?.is_some() => {
            let message = "Another of this name was made in the page, and that one counts.";
            taken.problems.push(problem(file, &Trouble { line: None, message: message.into() }));
        }
        Ok(read) => {
            let is_known = row.is_some_and(|row| row.path == file.path && row.body == read.body);
            if !is_known {
                kind.put_file(db, &file.id, &read.name, (&file.path, &read.body), now)?;
                note(db, now, kind, "put", &file.id, &file.path)?;
                taken.has_changed = true;
            }
        }
        Err(trouble) => {
            let meanwhile = match row {
                Some(_) => "Its former state stays until the file is right.",
                None => "It is left out until the file is right.",
            };
            let message = format!("{} {meanwhile}", trouble.message);
            taken.problems.push(problem(file, &Trouble { line: trouble.line, message }));
        }
    }
    Ok(())
}

/// A project that names what is not there works without it, and its file says more than is true.
fn check_names(
    db: &Connection,
    file: &Held,
    body: &Value,
    taken: &mut Taken,
) -> Result<(), rusqlite::Error> {
    let lists =
        [("persona_ids", Kind::Persona), ("skill_ids", Kind::Skill), ("agent_ids", Kind::Agent)];
    for (field, kind) in lists {
        for id in body[field].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if kind.find::<Value>(db, id)?.is_none() {
                let message = format!(
                    "{field} names {id:?}, and there is no such {}. The project works without it.",
                    kind.as_str()
                );
                taken.problems.push(problem(file, &Trouble { line: None, message }));
            }
        }
    }
    Ok(())
}

fn problem(file: &Held, trouble: &Trouble) -> FileProblem {
    FileProblem {
        kind: file.kind.as_str().to_owned(),
        path: file.path.clone(),
        line: trouble.line,
        message: trouble.message.clone(),
    }
}

fn note(
    db: &Connection,
    at: Moment,
    kind: Kind,
    action: &str,
    id: &str,
    path: &str,
) -> Result<(), rusqlite::Error> {
    let action = format!("{}.{action}", kind.as_str());
    let (subject, detail) = (id.to_owned(), format!("from the file {path}"));
    AuditNote { at, user: String::new(), action, subject, detail }.insert(db)
}
