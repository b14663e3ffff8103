//! Starts the real binary in a world of its own, talks to it, and looks at what it left behind.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;
use tillerman_testkit::ScriptedServer;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// The longest any wait takes before the test fails.
const DEADLINE: Duration = Duration::from_secs(30);
const GLANCE: Duration = Duration::from_millis(2);

/// The key that scripted servers are asked with.
pub(crate) const KEY: &str = "sk-ant-dummy-0123456789";
/// What makes frames go in and out.
pub(crate) const STREAMING: [&str; 5] =
    ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
/// What makes frames go out after a prompt on the command line.
pub(crate) const FRAMES_OUT: [&str; 4] = ["-p", "--output-format", "stream-json", "--verbose"];

/// A home, a configuration directory and a working directory that nobody else uses.
pub(crate) struct World {
    root: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["home", "config", "work"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path("config")
    }

    /// The path of a file in the working directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path("work").join(name)
    }

    /// The binary with this world around it and no credentials.
    pub(crate) fn tillerman(&self) -> Launch {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tillerman"));
        let log = tempfile::Builder::new().prefix("stderr-").tempfile_in(self.root.path());
        let (log_file, log) = log.unwrap().keep().unwrap();
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("CLAUDE_CONFIG_DIR", self.config())
            .env("TMPDIR", self.root.path())
            .env("IS_SANDBOX", "1")
            .current_dir(self.path("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log_file)
            .kill_on_drop(true);
        Launch { command, log }
    }

    /// All transcripts.
    pub(crate) fn transcripts(&self) -> Vec<PathBuf> {
        let projects = std::fs::read_dir(self.config().join("projects"));
        let files = projects
            .into_iter()
            .flatten()
            .flat_map(|project| std::fs::read_dir(project.unwrap().path()).into_iter().flatten());
        let paths = files.map(|file| file.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect()
    }

    /// The only transcript.
    pub(crate) fn transcript(&self) -> PathBuf {
        let mut all = self.transcripts();
        assert_eq!(all.len(), 1, "exactly one transcript was expected: {all:?}");
        all.remove(0)
    }

    /// The lines of the only transcript, all of them whole.
    pub(crate) fn entries(&self) -> Vec<Value> {
        entries(&self.transcript())
    }
}

/// The lines of a transcript, all of them whole.
pub(crate) fn entries(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A command line that is being put together.
pub(crate) struct Launch {
    command: Command,
    log: PathBuf,
}

impl Launch {
    pub(crate) fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Where its standard error goes.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.log.clone()
    }

    pub(crate) fn cwd(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// As a user that is not root; nothing where such a user cannot reach the program.
    pub(crate) fn by_somebody(mut self) -> Option<Self> {
        const NOBODY: u32 = 65_534;
        if is_root() {
            let program = Path::new(env!("CARGO_BIN_EXE_tillerman"));
            let is_open = |folder: &Path| {
                use std::os::unix::fs::PermissionsExt as _;
                std::fs::metadata(folder).is_ok_and(|it| it.permissions().mode() & 0o001 != 0)
            };
            if !program.ancestors().all(is_open) {
                return None;
            }
            self.command.uid(NOBODY).gid(NOBODY);
        }
        Some(self)
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn stderr(mut self, target: impl Into<Stdio>) -> Self {
        self.command.stderr(target);
        self
    }

    /// Has the scripted server answer, asked with the usual key.
    pub(crate) fn asks(self, server: &ScriptedServer) -> Self {
        self.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", KEY)
    }

    /// Lets every tool call run.
    pub(crate) fn unguarded(self) -> Self {
        self.args(["--permission-mode", "bypassPermissions"])
    }

    /// Runs to the end with nothing on standard input.
    pub(crate) async fn run(self) -> Finished {
        self.run_with(b"").await
    }

    /// Runs to the end with this on standard input.
    pub(crate) async fn run_with(mut self, input: &[u8]) -> Finished {
        if !input.is_empty() {
            self.command.stdin(Stdio::piped());
        }
        let mut child = self.command.spawn().unwrap();
        let mut stdin = child.stdin.take();
        let mut stdout = child.stdout.take().unwrap();
        let writing = async move {
            if let Some(stdin) = stdin.as_mut() {
                // The binary may well refuse to read all of it.
                drop(stdin.write_all(input).await);
            }
            drop(stdin);
        };
        let reading = async move {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).await.unwrap();
            bytes
        };
        let all = async { tokio::join!(writing, reading, child.wait()) };
        let ((), stdout, status) = within("the end of the process", all).await;
        Finished { status: status.unwrap(), stdout, stderr: read_lossy(&self.log) }
    }

    /// Starts it with frames in and out.
    pub(crate) fn start(self) -> Agent {
        self.args(STREAMING).start_as_is()
    }

    /// Starts it with exactly these arguments.
    pub(crate) fn start_as_is(mut self) -> Agent {
        let mut child = self.command.stdin(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(BufReader::new);
        Agent {
            stdin: child.stdin.take(),
            stdout,
            seen: Vec::new(),
            partial: Vec::new(),
            child,
            log: self.log,
        }
    }
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Finished {
    #[track_caller]
    pub(crate) fn assert_code(&self, code: i32) -> &Self {
        let (stdout, stderr) = (self.text(), &self.stderr);
        assert_eq!(self.status.code(), Some(code), "stdout: {stdout}\nstderr: {stderr}");
        self
    }

    #[track_caller]
    pub(crate) fn assert_stderr(&self, part: &str) -> &Self {
        assert!(self.stderr.contains(part), "{part:?} is not in:\n{}", self.stderr);
        self
    }

    /// Panics are for programmers, never for users.
    #[track_caller]
    pub(crate) fn assert_no_panic(&self) -> &Self {
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard output as frames; every line must be one.
    pub(crate) fn frames(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The last result among the frames.
    pub(crate) fn result(&self) -> Value {
        let found = self.frames().into_iter().rfind(|frame| frame["type"] == "result");
        found.unwrap_or_else(|| panic!("no result on stdout:\n{}\n{}", self.text(), self.stderr))
    }
}

/// A running process that speaks frames.
pub(crate) struct Agent {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    pub(crate) seen: Vec<Value>,
    /// What was read of a line when the reading was given up.
    partial: Vec<u8>,
    log: PathBuf,
}

impl Agent {
    pub(crate) async fn send(&mut self, frame: Value) {
        let line = format!("{frame}\n");
        let stdin = self.stdin.as_mut().unwrap();
        within("a frame to be read", stdin.write_all(line.as_bytes())).await.unwrap();
        stdin.flush().await.unwrap();
    }

    /// Writes bytes that need not be a frame.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        within("bytes to be read", self.stdin.as_mut().unwrap().write_all(bytes)).await
    }

    /// The most memory it has used so far, in bytes; nothing once it has ended.
    pub(crate) fn memory_peak(&self) -> usize {
        let line = self.status_line("VmHWM:");
        let kilobytes = line.as_deref().and_then(|line| line.strip_suffix(" kB"));
        kilobytes.map_or(0, |number| number.parse::<usize>().unwrap() << 10)
    }

    fn status_line(&self, name: &str) -> Option<String> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(|line| line.trim().to_owned())
    }

    pub(crate) async fn prompt(&mut self, text: &str) {
        self.send(prompt(text)).await;
    }

    /// Ends the input.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Closes the reading end of standard output.
    pub(crate) fn stop_reading(&mut self) {
        self.stdout = None;
    }

    /// Reads frames up to the first that fits.
    pub(crate) async fn frame(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let Some(frame) = self.next(what).await else {
                panic!("stdout ended before {what}: {:#?}\n{}", self.seen, read_lossy(&self.log));
            };
            if fits(&frame) {
                return frame;
            }
        }
    }

    pub(crate) async fn result(&mut self) -> Value {
        self.frame("a result", |frame| frame["type"] == "result").await
    }

    /// The next frame, or nothing at the end.
    pub(crate) async fn next(&mut self, what: &str) -> Option<Value> {
        let mut line = Vec::new();
        let stdout = self.stdout.as_mut().unwrap();
        let read = within(what, stdout.read_until(b'\n', &mut line)).await.unwrap();
        if read == 0 {
            return None;
        }
        let frame: Value = serde_json::from_slice(&line).unwrap();
        self.seen.push(frame.clone());
        Some(frame)
    }

    /// The next line of a process that speaks to people, or nothing at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let stdout = self.stdout.as_mut().unwrap();
        let read = within("a line", stdout.read_line(&mut line)).await.unwrap();
        (read > 0).then_some(line)
    }

    /// Reads the next frame if all of it is there; a line that a kill cut short is left out.
    pub(crate) async fn next_whole(&mut self) -> bool {
        let stdout = self.stdout.as_mut().unwrap();
        let read = within("a frame", stdout.read_until(b'\n', &mut self.partial)).await.unwrap();
        if read == 0 || !self.partial.ends_with(b"\n") {
            return false;
        }
        let line = std::mem::take(&mut self.partial);
        self.seen.push(serde_json::from_slice(&line).unwrap());
        true
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id().unwrap()).unwrap();
        rustix::process::kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Sends a signal to a process that may have ended.
    pub(crate) fn signal_if_alive(&self, signal: Signal) {
        if let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            let _gone = rustix::process::kill_process(Pid::from_raw(id).unwrap(), signal).is_err();
        }
    }

    /// Whether only its parent still knows it.
    pub(crate) fn has_ended(&self) -> bool {
        self.status_line("State:").is_none_or(|state| state.starts_with('Z'))
    }

    /// Signals that were sent and not delivered yet.
    pub(crate) fn pending_signals(&self) -> u64 {
        let digits = self.status_line("ShdPnd:").unwrap_or_default();
        u64::from_str_radix(&digits, 16).unwrap_or(0)
    }

    /// Bytes of standard output that nobody has read yet.
    pub(crate) fn unread(&self) -> u64 {
        let stdout = self.stdout.as_ref().unwrap();
        rustix::io::ioctl_fionread(stdout.get_ref()).unwrap()
    }

    /// Closes the input, reads what is left and waits for the end.
    pub(crate) async fn finish(mut self) -> (Finished, Vec<Value>) {
        self.close();
        while self.stdout.is_some() && self.next("the end of stdout").await.is_some() {}
        let status = within("the end of the process", self.child.wait()).await.unwrap();
        let finished = Finished { status, stdout: Vec::new(), stderr: read_lossy(&self.log) };
        (finished, self.seen)
    }
}

/// A prompt as a frame.
pub(crate) fn prompt(text: &str) -> Value {
    let message = json!({ "role": "user", "content": text });
    json!({ "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "" })
}

/// Waits for something that a correct binary brings about soon.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {} s in vain for {what}", DEADLINE.as_secs()),
    }
}

/// Looks again and again until it is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(GLANCE).await;
        }
    };
    within(what, looking).await;
}

/// Whether a process runs whose command line holds this text.
pub(crate) fn is_running(text: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes.filter(|entry| entry.path().join("cmdline").exists()).any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    })
}

/// The texts of all tool results among frames.
pub(crate) fn tool_result_texts(frames: &[Value]) -> Vec<String> {
    let users = frames.iter().filter(|frame| frame["type"] == "user");
    let blocks = users.filter_map(|frame| frame["message"]["content"].as_array()).flatten();
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results.map(|block| block["content"].as_str().unwrap_or_default().to_owned()).collect()
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn read_lossy(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(path) {
        std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
