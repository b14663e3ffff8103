//! Git inside, with a real repository at the other end of a real HTTPS connection.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tillerman_sandbox::PrivateAddresses;

use crate::broker::{Known, lending};
use crate::upstream::{Asked, Upstream, world};
use crate::world::{everyone, process};

/// `x-access-token` and the secret.
const WANTED: &str = "Basic eC1hY2Nlc3MtdG9rZW46Z2hwX3RoZS1yZWFsLXNlY3JldA==";

/// Answers like a host of repositories: only those who know the secret may come in.
fn hosting(root: PathBuf) -> Upstream {
    Upstream::start(move |asked| {
        if asked.header("authorization") != Some(WANTED) {
            let head = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"hub\"\r\n";
            return format!("{head}Content-Length: 0\r\n\r\n").into_bytes();
        }
        let address = asked.line.split(' ').nth(1).unwrap();
        // Hosts of repositories lead from former names to present ones.
        if let Some(rest) = address.strip_prefix("/moved.git") {
            let to = format!("https://good.test/repository.git{rest}");
            let head = format!("HTTP/1.1 301 Moved\r\nLocation: {to}\r\n");
            return format!("{head}Content-Length: 0\r\n\r\n").into_bytes();
        }
        gateway(&root, address, asked)
    })
}

/// Has git answer, through the interface it has for web servers.
fn gateway(root: &Path, address: &str, asked: &Asked) -> Vec<u8> {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let mut backend = process("git");
    backend
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("REMOTE_USER", "somebody")
        .env("REQUEST_METHOD", asked.line.split(' ').next().unwrap())
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_LENGTH", asked.body.len().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for (variable, header) in [
        ("CONTENT_TYPE", "content-type"),
        ("HTTP_CONTENT_ENCODING", "content-encoding"),
        ("GIT_PROTOCOL", "git-protocol"),
    ] {
        backend.envs(asked.header(header).map(|value| (variable, value)));
    }
    let mut child = backend.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&asked.body).unwrap();
    let said = child.wait_with_output().unwrap().stdout;
    let end = said.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&said[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let length = said.len() - end - 4;
    let answer = format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\n\r\n");
    let mut answer = answer.into_bytes();
    answer.extend_from_slice(&said[end + 4..]);
    answer
}

/// An empty repository.
fn repository(place: &Path) -> PathBuf {
    let path = place.join("repository.git");
    let made = process("git").args(["init", "-q", "--bare"]).arg(&path).status();
    assert!(made.unwrap().success());
    path
}

fn has_branch(repository: &Path, branch: &str) -> bool {
    let reference = format!("refs/heads/{branch}");
    let mut shown = process("git");
    shown.arg("--git-dir").arg(repository).args(["rev-parse", "--verify", "-q", &reference]);
    shown.output().unwrap().status.success()
}

const COMMIT: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
                      GIT_COMMITTER_EMAIL=a@b GIT_TERMINAL_PROMPT=0 HOME=$PWD; \
                      git init -q work && cd work && head -c 3000000 /dev/urandom > big && \
                      git add big && git commit -q -m first";

#[test]
fn git_pushes_with_nothing_configured() {
    everyone("git_push::git_pushes_with_nothing_configured", || {
        let place = tempfile::tempdir().unwrap();
        let upstream = hosting(place.path().to_path_buf());
        let world = world(upstream.port);
        let repository = repository(place.path());
        let confinement = lending(&world, &Arc::new(Known::default()), PrivateAddresses::Allowed);
        // The file is too large for git to say its length in advance.
        let script = format!(
            "{COMMIT} && git push -q https://good.test/repository.git HEAD:refs/heads/web && \
             git push -q git@good.test:repository.git HEAD:refs/heads/shell && \
             git push -q https://good.test/moved.git HEAD:refs/heads/moved && \
             git clone -q https://good.test/repository.git -b web ../clone && ls ../clone"
        );
        let ended = world.run_in(confinement, &script);
        assert_eq!(ended.succeeded(), "big", "{ended:#?}");
        for branch in ["web", "shell", "moved"] {
            assert!(has_branch(&repository, branch), "{branch}: {ended:#?}");
        }
        let asked = upstream.take();
        let chunked = asked.iter().find(|it| it.header("transfer-encoding").is_some());
        assert!(chunked.is_some_and(|it| it.body.len() > 3_000_000), "nothing was chunked");
        assert!(asked.iter().all(|it| it.header("authorization") == Some(WANTED)));
    });
}

#[test]
fn a_secret_that_the_host_does_not_know_pushes_nothing() {
    everyone("git_push::a_secret_that_the_host_does_not_know_pushes_nothing", || {
        let place = tempfile::tempdir().unwrap();
        let upstream = hosting(place.path().to_path_buf());
        let world = world(upstream.port);
        let repository = repository(place.path());
        let source = Known { instead: Some("ghp_another-secret"), ..Known::default() };
        let confinement = lending(&world, &Arc::new(source), PrivateAddresses::Allowed);
        let push = "git push -q https://good.test/repository.git HEAD:refs/heads/web";
        let ended = world.run_in(confinement, &format!("{COMMIT} && {push}"));
        assert!(!ended.status.success(), "{ended:#?}");
        assert!(!has_branch(&repository, "web"), "{ended:#?}");
        assert!(!ended.stderr.contains("another-secret"), "{ended:#?}");
        assert!(!upstream.take().is_empty(), "nobody was asked");
    });
}
