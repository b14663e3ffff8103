//! Pictures are shown, small enough for every frame.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::json;
use tillerman_protocol::content::{Block, Content};

use crate::bench::{Bench, structured};

fn encoded(image: &RgbImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(image.clone()).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn small_pictures_are_passed_on_as_they_are() {
    let bench = Bench::new();
    let picture = RgbImage::from_pixel(8, 4, Rgb([200, 10, 10]));
    for (format, name, media_type) in [
        (ImageFormat::Png, "a.png", "image/png"),
        (ImageFormat::Jpeg, "a.JPG", "image/jpeg"),
        (ImageFormat::Gif, "a.gif", "image/gif"),
        (ImageFormat::WebP, "a.webp", "image/webp"),
    ] {
        let bytes = encoded(&picture, format);
        let path = bench.file(name, &bytes);
        let output = bench.call("Read", json!({"file_path": path})).await.unwrap();
        let data = STANDARD.encode(&bytes);
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        assert_eq!(output.content, Content::Blocks(vec![Block::Image { source }]));
        let file = &structured(&output)["file"];
        assert_eq!(file["base64"], data);
        assert_eq!(file["type"], media_type);
        assert_eq!(file["originalSize"], bytes.len());
    }
}

#[tokio::test]
async fn large_pictures_are_made_smaller() {
    let bench = Bench::new();
    let wide = RgbImage::from_pixel(2_600, 26, Rgb([1, 2, 3]));
    let mut state = 1_u32;
    let noisy = RgbImage::from_fn(500, 500, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [a, b, c, _] = state.to_be_bytes();
        Rgb([a, b, c])
    });
    for (name, picture) in [("wide.png", wide), ("noisy.png", noisy)] {
        let path = bench.file(name, encoded(&picture, ImageFormat::Png));
        let output = bench.call("Read", json!({"file_path": path})).await.unwrap();
        let structured = structured(&output);
        let data = structured["file"]["base64"].as_str().unwrap();
        assert!(data.len() <= 480_000, "{name}");
        let shown = image::load_from_memory(&STANDARD.decode(data).unwrap()).unwrap();
        assert!(shown.width().max(shown.height()) <= 2_000, "{name}");
        assert_eq!(structured["file"]["dimensions"]["originalWidth"], picture.width());
        assert_eq!(structured["file"]["dimensions"]["displayWidth"], shown.width());
    }
}

#[tokio::test]
async fn broken_pictures_are_refused_and_impostors_shown_as_text() {
    let bench = Bench::new();
    let whole = encoded(&RgbImage::from_pixel(64, 64, Rgb([9, 9, 9])), ImageFormat::Png);
    bench.file("broken.png", &whole[..whole.len() / 2]);
    let refusal = bench.failure("Read", json!({"file_path": "broken.png"})).await;
    assert!(refusal.contains("could not be decoded"), "{refusal}");
    let path = bench.file("pointer.png", "version 1\n");
    assert_eq!(bench.read(&path).await, "     1\tversion 1");
}
