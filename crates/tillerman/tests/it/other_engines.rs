//! Programs that are not Tillerman are never given what only Tillerman understands.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tillerman::run::{Run, RunPlan};
use tillerman::{Client, Error, ErrorKind, Options, Retry};

use crate::world::within;

const OFFICIAL: &str = "2.1.138 (Claude Code)";
const OWN: &str = "2.1.138 (Tillerman 0.1.0)";

/// A program of this version that notes its arguments and variables when it is started, and ends.
struct Program {
    folder: TempDir,
}

impl Program {
    fn of_version(version: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit; fi\n\
             printf '%s\\n' \"$@\" > '{0}/arguments'\nenv > '{0}/variables'\nexit 7\n",
            folder.path().display()
        );
        std::fs::write(folder.path().join("program"), text).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path().join("program"), mode).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    fn noted(&self, what: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(what)).ok()
    }

    /// What a session with these options fails with, since the program ends at once.
    async fn fails(&self, options: Options) -> Error {
        within(Client::connect(options.path_to_executable(self.path()))).await.unwrap_err()
    }
}

#[tokio::test]
async fn options_of_tillerman_alone_are_refused_before_another_program_starts() {
    let cases = [
        (Options::new().guard("CLAUDE.md"), vec!["`guard`"]),
        (Options::new().strict_environment(), vec!["`strict_environment`"]),
        (Options::new().guard("a").strict_environment(), vec!["`guard`", "`strict_environment`"]),
    ];
    for (options, names) in cases {
        let program = Program::of_version(OFFICIAL);
        let error = program.fails(options).await;
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert_eq!(error.retry(), Retry::AfterChange);
        let text = error.to_string();
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
        assert!(text.contains(OFFICIAL) && text.contains("nothing was started"), "{text}");
        assert_eq!(program.noted("arguments"), None);
    }
}

#[tokio::test]
async fn a_program_that_does_not_say_what_it_is_is_another_one() {
    let program = Program::of_version("");
    let error = program.fails(Options::new().guard("CLAUDE.md")).await;
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let options = Options::new().guard("x").path_to_executable("/nowhere/at/all");
    let error = within(Client::connect(options)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

#[tokio::test]
async fn tillerman_is_told_everything() {
    let program = Program::of_version(OWN);
    let error = program.fails(Options::new().guard("CLAUDE.md").strict_environment()).await;
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Process, Some(7)));
    let arguments = program.noted("arguments").unwrap();
    assert!(arguments.contains("--guard\nCLAUDE.md\n"), "{arguments}");
    assert!(arguments.contains("--strict-environment\n"), "{arguments}");
}

#[tokio::test]
async fn options_that_every_engine_has_start_every_program() {
    let program = Program::of_version(OFFICIAL);
    let error = program.fails(Options::new().model("x").disallowed_tools(["Bash"])).await;
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Process, Some(7)));
}

async fn run(program: &Path, plan: impl FnOnce(RunPlan) -> RunPlan) -> i32 {
    let (exited, mut exits) = tokio::sync::mpsc::channel(1);
    let options = Options::new().path_to_executable(program).env("PROJECT", "of its own");
    let plan =
        plan(RunPlan::new("go", options)).on_exit(move |code| exited.try_send(code).unwrap());
    let _run = Run::start(plan);
    within(exits.recv()).await.unwrap()
}

#[tokio::test]
async fn runs_of_other_programs_see_only_the_variables_that_agents_need() {
    let program = Program::of_version(OFFICIAL);
    assert_eq!(run(&program.path(), |plan| plan).await, 1);
    let arguments = program.noted("arguments").unwrap();
    assert!(!arguments.contains("--strict-environment"), "{arguments}");
    let variables = program.noted("variables").unwrap();
    let seen: BTreeSet<&str> =
        variables.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(seen.contains("PATH") && seen.contains("PROJECT"), "{variables}");
    // The shell adds these itself.
    let shell = ["PWD", "OLDPWD", "SHLVL", "_"];
    let own = ["PROJECT", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SDK_READS_SESSION_STATE"];
    let known = tillerman_assembly::AGENT_VARIABLES;
    let is_other =
        |name: &str| !(known.contains(&name) || shell.contains(&name) || own.contains(&name));
    let others: Vec<&&str> = seen.iter().filter(|name| is_other(name)).collect();
    assert_eq!(others, [] as [&&str; 0]);
    let mut here = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    assert!(here.any(|name| is_other(&name)), "there was nothing to leave out");
}

#[tokio::test]
async fn runs_of_tillerman_leave_that_to_it() {
    let program = Program::of_version(OWN);
    assert_eq!(run(&program.path(), |plan| plan).await, 1);
    assert!(program.noted("arguments").unwrap().contains("--strict-environment\n"));
}

#[tokio::test]
async fn runs_with_guarded_files_need_tillerman() {
    let program = Program::of_version(OFFICIAL);
    assert_eq!(run(&program.path(), |plan| plan.guard(["CLAUDE.md"])).await, 1);
    assert_eq!(program.noted("arguments"), None);
}
