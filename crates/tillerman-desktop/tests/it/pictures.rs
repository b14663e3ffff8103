//! Pictures: looked at, and taken of the screen.

use std::io::Cursor;

use base64::Engine as _;
use image::{DynamicImage, ImageFormat};
use serde_json::json;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::tool::ToolOutput;

use crate::stage::Stage;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::new_rgb8(width, height).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// The picture in what a tool says, decoded.
fn picture(output: &ToolOutput) -> DynamicImage {
    let Content::Blocks(blocks) = &output.content else { panic!("there are no blocks") };
    let source = blocks.iter().find_map(|block| match block {
        Block::Image { source } => Some(source),
        _ => None,
    });
    let data = source.unwrap()["data"].as_str().unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).unwrap();
    image::load_from_memory(&bytes).unwrap()
}

#[tokio::test]
async fn a_picture_is_shown_to_the_model() {
    let stage = Stage::new();
    stage.write("photo.png", png(40, 20));
    let input = json!({"path": "photo.png", "prompt": "what is it?"});
    let output = stage.outcome("analyze_image", input).await.unwrap();
    assert_eq!((picture(&output).width(), picture(&output).height()), (40, 20));
    let told: serde_json::Value = serde_json::from_str(&output.content.plain_text()).unwrap();
    assert_eq!(told["prompt"], "what is it?");
    assert_eq!(told["width"], 40);
}

#[tokio::test]
async fn what_is_no_picture_is_not_shown() {
    let stage = Stage::new();
    stage.write("notes.png", "text");
    let why = stage.failure("analyze_image", json!({"path": "notes.png"})).await;
    assert!(why.contains("neither PNG, JPEG, GIF nor WebP"), "{why}");
    let mut broken = png(40, 20);
    broken.truncate(60);
    stage.write("broken.png", broken);
    let why = stage.failure("analyze_image", json!({"path": "broken.png"})).await;
    assert!(why.contains("could not be decoded"), "{why}");
}

#[tokio::test]
async fn a_screenshot_is_shown_and_kept_where_that_is_wanted() {
    let stage = Stage::new().with_variable("DISPLAY", ":0");
    std::fs::write(stage.path("screen.png"), png(64, 48)).unwrap();
    let screen = stage.path("screen.png").display().to_string();
    // The file is the last argument, whatever comes before it.
    let script =
        format!("for file; do :; done; echo \"$@\" >> {screen}.log; /bin/cat {screen} > \"$file\"");
    let stage = stage.with_program("scrot", &script);
    let output = stage.outcome("capture_screenshot", json!({})).await.unwrap();
    assert_eq!((picture(&output).width(), picture(&output).height()), (64, 48));
    let input = json!({"mode": "window", "path": "shots/one.png"});
    stage.outcome("capture_screenshot", input).await.unwrap();
    assert_eq!(std::fs::read(stage.root().join("shots/one.png")).unwrap(), png(64, 48));
    let log = std::fs::read_to_string(format!("{screen}.log")).unwrap();
    assert!(log.lines().nth(1).unwrap().starts_with("-u "), "{log}");
    assert_eq!(std::fs::read_dir(stage.path("tmp")).unwrap().count(), 0, "drafts are left");
}

#[tokio::test]
async fn a_screenshot_is_not_kept_outside() {
    let stage = Stage::new().with_variable("DISPLAY", ":0");
    std::fs::write(stage.path("screen.png"), png(8, 8)).unwrap();
    let screen = stage.path("screen.png").display().to_string();
    let stage = stage.with_program("scrot", &format!("/bin/cat {screen} > \"$1\""));
    let input = json!({"path": "../work-evil/shot.png"});
    let why = stage.failure("capture_screenshot", input).await;
    assert!(why.contains("lies outside"), "{why}");
    assert!(!stage.path("work-evil/shot.png").exists());
}

#[tokio::test]
async fn a_region_is_pointed_out_by_the_user() {
    let stage = Stage::new().with_variable("WAYLAND_DISPLAY", "wayland-0");
    std::fs::write(stage.path("screen.png"), png(8, 8)).unwrap();
    let screen = stage.path("screen.png").display().to_string();
    let script = format!("[ \"$1 $2\" = '-g 1,2 3x4' ] && /bin/cat {screen} > \"$3\"");
    let stage = stage.with_program("grim", &script);
    let why = stage.failure("capture_screenshot", json!({"mode": "region"})).await;
    assert!(why.contains("slurp"), "{why}");
    let stage = stage.with_program("slurp", "echo '1,2 3x4'");
    stage.outcome("capture_screenshot", json!({"mode": "region"})).await.unwrap();
}
