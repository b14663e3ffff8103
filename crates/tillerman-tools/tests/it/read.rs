//! Files are shown line by line, whatever they hold.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, peak_memory_kb, structured, text};

#[tokio::test]
async fn text_is_shown_with_line_numbers() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "alpha\nbeta\ngamma\n");
    let output = bench.call("Read", json!({"file_path": path})).await.unwrap();
    assert_eq!(text(&output), "     1\talpha\n     2\tbeta\n     3\tgamma");
    let expected = json!({"type": "text", "file": {
        "filePath": path, "content": "alpha\nbeta\ngamma", "numLines": 3, "startLine": 1, "totalLines": 3,
    }});
    assert_eq!(structured(&output), expected);
}

#[tokio::test]
async fn a_part_is_shown_on_request() {
    let bench = Bench::new();
    bench.file("a.txt", "alpha\r\nbeta\r\ngamma");
    let input = json!({"file_path": "a.txt", "offset": 2, "limit": 1});
    let output = bench.call("Read", input).await.unwrap();
    assert_eq!(text(&output), "     2\tbeta");
    assert_eq!(structured(&output)["file"]["totalLines"], 3);
    let output = bench.call("Read", json!({"file_path": "a.txt", "offset": 9})).await.unwrap();
    assert!(text(&output).contains("the file has only 3 lines"));
}

#[tokio::test]
async fn long_files_and_long_lines_say_how_to_read_on() {
    let bench = Bench::new();
    let path = bench.file("many.txt", "x\n".repeat(5_000));
    let shown = bench.read(&path).await;
    assert!(shown.contains("\n  2000\tx\n[Lines 1 to 2000 of 5000"), "{shown}");
    assert!(shown.ends_with("Read on with offset 2001.]"));

    let path = bench.file("wide.txt", format!("{}\nshort\n", "é".repeat(5_000)));
    let shown = bench.read(&path).await;
    assert!(shown.starts_with(&format!("     1\t{} [line cut here", "é".repeat(2_000))));
    assert!(shown.contains("     2\tshort"));
    assert!(!shown.contains('\u{fffd}'));

    let path = bench.file("heavy.txt", format!("{}\n", "y".repeat(999)).repeat(500));
    let output = bench.call("Read", json!({"file_path": path, "limit": 400})).await.unwrap();
    assert!(text(&output).len() < 105_000);
    assert!(text(&output).contains("Read on with offset 100.]"));
    assert_eq!(structured(&output)["file"]["truncatedByTokenCap"], true);
    assert_eq!(structured(&output)["file"]["totalLines"], 500);
}

/// A file that looks like text at first and is as large as wanted without taking up space.
fn huge_file(bench: &Bench, size: u64) -> PathBuf {
    let path = bench.file("huge.txt", "line\n".repeat(5_000));
    std::fs::File::options().write(true).open(&path).unwrap().set_len(size).unwrap();
    path
}

#[tokio::test]
async fn huge_files_are_read_in_little_memory() {
    let bench = Bench::new();
    let path = huge_file(&bench, 150 << 20);
    let before = peak_memory_kb();
    let output = bench.call("Read", json!({"file_path": path})).await.unwrap();
    assert!(text(&output).starts_with("     1\tline\n"));
    assert_eq!(structured(&output)["file"]["totalLines"], 5_001);
    // Other tests of this process take memory too, but not as much as the file would.
    assert!(peak_memory_kb() - before < 100_000, "the file was held in memory");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_and_mentioned() {
    let bench = Bench::new();
    let path = bench.file("latin.txt", b"caf\xe9\nok\0\n");
    let shown = bench.read(&path).await;
    assert!(shown.starts_with("     1\tcaf\u{fffd}\n     2\tok\u{fffd}\n"));
    assert!(shown.contains("not valid UTF-8"));
    bench.file("program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0");
    let refusal = bench.failure("Read", json!({"file_path": "program"})).await;
    assert!(refusal.contains("binary data"), "{refusal}");
}

#[tokio::test]
async fn empty_files_and_notebooks_are_explained() {
    let bench = Bench::new();
    let path = bench.file("empty", "");
    assert_eq!(bench.read(&path).await, "[The file exists but is empty.]");
    let path = bench.file("n.ipynb", "{\"cells\": []}\n");
    assert_eq!(bench.read(&path).await, "[The notebook has no cells.]");
}

#[tokio::test]
async fn what_is_no_file_is_refused_at_once() {
    let bench = Bench::new();
    let fifo = bench.path("fifo");
    mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(bench.path("socket")).unwrap();
    std::os::unix::fs::symlink("loop", bench.path("loop")).unwrap();
    let cases = [
        (fifo, "a named pipe"),
        (bench.path("socket"), "a socket"),
        ("/dev/zero".into(), "a device"),
        (bench.path("."), "is a directory"),
        (bench.path("loop"), "could not be opened"),
        (bench.path("missing"), "does not exist"),
        (bench.path("missing/deeper"), "does not exist"),
    ];
    let start = Instant::now();
    for (path, message) in cases {
        for (tool, input) in [
            ("Read", json!({"file_path": path})),
            ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"})),
        ] {
            let refusal = bench.failure(tool, input).await;
            let message =
                if tool == "Edit" && message.contains("opened") { "edited" } else { message };
            assert!(refusal.contains(message), "{tool} {}: {refusal}", path.display());
        }
        if !message.contains("not exist") {
            bench.failure("Write", json!({"file_path": path, "content": ""})).await;
        }
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_cancelled_read_ends() {
    let bench = Bench::new();
    let path = huge_file(&bench, 1 << 40);
    let cancel = CancellationToken::new();
    let call = bench.call_until("Read", json!({"file_path": path}), cancel.clone());
    let (outcome, ()) = tokio::join!(call, async { cancel.cancel() });
    assert!(outcome.unwrap_err().message.contains("interrupted"));
}
