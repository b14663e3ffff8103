//! Git working trees in which agents work alone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tillerman_ports::{BoxFuture, WorkingCopy};
use tokio::io::AsyncReadExt as _;

use crate::leftover_trees::{Hold, Sweep};

/// How long one git command may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is kept of what git prints.
const PRINTED: u64 = 16 << 10;

/// A working tree on a branch of its own, below the session's directory.
#[derive(Clone, Debug)]
pub(crate) struct Worktree {
    /// The session's directory.
    cwd: PathBuf,
    /// Where the tree is.
    root: PathBuf,
    /// Where the agent works in it: as deep in the repository as the session.
    directory: PathBuf,
    branch: String,
    environment: Vec<(OsString, OsString)>,
    /// Says that somebody works in it.
    hold: Hold,
    /// Looks after trees that others have left.
    sweep: Sweep,
}

impl Worktree {
    /// A tree for an agent; nothing is made yet.
    pub(crate) fn plan(
        cwd: &Path,
        agent_id: &str,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, String> {
        let top = cwd.ancestors().find(|above| above.join(".git").exists());
        let top = top.ok_or_else(|| format!("{} is in no git repository", cwd.display()))?;
        let root = cwd.join(".claude").join("worktrees").join(format!("agent-{agent_id}"));
        let directory = root.join(cwd.strip_prefix(top).unwrap_or(Path::new("")));
        let branch = format!("agent-{agent_id}");
        let (cwd, environment) = (cwd.to_path_buf(), environment.to_vec());
        let (hold, sweep) = (Hold::default(), Sweep::default());
        Ok(Self { cwd, root, directory, branch, environment, hold, sweep })
    }

    /// The same tree, made after a look at those that others have left.
    pub(crate) fn after(self, sweep: &Sweep) -> Self {
        Self { sweep: sweep.clone(), ..self }
    }

    async fn create(self) -> Result<(), String> {
        self.sweep.once(&self.cwd, &self.environment).await;
        if self.root.join(".git").exists() {
            return self.hold.take(&self.root);
        }
        let unusable = |error: std::io::Error| {
            format!("no working tree could be made in {}: {error}", self.root.display())
        };
        let above = self.root.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(above).map_err(unusable)?;
        // The session's own tree does not list the trees of its agents.
        let ignored = above.join(".gitignore");
        if !ignored.exists() {
            std::fs::write(&ignored, "*\n").map_err(unusable)?;
        }
        // Before the tree is there, so that nobody takes it for one that was left.
        self.hold.take(&self.root)?;
        let root = self.root.display().to_string();
        let add = ["worktree", "add", "--quiet", "-B", self.branch.as_str(), root.as_str(), "HEAD"];
        self.git(&self.cwd, &add)
            .await
            .map_err(|why| format!("its working tree could not be made: {why}"))?;
        std::fs::create_dir_all(&self.directory).map_err(unusable)
    }

    /// What was committed and what was not, compared with where the branch began.
    async fn is_untouched(&self) -> Result<bool, String> {
        let listed =
            self.git(&self.root, &["status", "--porcelain", "--untracked-files=all"]).await?;
        let range = format!("HEAD..{}", self.branch);
        let commits = self.git(&self.cwd, &["rev-list", "--max-count=1", range.as_str()]).await?;
        Ok(listed.is_empty() && commits.is_empty())
    }

    async fn remove(&self) -> Result<(), String> {
        let root = self.root.display().to_string();
        self.git(&self.cwd, &["worktree", "remove", "--force", root.as_str()]).await?;
        self.git(&self.cwd, &["branch", "--quiet", "-D", self.branch.as_str()]).await?;
        Ok(())
    }

    /// Removes a tree in which nothing changed; otherwise says what stays, and where.
    pub(crate) async fn leave_behind(&self) -> Option<String> {
        let stays = |more: &str| {
            let (root, branch) = (self.root.display(), &self.branch);
            Some(format!("The agent's working tree stays at {root}, branch {branch}{more}"))
        };
        match self.is_untouched().await {
            Ok(false) => stays("."),
            Ok(true) => match self.remove().await {
                Ok(()) => None,
                Err(why) => stays(&format!(": nothing changed in it, but {why}.")),
            },
            Err(why) => stays(&format!(": whether anything changed in it is not known, {why}.")),
        }
    }

    /// Runs git, without hooks of the repository; what it prints is returned.
    async fn git(&self, directory: &Path, arguments: &[&str]) -> Result<String, String> {
        let running = async {
            let mut child = tokio::process::Command::new("git")
                .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"])
                .args(arguments)
                .env_clear()
                .envs(self.environment.iter().map(|(name, value)| (name, value)))
                .current_dir(directory)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .kill_on_drop(true)
                .spawn()?;
            let (out, err) = (child.stdout.take(), child.stderr.take());
            let (out, err) = tokio::try_join!(beginning(out), beginning(err))?;
            Ok::<_, std::io::Error>((child.wait().await?, out, err))
        };
        let called = arguments.first().copied().unwrap_or_default();
        match tokio::time::timeout(PATIENCE, running).await {
            Err(_) => {
                Err(format!("git {called} did not end within {} seconds", PATIENCE.as_secs()))
            }
            Ok(Err(error)) => Err(format!("git {called} could not be run: {error}")),
            Ok(Ok((status, out, _))) if status.success() => Ok(out),
            Ok(Ok((_, _, err))) => Err(format!("git {called} failed: {}", err.trim())),
        }
    }
}

impl WorkingCopy for Worktree {
    fn directory(&self) -> PathBuf {
        self.directory.clone()
    }

    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn make(&self) -> BoxFuture<Result<(), String>> {
        Box::pin(self.clone().create())
    }

    fn leave(&self) -> BoxFuture<Option<String>> {
        let tree = self.clone();
        Box::pin(async move {
            let stays = tree.leave_behind().await;
            tree.hold.release(&tree.root);
            stays
        })
    }
}

/// The beginning of what a child prints; the rest is read and dropped.
async fn beginning(
    pipe: Option<impl tokio::io::AsyncRead + Unpin>,
) -> Result<String, std::io::Error> {
    let Some(mut pipe) = pipe else { return Ok(String::new()) };
    let mut kept = Vec::new();
    (&mut pipe).take(PRINTED).read_to_end(&mut kept).await?;
    tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    Ok(String::from_utf8_lossy(&kept).into_owned())
}
