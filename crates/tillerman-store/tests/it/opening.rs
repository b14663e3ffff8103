//! Sessions are made, found and refused as people expect.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use tillerman_ports::Transcript as _;
use tillerman_protocol::SessionId;
use tillerman_store::{FileTranscript, NoTranscript, OpenError, ResumeAt, SessionFiles};

use crate::sample::{ID, conversation, files, id, numbered_id, put, store, stored, user, uuids};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_session_without_a_prompt_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let transcript = files.create(&id()).unwrap();
    assert!(transcript.path().ends_with(&format!("{ID}.jsonl")));
    drop(transcript);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    assert!(!files.exists(&id()));
}

#[test]
fn nobody_else_may_look() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    stored(&files, &conversation(1));
    assert_eq!(mode(&files.path(&id())), 0o600);
    for path in files.path(&id()).ancestors().skip(1).take(3) {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
}

#[test]
fn an_id_is_used_once() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    stored(&files, &conversation(1));
    let error = files.create(&id()).unwrap_err();
    assert!(matches!(error, OpenError::Exists { .. }), "{error}");
    // Two that prepare the same id at the same time: the file tells who came first.
    let mut first = files.create(&numbered_id(1)).unwrap();
    let mut second = files.create(&numbered_id(1)).unwrap();
    store(&mut first, &conversation(1));
    second.append(&conversation(1)[0]).unwrap_err();
    assert_eq!(std::fs::read_to_string(files.path(&numbered_id(1))).unwrap().lines().count(), 1);
}

#[test]
fn ids_that_are_no_uuids_never_become_paths() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    for bad in ["", "..", "../../etc/passwd", "5f0c2f0e", "5f0c2f0e-6d5f-4f0e-9a63-1f1f6d0a7b0/"] {
        let bad = SessionId::new(bad);
        assert!(matches!(files.create(&bad), Err(OpenError::BadId { .. })));
        assert!(matches!(files.find(&bad), Err(OpenError::NotFound { .. })));
    }
}

#[test]
fn an_unknown_session_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let expected = format!("No conversation found with session ID: {ID}");
    assert_eq!(files.resume(&id(), &ResumeAt::End).unwrap_err().to_string(), expected);
    assert_eq!(files.read(&id(), &ResumeAt::End).unwrap_err().to_string(), expected);
    // What a crash leaves of a session that never began is no conversation either.
    put(&files, &id(), "");
    assert_eq!(files.resume(&id(), &ResumeAt::End).unwrap_err().to_string(), expected);
}

#[test]
fn a_second_opener_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let mut writer = files.create(&id()).unwrap();
    store(&mut writer, &conversation(2));
    let torn = b"{\"half";
    let mut bytes = std::fs::read(files.path(&id())).unwrap();
    bytes.extend_from_slice(torn);
    put(&files, &id(), &bytes);
    let error = files.resume(&id(), &ResumeAt::End).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    assert_eq!(std::fs::read(files.path(&id())).unwrap(), bytes, "the file is untouched");
    assert_eq!(uuids(&files.read(&id(), &ResumeAt::End).unwrap()), ["e0", "e1"]);
    drop(writer);
    let (resumed, _) = files.resume(&id(), &ResumeAt::End).unwrap();
    assert!(matches!(files.resume(&id(), &ResumeAt::End), Err(OpenError::InUse { .. })));
    drop(resumed);
    files.resume(&id(), &ResumeAt::End).unwrap();
}

#[test]
fn a_session_of_another_project_is_found_when_it_is_the_only_one() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("config");
    let [here, there, elsewhere] = ["here", "there", "elsewhere"].map(|name| {
        let cwd = directory.path().join(name);
        std::fs::create_dir(&cwd).unwrap();
        SessionFiles::new(config.clone(), &cwd)
    });
    stored(&there, &conversation(2));
    let (mut transcript, loaded) = here.resume(&id(), &ResumeAt::End).unwrap();
    assert_eq!(uuids(&loaded), ["e0", "e1"]);
    assert_eq!(transcript.file(), there.path(&id()));
    store(&mut transcript, &[user("e2", Some("e1"), "from here")]);
    drop(transcript);
    assert_eq!(uuids(&there.read(&id(), &ResumeAt::End).unwrap()), ["e0", "e1", "e2"]);
    stored(&elsewhere, &conversation(1));
    assert!(
        matches!(here.find(&id()), Err(OpenError::Ambiguous { paths, .. }) if paths.len() == 2)
    );
    assert_eq!(there.find(&id()).unwrap(), there.path(&id()));
}

#[test]
fn links_and_pipes_are_never_opened() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let target = directory.path().join("target");
    std::fs::write(&target, "{\"type\":\"user\",\"uuid\":\"x\"}\n").unwrap();
    std::fs::create_dir_all(files.project_dir()).unwrap();
    symlink(&target, files.path(&id())).unwrap();
    assert!(matches!(files.resume(&id(), &ResumeAt::End), Err(OpenError::NotAFile { .. })));
    assert!(matches!(files.read(&id(), &ResumeAt::End), Err(OpenError::NotAFile { .. })));
    assert!(matches!(files.create(&id()), Err(OpenError::Exists { .. })));

    // A dangling link would have a careless writer create its target.
    let mut late = files.create(&numbered_id(1)).unwrap();
    let trap = directory.path().join("trap");
    symlink(&trap, files.path(&numbered_id(1))).unwrap();
    late.append(&conversation(1)[0]).unwrap_err();
    assert!(!trap.exists());

    let pipe = files.path(&numbered_id(2));
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let error = files.read(&numbered_id(2), &ResumeAt::End).unwrap_err();
    assert!(matches!(error, OpenError::NotFound { .. } | OpenError::NotAFile { .. }), "{error}");
}

#[test]
fn a_place_that_cannot_be_written_is_refused_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("config");
    std::fs::write(&config, "a file where the directory should be").unwrap();
    let refused = |error: OpenError| {
        let text = error.to_string();
        assert!(matches!(error, OpenError::Unwritable { .. }), "{text}");
        assert!(text.contains("CLAUDE_CONFIG_DIR"), "{text}");
    };
    refused(files(directory.path()).create(&id()).unwrap_err());
    std::fs::remove_file(&config).unwrap();
    std::fs::create_dir(&config).unwrap();
    std::fs::set_permissions(&config, Permissions::from_mode(0o555)).unwrap();
    std::fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    // Root may write anywhere, so a thread becomes somebody else first.
    let error = std::thread::scope(|scope| {
        let work = || {
            if rustix::process::getuid().is_root() {
                rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(65_534)).unwrap();
            }
            files(directory.path()).create(&id()).unwrap_err()
        };
        scope.spawn(work).join().unwrap()
    });
    refused(error);
}

#[test]
fn running_out_of_file_descriptors_may_pass() {
    const CHILD: &str = "TILLERMAN_STORE_TEST_EMFILE";
    if std::env::var_os(CHILD).is_none() {
        // The limit holds for a whole process, so this test runs again in one of its own.
        #[expect(clippy::disallowed_methods, reason = "the test starts itself, with a limit")]
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let name = "opening::running_out_of_file_descriptors_may_pass";
        let output = child.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    stored(&files, &conversation(1));
    let mut transcript = files.create(&numbered_id(1)).unwrap();
    let resource = rustix::process::Resource::Nofile;
    let before = rustix::process::getrlimit(resource);
    let none = rustix::process::Rlimit { current: Some(0), maximum: before.maximum };
    rustix::process::setrlimit(resource, none).unwrap();
    let error = transcript.append(&conversation(1)[0]).unwrap_err();
    let opened = files.resume(&id(), &ResumeAt::End).unwrap_err();
    rustix::process::setrlimit(resource, before).unwrap();
    assert!(error.may_pass, "{error:?}");
    assert!(matches!(opened, OpenError::Io { .. }), "{opened:?}");
    store(&mut transcript, &conversation(1));
}

#[tokio::test]
async fn a_session_that_is_not_kept_accepts_everything() {
    let mut transcript = NoTranscript;
    transcript.append(&conversation(1)[0]).unwrap();
    transcript.sync().await.unwrap();
    assert_eq!(transcript.path(), "");
}

#[tokio::test]
async fn syncing_works_before_and_after_the_first_entry() {
    let directory = tempfile::tempdir().unwrap();
    let mut transcript = FileTranscript::planned(directory.path().join("a/b/c.jsonl"));
    transcript.sync().await.unwrap();
    assert!(!directory.path().join("a").exists());
    transcript.append(&conversation(1)[0]).unwrap();
    transcript.sync().await.unwrap();
}
