//! The command line: every flag that official SDKs pass, and a help text for people.

use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};
use tillerman_protocol::permission::PermissionMode;

use crate::config_command::ConfigCommand;
use crate::doctor::DoctorArguments;
use crate::host_arguments::HostArguments;
use crate::ipc::IpcArguments;
use crate::log::LogArguments;
use crate::mcp_command::McpCommand;
use crate::permissions::PermissionsCommand;
use crate::serve::{ServeArguments, UsersCommand};
use crate::trust_command::TrustArguments;

const ABOUT: &str = "Tillerman runs agents: it talks to a model, runs the tools the model asks for, \
                     and asks you before anything that could do harm.";

const EXAMPLES: &str = "\
Examples:
  tillerman \"what does this project do?\"        ask once, read the answer as it comes
  tillerman -p \"fix the typo in README.md\" --permission-mode acceptEdits
  git diff | tillerman -p \"review this change\"
  tillerman -c -p \"and now the tests\"           go on with the newest session here
  tillerman -p --output-format json \"…\"         one JSON object with answer and cost
  tillerman permissions explain --input '{\"command\":\"make\"}'   what would be decided, and why

Models: set ANTHROPIC_API_KEY, or name another with --model (ollama:llama3, openai:gpt-5,
rehearsal). With no key at all the offline rehearsal model answers, so everything can be tried.

Exit codes: 0 done, 1 failed or wrong usage, 130 ended by a second SIGINT, 143 by SIGTERM.";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "tillerman",
    about = ABOUT,
    after_help = EXAMPLES,
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_override_self = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// What the agent is to do; standard input is added when it is a pipe
    pub(crate) prompt: Option<String>,

    /// Print the answer and exit
    #[arg(short = 'p', long)]
    pub(crate) print: bool,

    /// Print the version
    #[arg(short = 'v', long)]
    pub(crate) version: bool,

    #[command(flatten)]
    pub(crate) format: FormatArguments,
    #[command(flatten)]
    pub(crate) session: SessionArguments,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) permission: PermissionArguments,
    #[command(flatten)]
    pub(crate) extension: ExtensionArguments,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// What else the program does.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// What the agent may do, explained
    #[command(subcommand)]
    Permissions(PermissionsCommand),
    /// What this machine and this configuration can do, and what is wrong with them
    Doctor(DoctorArguments),
    /// The settings in force, and where they came from
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Let the settings of a repository take effect, after you looked at them
    Trust(TrustArguments),
    /// Agents in the browser: serves a page on this machine
    Serve(ServeArguments),
    /// Build the host's database anew from the transcripts
    Reindex {
        /// Where the host keeps its data
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
    /// Write what somebody who helps needs to know into a file, without secrets
    DebugBundle {
        /// The file; it must not exist
        #[arg(default_value = "tillerman-debug.md")]
        output: PathBuf,
        /// Where the host keeps its data
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
    /// Who else may use the host
    #[command(subcommand)]
    Users(UsersCommand),
    /// Agents in a desktop application: JSON lines on standard input and output
    Ipc(IpcArguments),
    /// MCP servers: add, list, get, remove; or serve the built-in tools
    #[command(subcommand)]
    Mcp(McpCommand),
}

/// How a conversation comes in and goes out.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input and output")]
pub(crate) struct FormatArguments {
    /// How the answer is printed
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,
    /// How prompts come in
    #[arg(long, value_enum, default_value_t = InputFormat::Text)]
    pub(crate) input_format: InputFormat,
    /// Print every frame (needed with --output-format stream-json)
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Also print the raw events of responses (stream-json)
    #[arg(long, requires = "verbose")]
    pub(crate) include_partial_messages: bool,
    /// Print prompts as they are taken up (stream-json)
    #[arg(long)]
    pub(crate) replay_user_messages: bool,
    #[command(flatten)]
    pub(crate) copies: CopyArguments,
    /// Say on standard error what is going on inside
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) debug: Option<String>,
    /// A JSON schema the answer must match
    #[arg(long, value_name = "JSON")]
    pub(crate) json_schema: Option<String>,
}

/// What else goes out.
#[derive(Debug, clap::Args)]
pub(crate) struct CopyArguments {
    /// Also print what hooks do (stream-json)
    #[arg(long)]
    pub(crate) include_hook_events: bool,
    /// Copy every transcript entry to standard output (stream-json)
    #[arg(long, hide = true)]
    pub(crate) session_mirror: bool,
}

/// Which conversation it is.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sessions")]
pub(crate) struct SessionArguments {
    /// Go on with the newest session of this directory
    #[arg(short = 'c', long = "continue")]
    pub(crate) go_on: bool,
    /// Go on with this session
    #[arg(short = 'r', long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,
    /// Give a new session this id (a UUID)
    #[arg(long, value_name = "UUID", value_parser = uuid_argument)]
    pub(crate) session_id: Option<String>,
    /// With --resume or --continue: leave that session as it is and go on in a copy
    #[arg(long)]
    pub(crate) fork_session: bool,
    /// With --resume: go on after this message and forget what came later
    #[arg(long, value_name = "UUID")]
    pub(crate) resume_session_at: Option<String>,
    /// With --resume: forget this prompt and everything after it
    #[arg(long, value_name = "UUID", hide = true)]
    pub(crate) resume_drops_turn: Option<String>,
    #[command(flatten)]
    pub(crate) rewind: RewindArguments,
    /// Keep nothing on disk
    #[arg(long)]
    pub(crate) no_session_persistence: bool,
    /// Use another working directory as well (repeatable)
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) add_dir: Vec<String>,
}

/// Which files come back.
#[derive(Debug, clap::Args)]
pub(crate) struct RewindArguments {
    /// With --resume: bring back the files as they were before this message, then exit
    #[arg(long, value_name = "UUID")]
    pub(crate) rewind_files: Option<String>,
    /// With --rewind-files: only say what would change
    #[arg(long, requires = "rewind_files")]
    pub(crate) dry_run: bool,
}

/// Which model answers and how.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArguments {
    /// The model: an id, an alias (sonnet, opus, haiku), ollama:NAME, openai:NAME or rehearsal
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Models to try when that one fails
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    pub(crate) fallback_model: Vec<String>,
    /// Stop after this many requests to the model
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// Stop once this many dollars are spent
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub(crate) max_budget_usd: Option<f64>,
    /// Stop once this many tokens are used, by the session and its agents together
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_total_tokens: Option<u64>,
    /// Stop after this many turns of the session and its agents together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_total_turns: Option<u64>,
    /// Stop this many seconds after the start, whatever is under way
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_duration: Option<u32>,
    /// Tokens the model is told to manage with; nothing is refused beyond them
    #[arg(long, value_name = "TOKENS")]
    pub(crate) task_budget: Option<u64>,
    /// Replace the system prompt
    #[arg(long, value_name = "TEXT", conflicts_with = "system_prompt_file")]
    pub(crate) system_prompt: Option<String>,
    /// Replace the system prompt with the text of a file
    #[arg(long, value_name = "FILE")]
    pub(crate) system_prompt_file: Option<String>,
    /// Add to the system prompt
    #[arg(long, value_name = "TEXT", conflicts_with = "append_system_prompt_file")]
    pub(crate) append_system_prompt: Option<String>,
    /// Add the text of a file to the system prompt
    #[arg(long, value_name = "FILE")]
    pub(crate) append_system_prompt_file: Option<String>,
    /// How hard the model should try
    #[arg(long, value_name = "low|medium|high|xhigh|max")]
    pub(crate) effort: Option<String>,
    /// How the model thinks before it answers
    #[arg(long, value_parser = ["adaptive", "enabled", "disabled"])]
    pub(crate) thinking: Option<String>,
    /// Tokens the model may think
    #[arg(long, value_name = "N")]
    pub(crate) max_thinking_tokens: Option<u32>,
    /// How thoughts are shown
    #[arg(long, hide = true)]
    pub(crate) thinking_display: Option<String>,
    /// Tokens that count as the whole context window when it is compacted
    #[arg(long, value_name = "TOKENS")]
    pub(crate) autocompact: Option<u64>,
    /// Beta features of the provider
    #[arg(long, value_delimiter = ',')]
    pub(crate) betas: Vec<String>,
}

/// What the agent may do.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Tools and permissions")]
pub(crate) struct PermissionArguments {
    /// The tools that exist: names, "default" for all, "" for none
    #[arg(long, num_args = 1..)]
    pub(crate) tools: Option<Vec<String>>,
    /// Calls that need no question, such as "Read" or "Bash(git status)"
    #[arg(long = "allowedTools", visible_alias = "allowed-tools", value_name = "RULE", num_args = 1..)]
    pub(crate) allowed_tools: Vec<String>,
    /// Tools that do not exist and calls that are refused
    #[arg(long = "disallowedTools", visible_alias = "disallowed-tools", value_name = "RULE", num_args = 1..)]
    pub(crate) disallowed_tools: Vec<String>,
    #[command(flatten)]
    pub(crate) protection: ProtectionArguments,
    /// default, acceptEdits, plan, bypassPermissions, dontAsk or auto
    #[arg(long, value_name = "MODE", value_parser = permission_mode)]
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Who answers permission questions: stdio means the program that started this one
    #[arg(long, value_name = "TOOL", hide = true)]
    pub(crate) permission_prompt_tool: Option<String>,
    /// Run everything without asking; only for machines you can afford to lose
    #[arg(long)]
    pub(crate) dangerously_skip_permissions: bool,
    /// Let the host switch to that later
    #[arg(long)]
    pub(crate) allow_dangerously_skip_permissions: bool,
}

/// What holds in every mode.
#[derive(Debug, clap::Args)]
pub(crate) struct ProtectionArguments {
    /// A file, folder or name that nothing may write, in any mode (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) guard: Vec<String>,
    /// Show tools only the variables that agents need, instead of all but the credentials
    #[arg(long)]
    pub(crate) strict_environment: bool,
}

/// What is plugged in.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Settings and extensions")]
pub(crate) struct ExtensionArguments {
    /// Further settings: a file or a JSON object
    #[arg(long, value_name = "FILE-OR-JSON")]
    pub(crate) settings: Option<String>,
    /// Which settings files are read: user, project, local (default: all)
    #[arg(long, value_name = "SOURCES")]
    pub(crate) setting_sources: Option<String>,
    #[command(flatten)]
    pub(crate) host: HostArguments,
    /// MCP servers: files or JSON
    #[arg(long, value_name = "FILE-OR-JSON", num_args = 1..)]
    pub(crate) mcp_config: Vec<String>,
    /// Use no other MCP servers than those of --mcp-config
    #[arg(long)]
    pub(crate) strict_mcp_config: bool,
    /// Use the plugin in this directory (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<String>,
    /// Use the plugin in this directory without its MCP servers
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) plugin_dir_no_mcp: Vec<String>,
    /// Use no commands and no skills of files
    #[arg(long)]
    pub(crate) disable_slash_commands: bool,
    /// Agents that the model can hand work to: JSON with a definition by name
    #[arg(long, value_name = "JSON")]
    pub(crate) agents: Option<String>,
    /// Work as this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) preparation: PreparationArguments,
    /// Further switches that hosts pass and that change nothing here
    #[arg(long = "ide", hide = true, action = ArgAction::SetTrue)]
    pub(crate) ide: bool,
}

/// Whether Setup hooks prepare the working copy first.
#[derive(Debug, clap::Args)]
pub(crate) struct PreparationArguments {
    /// Run Setup hooks before the session starts
    #[arg(long)]
    pub(crate) init: bool,
    /// Run Setup and SessionStart hooks, then exit
    #[arg(long)]
    pub(crate) init_only: bool,
    /// Run Setup hooks for maintenance before the session starts
    #[arg(long)]
    pub(crate) maintenance: bool,
}

/// How the answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer's text
    Text,
    /// One JSON object with the answer
    Json,
    /// One JSON object per line as things happen
    StreamJson,
}

/// How prompts come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// One prompt
    Text,
    /// One JSON object per line
    StreamJson,
}

pub(crate) fn permission_mode(name: &str) -> Result<PermissionMode, String> {
    PermissionMode::parse(name).ok_or_else(|| {
        let names: Vec<&str> = PermissionMode::ALL.iter().map(|(name, _)| *name).collect();
        format!("the modes are {}", names.join(", "))
    })
}

fn uuid_argument(text: &str) -> Result<String, String> {
    match uuid::Uuid::try_parse(text) {
        Ok(uuid) => Ok(uuid.to_string()),
        Err(_) => Err("a session id must be a UUID".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
        _ => Err("a budget is a number of dollars, such as 0.50".to_owned()),
    }
}
