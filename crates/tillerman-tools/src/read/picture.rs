//! Showing pictures, made small enough for a model and a frame.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, Rgb, RgbImage};

const LONGEST_EDGE: u32 = 2_000;
/// A frame of at most 1 MiB carries the picture twice: for the model and for the host.
const BASE64_CHARS: usize = 480_000;
const MOST_BYTES: usize = BASE64_CHARS / 4 * 3;
/// Nothing can be seen on smaller ones, unless they were so from the start.
const SMALLEST_EDGE: u32 = 16;
const LARGEST_EDGE_READ: u32 = 20_000;
const LARGEST_ALLOCATION: u64 = 512 << 20;
const QUALITIES: [u8; 3] = [85, 70, 50];

/// A picture ready to be shown.
#[derive(Debug)]
pub struct Picture {
    /// The encoded picture in base64.
    pub base64: String,
    /// Its media type.
    pub media_type: &'static str,
    /// Width and height in the file.
    pub original: (u32, u32),
    /// Width and height as shown.
    pub shown: (u32, u32),
}

/// Why a picture cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShowPictureError {
    /// It is no picture that models can see.
    #[error("it is neither PNG, JPEG, GIF nor WebP")]
    UnknownKind,
    /// It could not be read.
    #[error("it could not be decoded ({0})")]
    Undecodable(image::ImageError),
    /// It could not be written smaller.
    #[error("it could not be encoded ({0})")]
    Unencodable(image::ImageError),
    /// It stayed too large.
    #[error("it could not be made small enough")]
    TooLarge,
}

/// Makes a picture of any kind that models can see ready to be shown.
///
/// # Errors
/// When it is none, is broken, or cannot be made small enough.
pub fn show_picture(bytes: &[u8]) -> Result<Picture, ShowPictureError> {
    prepare(bytes, sniff(bytes).ok_or(ShowPictureError::UnknownKind)?)
}

/// The kind of picture the first bytes promise, if models can see that kind.
pub(crate) fn sniff(head: &[u8]) -> Option<ImageFormat> {
    image::guess_format(head).ok().filter(|format| media_type(*format).is_some())
}

/// Decodes a picture and makes it smaller where needed. Pictures that are small enough are passed
/// on as they are, but only after decoding: a broken one would make the provider refuse the whole
/// conversation.
pub(crate) fn prepare(bytes: &[u8], format: ImageFormat) -> Result<Picture, ShowPictureError> {
    let (image, orientation) = decode(bytes, format).map_err(ShowPictureError::Undecodable)?;
    let original = (image.width(), image.height());
    let fits = bytes.len() <= MOST_BYTES && original.0.max(original.1) <= LONGEST_EDGE;
    if let Some(media_type) = media_type(format).filter(|_| fits) {
        let base64 = STANDARD.encode(bytes);
        return Ok(Picture { base64, media_type, original, shown: original });
    }
    shrink(image, orientation, original)
}

fn decode(bytes: &[u8], format: ImageFormat) -> image::ImageResult<(DynamicImage, Orientation)> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_EDGE_READ);
    limits.max_image_height = Some(LARGEST_EDGE_READ);
    limits.max_alloc = Some(LARGEST_ALLOCATION);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let orientation = decoder.orientation()?;
    Ok((DynamicImage::from_decoder(decoder)?, orientation))
}

fn shrink(
    mut image: DynamicImage,
    orientation: Orientation,
    original: (u32, u32),
) -> Result<Picture, ShowPictureError> {
    image.apply_orientation(orientation);
    let mut edge = LONGEST_EDGE.min(image.width().max(image.height()));
    let mut tries_png = true;
    loop {
        let smaller = if edge < image.width().max(image.height()) {
            image.resize(edge, edge, FilterType::Triangle)
        } else {
            image.clone()
        };
        let shown = (smaller.width(), smaller.height());
        if std::mem::take(&mut tries_png) {
            let mut png = Cursor::new(Vec::new());
            smaller.write_to(&mut png, ImageFormat::Png).map_err(ShowPictureError::Unencodable)?;
            if png.get_ref().len() <= MOST_BYTES {
                let base64 = STANDARD.encode(png.into_inner());
                return Ok(Picture { base64, media_type: "image/png", original, shown });
            }
        }
        let opaque = on_white(&smaller);
        for quality in QUALITIES {
            let mut jpeg = Vec::new();
            JpegEncoder::new_with_quality(&mut jpeg, quality)
                .encode_image(&opaque)
                .map_err(ShowPictureError::Unencodable)?;
            if jpeg.len() <= MOST_BYTES {
                let base64 = STANDARD.encode(jpeg);
                return Ok(Picture { base64, media_type: "image/jpeg", original, shown });
            }
        }
        edge = edge * 7 / 10;
        if edge < SMALLEST_EDGE {
            return Err(ShowPictureError::TooLarge);
        }
    }
}

/// JPEG knows no transparency; what was transparent becomes white, as in most viewers.
fn on_white(image: &DynamicImage) -> RgbImage {
    let source = image.to_rgba8();
    RgbImage::from_fn(source.width(), source.height(), |x, y| {
        let [red, green, blue, alpha] = source.get_pixel(x, y).0.map(u32::from);
        let blend = |part: u32| ((part * alpha + 255 * (255 - alpha)) / 255) as u8;
        Rgb([blend(red), blend(green), blend(blue)])
    })
}

fn media_type(format: ImageFormat) -> Option<&'static str> {
    match format {
        ImageFormat::Png => Some("image/png"),
        ImageFormat::Jpeg => Some("image/jpeg"),
        ImageFormat::Gif => Some("image/gif"),
        ImageFormat::WebP => Some("image/webp"),
        _ => None,
    }
}
