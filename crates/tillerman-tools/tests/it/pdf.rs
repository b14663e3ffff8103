//! The text of PDF files is shown page by page.

use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use serde_json::json;

use crate::bench::{Bench, structured, text};

fn show(text: &str) -> Operation {
    Operation::new("Tj", vec![Object::string_literal(text)])
}

fn at(x: i64, y: i64) -> Operation {
    Operation::new("Td", vec![x.into(), y.into()])
}

/// A file whose pages each draw these operations, with one stamp they may use.
fn file(pages: Vec<Vec<Operation>>, stamp: Vec<Operation>) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
        "FirstChar" => 32, "Widths" => vec![Object::from(600); 95],
        "Encoding" => "WinAnsiEncoding",
    });
    let fonts = dictionary! { "F1" => font };
    let stamp_id = document.new_object_id();
    let resources = document
        .add_object(dictionary! { "Font" => fonts, "XObject" => dictionary! { "S" => stamp_id } });
    let encode = |operations| Content { operations }.encode().unwrap();
    let stamp_dictionary: Dictionary =
        dictionary! { "Type" => "XObject", "Subtype" => "Form", "Resources" => resources };
    document.objects.insert(stamp_id, Stream::new(stamp_dictionary, encode(stamp)).into());
    let mut kids: Vec<Object> = Vec::new();
    for operations in pages {
        let mut all =
            vec![Operation::new("BT", vec![]), Operation::new("Tf", vec!["F1".into(), 10.into()])];
        all.extend(operations);
        all.push(Operation::new("ET", vec![]));
        let mut content = Stream::new(dictionary! {}, encode(all));
        content.compress().unwrap();
        let content = document.add_object(content);
        let page = dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => content };
        kids.push(document.add_object(page).into());
    }
    let count = kids.len() as i64;
    let node = dictionary! {
        "Type" => "Pages", "Kids" => kids, "Count" => count, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 600.into(), 800.into()],
    };
    document.objects.insert(tree, node.into());
    let root = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", root);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn lines_and_words_are_put_together() {
    let bench = Bench::new();
    // At size 10 every character is 6 wide, so "one" ends at 118.
    let kerned = vec![
        Object::string_literal("ke"),
        20.into(),
        Object::string_literal("rn"),
        (-700).into(),
        Object::string_literal("gap"),
    ];
    let page = vec![
        at(100, 700),
        show("one"),
        at(24, 0),
        show("two"),
        at(18, 0),
        show("three"),
        at(-42, -12),
        show("next line"),
        at(0, -40),
        Operation::new("TJ", vec![kerned.into()]),
        Operation::new("Do", vec!["S".into()]),
    ];
    let stamp = vec![
        Operation::new("BT", vec![]),
        Operation::new("Tf", vec!["F1".into(), 10.into()]),
        show("stamped"),
    ];
    let path = bench.file("a.pdf", file(vec![page], stamp));
    let output = bench.call("Read", json!({"file_path": path})).await.unwrap();
    let expected = "[Page 1 of 1]\none twothree\nnext line\n\nkern gap\n\nstamped";
    assert_eq!(text(&output), expected);
    assert_eq!(structured(&output)["file"]["content"], expected);
}

#[tokio::test]
async fn long_files_need_a_range_of_pages() {
    let bench = Bench::new();
    let pages = (1..=30).map(|number| vec![at(1, 1), show(&format!("text {number}"))]).collect();
    let path = bench.file("a.pdf", file(pages, Vec::new()));
    let read = |pages: &str| json!({"file_path": path, "pages": pages});
    let refusal = bench.failure("Read", json!({"file_path": path})).await;
    assert!(refusal.contains("has 30 pages"), "{refusal}");
    let shown = text(&bench.call("Read", read("29-30")).await.unwrap());
    assert_eq!(shown, "[Page 29 of 30]\ntext 29\n\n[Page 30 of 30]\ntext 30");
    let shown = text(&bench.call("Read", read("3")).await.unwrap());
    assert_eq!(shown, "[Page 3 of 30]\ntext 3");
    assert!(bench.failure("Read", read("1-25")).await.contains("25 pages are too many"));
    for wrong in ["0", "31", "5-2", "x", "1-y"] {
        let refusal = bench.failure("Read", read(wrong)).await;
        assert!(refusal.contains("is not one like"), "{wrong}: {refusal}");
    }
}

#[tokio::test]
async fn hostile_files_are_survived() {
    let bench = Bench::new();
    let again = || Operation::new("Do", vec!["S".into()]);
    let circle = file(vec![vec![again()]], vec![again(), again(), show("x")]);
    bench.file("circle.pdf", circle);
    bench.call("Read", json!({"file_path": "circle.pdf"})).await.unwrap();

    bench.file("broken.pdf", "%PDF-1.7 ...");
    let refusal = bench.failure("Read", json!({"file_path": "broken.pdf"})).await;
    assert!(refusal.contains("could not be understood"), "{refusal}");
}
