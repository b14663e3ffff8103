//! Updates that would make a question unnecessary next time.

use tillerman_protocol::permission::{
    PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination,
};

use crate::call::{Facts, Family};
use crate::matching::host;
use crate::place::{Names, Place};
use crate::shell::{self, Simple};

/// More rules than this are not saved for one question.
const MAX_RULES: usize = 5;

/// Suggestions for a call that is not a shell command.
pub(crate) fn for_tool(
    facts: &Facts<'_>,
    paths: &[Names],
    place: &Place<'_>,
) -> Vec<PermissionUpdate> {
    if let Some(outside) = paths.iter().find(|names| !place.contains(names)) {
        let folder = outside.shown().parent().map(|folder| folder.display().to_string());
        return folder
            .filter(|folder| folder != "/")
            .map(|folder| PermissionUpdate::AddDirectories {
                directories: vec![folder],
                destination: UpdateDestination::Session,
            })
            .into_iter()
            .collect();
    }
    match facts.family() {
        Family::Edit => vec![PermissionUpdate::SetMode {
            mode: PermissionMode::AcceptEdits,
            destination: UpdateDestination::Session,
        }],
        _ if facts.tool == "WebFetch" => facts
            .text("url")
            .and_then(host)
            .map(|host| add_rules(vec![rule("WebFetch", Some(format!("domain:{host}")))]))
            .into_iter()
            .collect(),
        _ if matches!(facts.tool, "AskUserQuestion" | "ExitPlanMode" | "EnterPlanMode") => {
            Vec::new()
        }
        _ => vec![add_rules(vec![rule(facts.tool, None)])],
    }
}

/// Suggestions for the parts of a shell command that nothing allows: exactly what was shown, or nothing.
pub(crate) fn for_parts(open: &[&Simple]) -> Vec<PermissionUpdate> {
    let mut contents: Vec<String> = Vec::new();
    for simple in open {
        let Some(content) = exact(simple) else { return Vec::new() };
        if !contents.contains(&content) {
            contents.push(content);
        }
    }
    if contents.is_empty() || contents.len() > MAX_RULES {
        return Vec::new();
    }
    vec![add_rules(contents.into_iter().map(|content| rule("Bash", Some(content))).collect())]
}

/// A part as the content of a rule, if it is understood and runs nothing but itself.
fn exact(simple: &Simple) -> Option<String> {
    let words = simple.literal_words()?;
    let first = words.first()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+=".contains(c);
    let runs_more =
        shell::is_shell(first) || shell::is_interpreter(first) || !shell::launch(&words).is_empty();
    let plain = words.iter().all(|word| !word.is_empty() && word.chars().all(is_plain));
    let simple_enough =
        simple.doubt.is_none() && simple.assignments.is_empty() && simple.redirects.is_empty();
    (plain && simple_enough && !runs_more && !words.last()?.ends_with(':')).then(|| words.join(" "))
}

fn rule(tool: &str, content: Option<String>) -> PermissionRule {
    PermissionRule { tool_name: tool.to_owned(), rule_content: content }
}

fn add_rules(rules: Vec<PermissionRule>) -> PermissionUpdate {
    PermissionUpdate::AddRules {
        rules,
        behavior: RuleBehavior::Allow,
        destination: UpdateDestination::LocalSettings,
    }
}
