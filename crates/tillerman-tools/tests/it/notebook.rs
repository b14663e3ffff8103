//! Notebooks are shown as cells and changed cell by cell.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content};

use crate::bench::{Bench, structured, text};

/// In the layout Jupyter writes, with numbers that do not survive a careless rewrite.
const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "calc",
   "metadata": {"scale": 1.10, "big": 123456789012345678901234567890},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["4\n"]}
   ],
   "source": "2 + 2"
  }
 ],
 "metadata": {"language_info": {"name": "python"}, "precise": 0.1000},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

#[tokio::test]
async fn cells_are_shown_with_their_outputs() {
    let bench = Bench::new();
    let path = bench.file("a.ipynb", NOTEBOOK);
    let output = bench.call("Read", json!({"file_path": path})).await.unwrap();
    let expected = "[Cell 1, markdown, id intro]\n# Title\ntext\n\n\
                    [Cell 2, code, id calc]\n2 + 2\n[Output]\n4";
    assert_eq!(text(&output), expected);
    let shown = structured(&output);
    assert_eq!(shown["type"], "notebook");
    assert_eq!(shown["file"]["cells"][0]["cellType"], "markdown");
    assert_eq!(shown["file"]["cells"][1]["source"], "2 + 2");
    assert_eq!(shown["file"]["cells"][1]["outputs"][0]["text"], "4\n");
    let part = json!({"file_path": path, "offset": 2, "limit": 1});
    let output = bench.call("Read", part).await.unwrap();
    assert!(text(&output).starts_with("[Cell 2"), "{}", text(&output));
}

#[tokio::test]
async fn pictures_and_errors_are_shown_within_bounds() {
    let bench = Bench::new();
    let mut png = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(RgbImage::new(4, 4)).write_to(&mut png, ImageFormat::Png).unwrap();
    let picture = STANDARD.encode(png.into_inner());
    let outputs = json!([
        {"output_type": "display_data", "data": {"image/png": [picture], "text/plain": "<Figure>"}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u{1b}[31mred\u{1b}[0m"]},
        {"output_type": "display_data", "data": {"image/png": "nonsense"}},
    ]);
    let mut cells = vec![json!({"cell_type": "code", "source": "plot()", "outputs": outputs})];
    let long = json!({"output_type": "stream", "text": "x".repeat(20_000)});
    let many = vec![long; 50];
    cells.push(json!({"cell_type": "code", "source": "loop", "outputs": many}));
    cells.extend((0..20).map(|_| json!({"cell_type": "raw", "source": "y".repeat(20_000)})));
    let notebook = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2});
    let path = bench.file("a.ipynb", notebook.to_string());
    let output = bench.call("Read", json!({"file_path": path})).await.unwrap();
    let Content::Blocks(blocks) = &output.content else { panic!("{output:?}") };
    assert_eq!(blocks.iter().filter(|block| matches!(block, Block::Image { .. })).count(), 1);
    let shown = text(&output);
    assert!(
        shown.contains("id cell-0]\nplot()\n[Output]\n<Figure>\n[Output: a picture]"),
        "{shown}"
    );
    assert!(shown.contains("E: v\nred\n[Output: a picture that cannot be shown]"));
    assert!(shown.contains("more outputs are left out") && shown.contains("Read on with offset"));
    assert!(shown.len() < 250_000, "{}", shown.len());
}

#[tokio::test]
async fn a_replaced_cell_leaves_every_other_byte_alone() {
    let bench = Bench::new();
    let path = bench.file("a.ipynb", NOTEBOOK);
    let edit = json!({"notebook_path": path, "cell_id": "intro", "new_source": "new\nlines"});
    let refusal = bench.failure("NotebookEdit", edit.clone()).await;
    assert!(refusal.contains("was not read"), "{refusal}");
    bench.read(&path).await;
    let output = bench.call("NotebookEdit", edit).await.unwrap();
    let expected = NOTEBOOK.replace("\"# Title\\n\",\n    \"text\"", "\"new\\n\",\n    \"lines\"");
    assert_eq!(bench.content("a.ipynb"), expected);
    let told = structured(&output);
    assert_eq!((&told["edit_mode"], &told["cell_type"]), (&json!("replace"), &json!("markdown")));
    assert_eq!(told["old_source"], "# Title\ntext");
    assert_eq!(told["original_file"], NOTEBOOK);
    assert_eq!(told["language"], "python");

    let edit = json!({"notebook_path": path, "cell_id": "calc", "new_source": "3 + 3"});
    bench.call("NotebookEdit", edit).await.expect("what was just written counts as seen");
    let changed: Value = serde_json::from_str(&bench.content("a.ipynb")).unwrap();
    assert_eq!(changed["cells"][1]["source"], "3 + 3");
    assert_eq!(changed["cells"][1]["outputs"], json!([]));
    assert_eq!(changed["cells"][1]["execution_count"], Value::Null);
    assert!(bench.content("a.ipynb").contains("\"precise\": 0.1000"));
}

#[tokio::test]
async fn cells_are_inserted_and_deleted() {
    let bench = Bench::new();
    let path = bench.file("a.ipynb", NOTEBOOK);
    bench.read(&path).await;
    let insert = |after: Option<&str>, source: &str| {
        json!({
            "notebook_path": path, "cell_id": after, "new_source": source,
            "cell_type": "code", "edit_mode": "insert",
        })
    };
    bench.call("NotebookEdit", insert(None, "first")).await.unwrap();
    bench.call("NotebookEdit", insert(Some("intro"), "between")).await.unwrap();
    bench.call("NotebookEdit", insert(Some("calc"), "last")).await.unwrap();
    let sources = |bench: &Bench| {
        let notebook: Value = serde_json::from_str(&bench.content("a.ipynb")).unwrap();
        let cells = notebook["cells"].as_array().unwrap().clone();
        cells.iter().map(|cell| cell["source"].to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(sources(&bench), r##"["first"] ["# Title\n","text"] ["between"] "2 + 2" ["last"]"##);
    for id in ["cell-4", "cell-0", "cell-1"] {
        let delete = json!({
            "notebook_path": path, "cell_id": id, "new_source": "", "edit_mode": "delete",
        });
        bench.call("NotebookEdit", delete).await.unwrap();
    }
    assert_eq!(bench.content("a.ipynb"), NOTEBOOK);
    for _ in 0..2 {
        let delete = json!({"notebook_path": path, "cell_id": "cell-0", "edit_mode": "delete"});
        bench.call("NotebookEdit", delete).await.unwrap();
    }
    bench.call("NotebookEdit", insert(None, "only")).await.unwrap();
    assert_eq!(sources(&bench), r#"["only"]"#);
    let edit = json!({"notebook_path": path, "cell_id": "gone", "new_source": ""});
    assert!(bench.failure("NotebookEdit", edit).await.contains("has no cell gone"));
}

#[tokio::test]
async fn what_is_no_notebook_is_refused() {
    let bench = Bench::new();
    let path = bench.file("a.ipynb", "{\"cells\": 3}");
    let refusal = bench.failure("Read", json!({"file_path": path})).await;
    assert!(refusal.contains("is not a notebook"), "{refusal}");
}
