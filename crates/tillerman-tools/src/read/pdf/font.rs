//! What a font says about its characters: which they are and how wide.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object};

/// What characters measure where nobody says, in thousandths of the font's size.
const USUAL_WIDTH: f32 = 500.0;

/// A font of a page.
pub(super) struct Font<'a> {
    encoding: Option<Encoding<'a>>,
    widths: HashMap<u32, f32>,
    default_width: f32,
    code_bytes: usize,
}

impl<'a> Font<'a> {
    pub(super) fn read(document: &'a Document, font: &'a Dictionary) -> Self {
        let composite =
            font.get(b"Subtype").and_then(Object::as_name).is_ok_and(|it| it == b"Type0");
        let encoding = font.get_font_encoding(document).ok();
        if !composite {
            let widths = simple_widths(document, font);
            return Self { encoding, widths, default_width: USUAL_WIDTH, code_bytes: 1 };
        }
        let descendant = font
            .get_deref(b"DescendantFonts", document)
            .and_then(Object::as_array)
            .ok()
            .and_then(|fonts| document.dereference(fonts.first()?).ok()?.1.as_dict().ok());
        let default_width = descendant.and_then(|font| number(font.get(b"DW").ok()?));
        let widths = descendant.map(|font| composite_widths(document, font)).unwrap_or_default();
        Self { encoding, widths, default_width: default_width.unwrap_or(1000.0), code_bytes: 2 }
    }

    /// The text that codes stand for.
    pub(super) fn text(&self, codes: &[u8]) -> String {
        let decoded = self.encoding.as_ref().and_then(|it| Document::decode_text(it, codes).ok());
        decoded.unwrap_or_else(|| codes.iter().map(|&code| char::from(code)).collect())
    }

    /// How wide the characters are, in the font's size.
    pub(super) fn width(&self, codes: &[u8]) -> f32 {
        let codes = codes
            .chunks(self.code_bytes)
            .map(|code| code.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)));
        let width = |code| self.widths.get(&code).copied().unwrap_or(self.default_width);
        codes.map(width).sum::<f32>() / 1000.0
    }
}

fn simple_widths(document: &Document, font: &Dictionary) -> HashMap<u32, f32> {
    let first = font.get_deref(b"FirstChar", document).and_then(Object::as_i64).unwrap_or(0);
    let Ok(widths) = font.get_deref(b"Widths", document).and_then(Object::as_array) else {
        return HashMap::new();
    };
    let first = u32::try_from(first).unwrap_or(0);
    let widths = (first..).zip(widths).take(256);
    widths.filter_map(|(code, width)| Some((code, number(width)?))).collect()
}

/// Widths come as `first [w w w]` or `first last w`.
fn composite_widths(document: &Document, font: &Dictionary) -> HashMap<u32, f32> {
    let mut widths = HashMap::new();
    let Ok(list) = font.get_deref(b"W", document).and_then(Object::as_array) else {
        return widths;
    };
    let mut items = list.iter().filter_map(|item| Some(document.dereference(item).ok()?.1));
    while let (Some(first), Some(second)) = (items.next(), items.next()) {
        let Ok(first) = first.as_i64().map(|first| u32::try_from(first).unwrap_or(0)) else {
            break;
        };
        if let Ok(each) = second.as_array() {
            let each = (first..).zip(each).take(0x1_0000);
            widths.extend(each.filter_map(|(code, width)| Some((code, number(width)?))));
            continue;
        }
        let last = second.as_i64().ok().and_then(|last| u32::try_from(last).ok());
        let (Some(last), Some(width)) = (last, items.next().and_then(number)) else { break };
        widths.extend((first..=last.min(0xffff)).map(|code| (code, width)));
    }
    widths
}

/// A number, whole or not.
pub(super) fn number(object: &Object) -> Option<f32> {
    object.as_float().ok().filter(|number| number.is_finite())
}
