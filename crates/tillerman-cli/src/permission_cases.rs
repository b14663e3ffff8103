//! A table of calls with the verdicts they must get, judged as a whole.

use std::io::Write as _;
use std::path::Path;

use serde_json::Value;
use tillerman_assembly::StartFailure;
use tillerman_policy::{Guard, Guarded, Ruling};
use tillerman_protocol::permission::PermissionMode;

use crate::permissions::{Setting, read_rules, visible};

/// What tables take to be guarded when nothing else is said.
const GUARDED: [&str; 3] = ["CLAUDE.md", ".claude", ".git"];

/// A line of a table.
struct Case {
    id: String,
    tool: String,
    input: Value,
    mode: PermissionMode,
    allow: Vec<String>,
    deny: Vec<String>,
    ask: Vec<String>,
    expect: Vec<String>,
    writes: Option<String>,
}

/// Judges every case, prints those that come out differently and a count, and returns the exit code.
pub(crate) fn run(file: &Path, mut setting: Setting) -> Result<u8, StartFailure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        StartFailure::usage(format!("Cannot read the cases in {}: {error}.", file.display()))
    })?;
    if setting.policy.guard.guarded.is_empty() {
        setting.policy.guard =
            Guard { guarded: GUARDED.iter().map(|name| Guarded::read(name)).collect() };
    }
    let mut told = Vec::new();
    let (mut count, mut mismatches, mut under_other_names) = (0, 0, 0);
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let case = read(line, setting.mode).map_err(|problem| {
            StartFailure::usage(format!("{}, line {}: {problem}", file.display(), number + 1))
        })?;
        count += 1;
        let outcome = judge(&case, &setting)?;
        mismatches += usize::from(!outcome.problems.is_empty());
        under_other_names += usize::from(outcome.under_other_name);
        for problem in outcome.problems {
            told.push(format!("{}: {problem}", case.id));
        }
    }
    told.push(format!("{count} cases, {mismatches} mismatches"));
    if under_other_names > 0 {
        told.push(format!("{under_other_names} of them name a file that only a link leads to; the disk was not looked at, and the verdict says that it may be that file"));
    }
    drop(writeln!(std::io::stdout(), "{}", told.join("\n")));
    Ok(u8::from(mismatches > 0))
}

fn read(line: &str, usual: PermissionMode) -> Result<Case, String> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| format!("this is not JSON: {error}"))?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let list = |name: &str| match value.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| {
                item.as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` must hold texts"))
            })
            .collect(),
        Some(_) => Err(format!("`{name}` must be a list")),
    };
    let mode = match text("mode") {
        None => usual,
        Some(name) => {
            PermissionMode::parse(&name).ok_or_else(|| format!("`{name}` is not a mode"))?
        }
    };
    let expect: Vec<String> = list("expect")?;
    if let Some(wrong) =
        expect.iter().find(|name| !matches!(name.as_str(), "allow" | "ask" | "deny"))
    {
        return Err(format!("`{wrong}` is not a verdict; use allow, ask or deny"));
    }
    if expect.is_empty() {
        return Err("`expect` is missing: list the verdicts that are right".to_owned());
    }
    Ok(Case {
        id: text("id").unwrap_or_else(|| "case without an id".to_owned()),
        tool: text("tool").unwrap_or_else(|| "Bash".to_owned()),
        input: value.get("input").cloned().ok_or("`input` is missing")?,
        mode,
        allow: list("allow")?,
        deny: list("deny")?,
        ask: list("ask")?,
        expect,
        writes: text("writes"),
    })
}

/// How a case came out.
struct Outcome {
    problems: Vec<String>,
    under_other_name: bool,
}

fn judge(case: &Case, setting: &Setting) -> Result<Outcome, StartFailure> {
    let mut policy = setting.policy.clone();
    policy.allow.extend(read_rules(&format!("{}, allow", case.id), &case.allow)?);
    policy.deny.extend(read_rules(&format!("{}, deny", case.id), &case.deny)?);
    policy.ask.extend(read_rules(&format!("{}, ask", case.id), &case.ask)?);
    let here = Setting { policy, mode: case.mode, is_there: setting.is_there };
    let ruling = here.judge(&case.tool, &case.input, case.mode);
    let mut problems = Vec::new();
    let verdict = ruling.verdict.name();
    if !case.expect.iter().any(|expected| expected == verdict) {
        let command = case.input.get("command").and_then(Value::as_str).unwrap_or_default();
        let start: String = command.chars().take(120).collect();
        problems.push(format!(
            "got {verdict}, expected {} ({}): {}",
            case.expect.join(" or "),
            ruling.reason,
            visible(&start)
        ));
    }
    let mut under_other_name = false;
    if let Some(wanted) = &case.writes {
        match shows(&ruling, wanted, &here) {
            Shown::Yes => {}
            Shown::UnderOtherName => under_other_name = true,
            Shown::No => {
                problems.push(format!("{wanted} is not shown among the files that it writes"));
            }
        }
    }
    Ok(Outcome { problems, under_other_name })
}

/// Whether a file is among those that a verdict shows.
enum Shown {
    Yes,
    UnderOtherName,
    No,
}

fn shows(ruling: &Ruling, wanted: &str, setting: &Setting) -> Shown {
    let written = || ruling.parts.iter().flat_map(|part| &part.writes);
    if written().any(|written| setting.shown(&written.path) == wanted || written.path == wanted) {
        return Shown::Yes;
    }
    let could_be = |name: &String| wanted.split('/').any(|part| part == name);
    if written().any(|written| written.may_be.iter().any(could_be)) {
        Shown::UnderOtherName
    } else {
        Shown::No
    }
}
