//! Turning pieces of text at places on a page into lines and words.

/// A gap wider than this part of the font's size is a space.
const SPACE: f32 = 0.2;
/// A move down by more than this part of the font's size is a new line.
const LINE: f32 = 0.5;
/// A move by more than this part of the font's size is a new paragraph.
const PARAGRAPH: f32 = 1.8;

/// Where a piece of text stands and how large it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) size: f32,
}

/// The text of a page as it grows.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    left: usize,
    /// Where the last piece ended.
    end: Option<Spot>,
}

impl Page {
    /// A page of at most so many characters.
    pub(super) fn new(most: usize) -> Self {
        Self { text: String::new(), left: most, end: None }
    }

    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Adds a piece of text that stands at a place and ends at another.
    pub(super) fn add(&mut self, piece: &str, start: Spot, end_x: f32) {
        if let Some(end) = self.end {
            let size = start.size.max(end.size).max(1.0);
            let down = (end.y - start.y).abs();
            let gap = start.x - end.x;
            if down > PARAGRAPH * size {
                self.separate("\n\n");
            } else if down > LINE * size {
                self.separate("\n");
            } else if gap > SPACE * size || gap < -size {
                self.separate(" ");
            }
        }
        for char in piece.chars().filter(|char| !char.is_control()) {
            self.push(char);
        }
        self.end = Some(Spot { x: end_x, ..start });
    }

    fn separate(&mut self, by: &str) {
        if by.starts_with('\n') {
            let kept = self.text.trim_end_matches(' ').len();
            self.text.truncate(kept);
        }
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            by.chars().for_each(|char| self.push(char));
        }
    }

    fn push(&mut self, char: char) {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            self.text.push(char);
        }
    }
}
