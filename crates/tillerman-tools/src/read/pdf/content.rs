//! Following the drawing operations of a page as far as they concern text.

use std::collections::HashMap;

use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use super::font::{Font, number};
use super::layout::{Page, Spot};

/// How deep drawings may lie inside of drawings.
const DEEPEST: usize = 8;
/// How many nested drawings are followed on one page.
const MOST_DRAWINGS: usize = 500;
/// How far above a page its resources may be given.
const MOST_ANCESTORS: usize = 50;

/// The text of one page, at most so many characters.
pub(super) fn page_text(document: &Document, page: ObjectId, most: usize) -> String {
    let Ok(content) = document.get_page_content(page) else { return String::new() };
    let resources = resources_of(document, page);
    let mut reader = Reader { document, page: Page::new(most), fonts: HashMap::new(), drawings: 0 };
    reader.follow(&content, resources, 0);
    reader.page.into_text()
}

/// A page's resources, its own or those of the nodes above it.
fn resources_of(document: &Document, page: ObjectId) -> Option<&Dictionary> {
    let mut node = document.get_dictionary(page).ok()?;
    for _ in 0..MOST_ANCESTORS {
        if let Ok(resources) = document.get_dict_in_dict(node, b"Resources") {
            return Some(resources);
        }
        node = document.get_dict_in_dict(node, b"Parent").ok()?;
    }
    None
}

struct Reader<'a> {
    document: &'a Document,
    page: Page,
    /// Fonts already read, by the place of their dictionary in memory.
    fonts: HashMap<*const Dictionary, Font<'a>>,
    drawings: usize,
}

/// A position and the factors by which its coordinates are stretched.
#[derive(Clone, Copy)]
struct Matrix([f32; 6]);

impl Matrix {
    const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn read(operands: &[Object]) -> Option<Self> {
        let mut numbers = [0.0; 6];
        for (number_place, operand) in numbers.iter_mut().zip(operands) {
            *number_place = number(operand)?;
        }
        (operands.len() == 6).then_some(Self(numbers))
    }

    /// This transformation followed by another.
    fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, other.0);
        Self([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    fn moved(self, x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }

    fn size(self) -> f32 {
        let [a, b, c, d, ..] = self.0;
        (a.hypot(b)).max(c.hypot(d))
    }
}

/// What drawing operations change and later ones rely on.
struct State<'a> {
    space: Matrix,
    saved: Vec<Matrix>,
    line: Matrix,
    text: Matrix,
    leading: f32,
    size: f32,
    font: Option<*const Dictionary>,
    resources: Option<&'a Dictionary>,
}

impl<'a> Reader<'a> {
    fn follow(&mut self, content: &[u8], resources: Option<&'a Dictionary>, depth: usize) {
        let Ok(content) = Content::decode(content) else { return };
        let mut state = State {
            space: Matrix::IDENTITY,
            saved: Vec::new(),
            line: Matrix::IDENTITY,
            text: Matrix::IDENTITY,
            leading: 0.0,
            size: 1.0,
            font: None,
            resources,
        };
        for operation in &content.operations {
            if self.page.is_full() {
                break;
            }
            self.carry_out(operation, &mut state, depth);
        }
    }

    fn carry_out(&mut self, operation: &Operation, state: &mut State<'a>, depth: usize) {
        let operands = operation.operands.as_slice();
        let at = |index: usize| operands.get(index).and_then(number).unwrap_or(0.0);
        match operation.operator.as_str() {
            "q" => state.saved.push(state.space),
            "Q" => state.space = state.saved.pop().unwrap_or(state.space),
            "cm" => {
                if let Some(matrix) = Matrix::read(operands) {
                    state.space = matrix.then(state.space);
                }
            }
            "BT" => state.start_line(Matrix::IDENTITY),
            "Tm" => state.start_line(Matrix::read(operands).unwrap_or(Matrix::IDENTITY)),
            "TL" => state.leading = at(0),
            "Td" => state.start_line(state.line.moved(at(0), at(1))),
            "TD" => {
                state.leading = -at(1);
                state.start_line(state.line.moved(at(0), at(1)));
            }
            "T*" => state.next_line(),
            "Tf" => {
                state.size = at(1);
                state.font = operands.first().and_then(|name| self.font(name, state.resources));
            }
            "Tj" => self.show(operands, state),
            "'" => {
                state.next_line();
                self.show(operands, state);
            }
            "\"" => {
                state.next_line();
                self.show(operands.get(2..).unwrap_or_default(), state);
            }
            "TJ" => {
                if let Some(Ok(items)) = operands.first().map(Object::as_array) {
                    self.show(items, state);
                }
            }
            "Do" => self.draw(operands.first(), state.resources, depth),
            _ => {}
        }
    }

    /// Shows texts with the shifts between them.
    fn show(&mut self, items: &[Object], state: &mut State<'a>) {
        for item in items {
            if let Ok(codes) = item.as_str() {
                let font = state.font.and_then(|font| self.fonts.get(&font));
                let Some(font) = font else { continue };
                let (text, width) = (font.text(codes), font.width(codes) * state.size);
                let start = state.text.then(state.space);
                state.text = state.text.moved(width, 0.0);
                let [.., end_x, _] = state.text.then(state.space).0;
                let [.., x, y] = start.0;
                let spot = Spot { x, y, size: state.size.abs() * start.size() };
                self.page.add(&text, spot, end_x);
            } else if let Some(shift) = number(item) {
                state.text = state.text.moved(-shift / 1000.0 * state.size, 0.0);
            }
        }
    }

    fn font(
        &mut self,
        name: &Object,
        resources: Option<&'a Dictionary>,
    ) -> Option<*const Dictionary> {
        let fonts = self.document.get_dict_in_dict(resources?, b"Font").ok()?;
        let font: &'a Dictionary =
            self.document.get_dict_in_dict(fonts, name.as_name().ok()?).ok()?;
        let key = std::ptr::from_ref(font);
        self.fonts.entry(key).or_insert_with(|| Font::read(self.document, font));
        Some(key)
    }

    /// Follows a drawing that is used like a stamp.
    fn draw(&mut self, name: Option<&Object>, resources: Option<&'a Dictionary>, depth: usize) {
        if depth >= DEEPEST || self.drawings >= MOST_DRAWINGS {
            return;
        }
        let Some(drawing) = name.and_then(|name| self.drawing(name, resources)) else { return };
        self.drawings += 1;
        let own = self.document.get_dict_in_dict(&drawing.dict, b"Resources").ok();
        if let Ok(content) = drawing.get_plain_content() {
            self.follow(&content, own.or(resources), depth + 1);
        }
    }

    fn drawing(&self, name: &Object, resources: Option<&'a Dictionary>) -> Option<&'a Stream> {
        let drawings = self.document.get_dict_in_dict(resources?, b"XObject").ok()?;
        let drawing =
            drawings.get_deref(name.as_name().ok()?, self.document).ok()?.as_stream().ok()?;
        let kind = drawing.dict.get(b"Subtype").and_then(Object::as_name);
        kind.is_ok_and(|kind| kind == b"Form").then_some(drawing)
    }
}

impl State<'_> {
    fn start_line(&mut self, matrix: Matrix) {
        (self.line, self.text) = (matrix, matrix);
    }

    fn next_line(&mut self) {
        self.start_line(self.line.moved(0.0, -self.leading));
    }
}
