//! Permission rules: `Tool` or `Tool(content)`.

use std::path::PathBuf;

use tillerman_protocol::permission::PermissionRule;

use crate::call::MONITOR;
use crate::path_pattern::PathPattern;
use crate::shell::CommandPattern;

/// A rule about the calls of a tool.
#[derive(Clone, Debug)]
pub struct Rule {
    tool: String,
    content: Option<String>,
    pub(crate) matter: Matter,
    pub(crate) source: Option<PathBuf>,
}

/// What the calls of a rule have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Matter {
    /// Every call.
    Everything,
    /// Shell commands.
    Command(CommandPattern),
    /// Files.
    Path(PathPattern),
    /// Hosts on the web; a leading `*.` stands for any subdomain.
    Domain(String),
    /// Agents or skills by name; a trailing ` *` stands for any arguments.
    Name(String),
    /// Calls in which a parameter has a value.
    Parameter {
        /// The parameter.
        name: String,
        /// Its value, with `*` as a wildcard.
        value: String,
    },
    /// Nobody knows: a restriction fits everything, an allowance nothing.
    Unknown,
}

/// Why a rule cannot be read, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// There is no text.
    #[error(
        "the rule is empty; write a tool such as Read, or a tool and what it is about such as Bash(git status)"
    )]
    Empty,
    /// Something else than a tool's name comes first.
    #[error("the rule `{rule}` has no tool at column {column}: {problem}")]
    Tool {
        /// The rule.
        rule: String,
        /// The character at which the problem stands, counted from 1.
        column: usize,
        /// What is wrong there.
        problem: &'static str,
    },
    /// A parenthesis is missing.
    #[error(
        "the rule `{rule}` is not complete: the parenthesis at column {column} is never closed"
    )]
    Unclosed {
        /// The rule.
        rule: String,
        /// The character at which the parenthesis stands, counted from 1.
        column: usize,
    },
    /// Something follows the closing parenthesis.
    #[error(
        "the rule `{rule}` goes on after its closing parenthesis, at column {column}; separate rules with commas"
    )]
    Trailing {
        /// The rule.
        rule: String,
        /// The character behind the parenthesis, counted from 1.
        column: usize,
    },
    /// What stands in the parentheses makes no sense for the tool.
    #[error("the rule `{rule}` cannot be read at column {column}: {problem}")]
    Content {
        /// The rule.
        rule: String,
        /// The character at which the problem stands, counted from 1.
        column: usize,
        /// What is wrong there.
        problem: &'static str,
    },
}

impl RuleError {
    /// The column at which the problem stands, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        match self {
            Self::Empty => 1,
            Self::Tool { column, .. }
            | Self::Unclosed { column, .. }
            | Self::Trailing { column, .. }
            | Self::Content { column, .. } => *column,
        }
    }
}

/// A rule of a list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{list}, rule {number}: {error}")]
pub struct ListedRuleError {
    /// The list, such as a file and a setting.
    pub list: String,
    /// Which rule of the list it is, counted from 1.
    pub number: usize,
    /// What is wrong with it.
    pub error: RuleError,
}

impl Rule {
    /// Reads `Tool` or `Tool(content)`; `Tool(*)` means every call.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let rule = text.trim();
        if rule.is_empty() {
            return Err(RuleError::Empty);
        }
        let column = |byte: usize| rule[..byte].chars().count() + 1;
        let Some(open) = rule.find('(') else {
            check_tool(rule, rule)?;
            return Ok(Self::every(rule));
        };
        let tool = rule[..open].trim_end();
        check_tool(tool, rule)?;
        if !rule.ends_with(')') {
            return Err(match rule.rfind(')') {
                Some(close) if !rule[close + 1..].contains('(') => {
                    RuleError::Trailing { rule: rule.to_owned(), column: column(close + 1) }
                }
                _ => RuleError::Unclosed { rule: rule.to_owned(), column: column(open) },
            });
        }
        let content = &rule[open + 1..rule.len() - 1];
        Self::with_content(tool, content).map_err(|(at, problem)| RuleError::Content {
            rule: rule.to_owned(),
            column: column(open + 1) + at,
            problem,
        })
    }

    /// Reads a list of rules; the error says which of them is wrong.
    pub fn parse_all<T: AsRef<str>>(list: &str, texts: &[T]) -> Result<Vec<Self>, ListedRuleError> {
        let read = |(at, text): (usize, &T)| {
            Self::parse(text.as_ref()).map_err(|error| ListedRuleError {
                list: list.to_owned(),
                number: at + 1,
                error,
            })
        };
        texts.iter().enumerate().map(read).collect()
    }

    /// Reads a rule that denies or asks. One that cannot be read restricts every call of its tool,
    /// and every call at all if not even that is clear, so that a slip of the pen opens nothing.
    #[must_use]
    pub fn parse_restriction(text: &str) -> (Self, Option<RuleError>) {
        let error = match Self::parse(text) {
            Ok(rule) => return (rule, None),
            Err(error) => error,
        };
        let name: String = text.trim().chars().take_while(|c| is_tool_letter(*c)).collect();
        let tool = if name.is_empty() { "*".to_owned() } else { name };
        let content = Some(text.trim().to_owned());
        (Self { tool, content, matter: Matter::Unknown, source: None }, Some(error))
    }

    /// A rule about every call of a tool.
    #[must_use]
    pub fn every(tool: &str) -> Self {
        Self { tool: tool.to_owned(), content: None, matter: Matter::Everything, source: None }
    }

    /// The same rule, with the folder that its paths with a leading slash start from.
    #[must_use]
    pub fn rooted_at(self, source: PathBuf) -> Self {
        Self { source: Some(source), ..self }
    }

    /// The tool, which may contain wildcards.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What a call must match; nothing means every call.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    fn with_content(tool: &str, content: &str) -> Result<Self, (usize, &'static str)> {
        let trimmed = content.trim();
        if trimmed == "*" || trimmed.is_empty() {
            return Ok(Self::every(tool));
        }
        let matter = matter(tool, trimmed)?;
        Ok(Self { tool: tool.to_owned(), content: Some(trimmed.to_owned()), matter, source: None })
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        (&self.tool, &self.content) == (&other.tool, &other.content)
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.content {
            Some(content) => write!(f, "{}({content})", self.tool),
            None => write!(f, "{}", self.tool),
        }
    }
}

impl From<&PermissionRule> for Rule {
    /// A rule that cannot be read is kept: it restricts everything and allows nothing.
    fn from(rule: &PermissionRule) -> Self {
        let content = rule.rule_content.as_deref().unwrap_or("*");
        Self::with_content(&rule.tool_name, content).unwrap_or_else(|_| Self {
            tool: rule.tool_name.clone(),
            content: Some(content.to_owned()),
            matter: Matter::Unknown,
            source: None,
        })
    }
}

fn is_tool_letter(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '.' | ':' | '/' | '@')
}

fn check_tool(tool: &str, rule: &str) -> Result<(), RuleError> {
    let fault = |column, problem| Err(RuleError::Tool { rule: rule.to_owned(), column, problem });
    if tool.is_empty() {
        return fault(1, "a rule begins with the name of a tool");
    }
    let odd = |c: char| !is_tool_letter(c);
    match tool.chars().position(odd) {
        Some(at) if tool.chars().nth(at) == Some(')') => {
            fault(at + 1, "this parenthesis was never opened")
        }
        Some(at) => fault(at + 1, "a tool's name has letters, digits, _ and -"),
        None => Ok(()),
    }
}

fn matter(tool: &str, content: &str) -> Result<Matter, (usize, &'static str)> {
    match tool {
        "Bash" | "PowerShell" | MONITOR => CommandPattern::parse(content).map(Matter::Command),
        "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Glob" | "Grep" | "LSP"
        | "Cd" => {
            PathPattern::parse(content).map(Matter::Path).map_err(|fault| (fault.at, fault.problem))
        }
        "WebFetch" => domain(content),
        "WebSearch" => Err((0, "WebSearch is allowed or denied as a whole, without parentheses")),
        "Agent" | "Task" | "Skill" => Ok(Matter::Name(content.to_owned())),
        _ => match content.split_once(':') {
            Some((name, value)) if !name.is_empty() && !name.contains(char::is_whitespace) => {
                Ok(Matter::Parameter { name: name.to_owned(), value: value.trim().to_owned() })
            }
            _ => Err((0, "write a parameter and its value, such as name:value")),
        },
    }
}

fn domain(content: &str) -> Result<Matter, (usize, &'static str)> {
    let Some(host) = content.strip_prefix("domain:") else {
        return Err((0, "WebFetch is about hosts: write domain:example.com"));
    };
    let host = host.trim().to_ascii_lowercase();
    let odd = |c: char| {
        !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '*' | '_' | ':' | '[' | ']'))
    };
    if host.is_empty() {
        return Err((7, "the host is missing"));
    }
    match host.chars().position(odd) {
        Some(at) => Err((
            7 + at,
            "a host has letters, digits, dots and dashes; write other scripts as punycode",
        )),
        None => Ok(Matter::Domain(host)),
    }
}

/// Splits a list of rules at commas and spaces outside parentheses.
#[must_use]
pub fn split_rules(text: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_u32;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            rules.push(String::new());
        } else if let Some(last) = rules.last_mut() {
            last.push(c);
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}
