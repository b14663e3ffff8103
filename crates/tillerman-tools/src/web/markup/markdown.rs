//! Writing Markdown while the pieces of a page come by.

use reqwest::Url;

use super::entities::decode;
use super::token::{Tag, Token, Tokens};

/// Deeper lists and quotes are not indented further, or hostile pages would grow without end.
const DEEPEST: usize = 8;

/// What separates what is written from what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

/// A page as Markdown; links are made whole with the page's own address.
pub(in crate::web) fn to_markdown(html: &str, base: &Url) -> String {
    let mut writer = Writer::new(base);
    if let Some(title) = title(html) {
        writer.start_block(Gap::Paragraph);
        writer.put("# ");
        writer.words(&title);
        writer.start_block(Gap::Paragraph);
    }
    for token in Tokens::of(html) {
        match token {
            Token::Text(text) => writer.text(&decode(text)),
            Token::Start(tag) => writer.start(&tag),
            Token::End(name) => writer.end(&name),
        }
    }
    writer.finish()
}

/// The page's title, which stands in its hidden head.
fn title(html: &str) -> Option<String> {
    let start = html.find("<title").or_else(|| html.find("<TITLE"))?;
    let (_, text) = html[start..].split_once('>')?;
    let (text, _) = text.split_once("</")?;
    let title = decode(text.trim()).into_owned();
    (!title.is_empty() && title.len() < 1_000).then_some(title)
}

struct Writer<'a> {
    base: &'a Url,
    out: String,
    gap: Gap,
    lists: Vec<Option<u64>>,
    quotes: usize,
    /// The sign of a list entry that has not been written yet.
    marker: Option<String>,
    verbatim: usize,
    /// Open links: where their text begins and where they lead.
    links: Vec<Option<(usize, String)>>,
    cells: usize,
    row: u32,
}

impl<'a> Writer<'a> {
    fn new(base: &'a Url) -> Self {
        Self {
            base,
            out: String::new(),
            gap: Gap::None,
            lists: Vec::new(),
            quotes: 0,
            marker: None,
            verbatim: 0,
            links: Vec::new(),
            cells: 0,
            row: 0,
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag.name.as_str() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(tag.name.as_bytes()[1] - b'0');
                self.start_block(Gap::Paragraph);
                self.put(&format!("{} ", "#".repeat(level)));
            }
            "br" => self.start_block(Gap::Line),
            "hr" => {
                self.start_block(Gap::Paragraph);
                self.put("---");
                self.start_block(Gap::Paragraph);
            }
            "ul" | "menu" => self.start_list(None),
            "ol" => {
                let first = tag.attribute("start").and_then(|start| start.parse().ok());
                self.start_list(Some(first.unwrap_or(1)));
            }
            "li" => self.start_entry(),
            "blockquote" => {
                self.start_block(Gap::Paragraph);
                self.quotes += 1;
            }
            "pre" => self.start_verbatim(),
            "code" | "kbd" | "samp" | "tt" if self.verbatim == 0 => self.put("`"),
            "strong" | "b" if self.verbatim == 0 => self.put("**"),
            "em" | "i" if self.verbatim == 0 => self.put("*"),
            "a" => self.start_link(tag),
            "img" => self.picture(tag),
            "tr" => {
                self.start_block(Gap::Line);
                self.cells = 0;
            }
            "td" | "th" => {
                if self.cells > 0 {
                    self.gap = Gap::None;
                }
                self.put(if self.cells == 0 { "| " } else { " | " });
                self.cells += 1;
                self.gap = Gap::None;
            }
            "table" => {
                self.start_block(Gap::Paragraph);
                self.row = 0;
            }
            name => self.start_block(block_gap(name)),
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.start_block(Gap::Paragraph),
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                self.marker = None;
                self.start_block(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
            }
            "li" => self.start_block(Gap::Line),
            "blockquote" => {
                self.start_block(Gap::Paragraph);
                self.quotes = self.quotes.saturating_sub(1);
            }
            "pre" => self.end_verbatim(),
            "code" | "kbd" | "samp" | "tt" if self.verbatim == 0 => self.close("`"),
            "strong" | "b" if self.verbatim == 0 => self.close("**"),
            "em" | "i" if self.verbatim == 0 => self.close("*"),
            "a" => self.end_link(),
            "tr" => self.end_row(),
            "table" => self.start_block(Gap::Paragraph),
            name => self.start_block(block_gap(name)),
        }
    }

    fn text(&mut self, text: &str) {
        if self.verbatim == 0 {
            return self.words(text);
        }
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.new_line();
            }
            self.out.push_str(line.trim_end_matches('\r'));
        }
    }

    fn words(&mut self, text: &str) {
        if text.starts_with(char::is_whitespace) {
            self.widen(Gap::Space);
        }
        for (index, word) in text.split_whitespace().enumerate() {
            if index > 0 {
                self.widen(Gap::Space);
            }
            self.put(word);
        }
        if text.ends_with(char::is_whitespace) && !text.trim().is_empty() {
            self.widen(Gap::Space);
        }
    }

    /// Ends the present block; inside of tables everything stays on one line.
    fn start_block(&mut self, gap: Gap) {
        self.widen(if self.cells > 0 && gap > Gap::Space { Gap::Space } else { gap });
    }

    fn widen(&mut self, gap: Gap) {
        if self.verbatim == 0 {
            self.gap = self.gap.max(gap);
        }
    }

    /// Writes a piece after the gap that is due.
    fn put(&mut self, piece: &str) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        let at_start = self.out.is_empty();
        match gap {
            _ if at_start => self.indent(),
            Gap::None => {}
            Gap::Space if self.out.ends_with(char::is_whitespace) => {}
            Gap::Space => self.out.push(' '),
            Gap::Line => self.new_line(),
            Gap::Paragraph => {
                self.trim_line();
                self.out.push('\n');
                self.out.push_str("> ".repeat(self.quotes.min(DEEPEST)).trim_end());
                self.new_line();
            }
        }
        self.out.push_str(piece);
    }

    /// Ends emphasis or code, without the space before it.
    fn close(&mut self, sign: &str) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if self.out.ends_with(sign) && gap <= Gap::Space {
            // Nothing was emphasized.
            let kept = self.out.len() - sign.len();
            self.out.truncate(kept);
        } else {
            self.out.push_str(sign);
        }
        self.gap = gap;
    }

    fn new_line(&mut self) {
        self.trim_line();
        self.out.push('\n');
        self.indent();
    }

    fn trim_line(&mut self) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
    }

    fn indent(&mut self) {
        self.out.push_str(&"> ".repeat(self.quotes.min(DEEPEST)));
        let depth = self.lists.len().min(DEEPEST);
        match self.marker.take() {
            Some(marker) => {
                self.out.push_str(&"  ".repeat(depth.saturating_sub(1)));
                self.out.push_str(&marker);
            }
            None => self.out.push_str(&"  ".repeat(depth)),
        }
    }

    fn start_list(&mut self, first: Option<u64>) {
        self.start_block(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
        self.lists.push(first);
    }

    fn start_entry(&mut self) {
        self.start_block(Gap::Line);
        self.marker = Some(match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => "- ".to_owned(),
        });
    }

    fn start_verbatim(&mut self) {
        self.start_block(Gap::Paragraph);
        if self.verbatim == 0 {
            self.put("```");
            self.new_line();
        }
        self.verbatim += 1;
    }

    fn end_verbatim(&mut self) {
        self.verbatim = self.verbatim.saturating_sub(1);
        if self.verbatim == 0 && self.out.contains("```") {
            if !self.out.ends_with('\n') {
                self.new_line();
            }
            self.out.push_str("```");
            self.start_block(Gap::Paragraph);
        }
    }

    fn start_link(&mut self, tag: &Tag<'_>) {
        let target = tag.attribute("href").and_then(|target| self.whole(&target));
        let link = target.filter(|_| self.verbatim == 0).map(|target| {
            self.put("[");
            (self.out.len(), target)
        });
        // Links do not nest; whoever forgets their ends must not fill the memory.
        self.links.truncate(DEEPEST);
        self.links.push(link);
    }

    fn end_link(&mut self) {
        let Some(Some((start, target))) = self.links.pop() else { return };
        if self.out.len() == start {
            self.out.truncate(start - 1);
        } else {
            self.close_link(&target);
        }
    }

    fn close_link(&mut self, target: &str) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        self.out.push_str(&format!("]({target})"));
        self.gap = gap;
    }

    fn picture(&mut self, tag: &Tag<'_>) {
        let about = tag.attribute("alt").unwrap_or_default();
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        if about.is_empty() || self.verbatim > 0 {
            return;
        }
        match tag.attribute("src").and_then(|source| self.whole(&source)) {
            Some(source) => self.put(&format!("![{about}]({source})")),
            None => self.put(&about),
        }
    }

    fn end_row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        if cells == 0 {
            return;
        }
        self.gap = Gap::None;
        self.put(" |");
        self.row += 1;
        if self.row == 1 {
            self.gap = Gap::Line;
            self.put(&format!("|{}", " --- |".repeat(cells.min(100))));
        }
        self.gap = Gap::Line;
    }

    /// The whole address of a link, unless it leads nowhere.
    fn whole(&self, target: &str) -> Option<String> {
        let target = target.trim();
        if target.is_empty() || target.starts_with('#') {
            return None;
        }
        let url = self.base.join(target).ok()?;
        matches!(url.scheme(), "http" | "https" | "mailto").then(|| url.to_string())
    }

    fn finish(mut self) -> String {
        if self.verbatim > 0 {
            self.verbatim = 1;
            self.end_verbatim();
        }
        self.out.trim().to_owned()
    }
}

/// What an element without a meaning of its own separates.
fn block_gap(name: &str) -> Gap {
    match name {
        "p" | "div" | "section" | "article" | "header" | "footer" | "main" | "nav" | "aside"
        | "form" | "fieldset" | "figure" | "dl" | "address" | "details" | "body" => Gap::Paragraph,
        "dt" | "dd" | "summary" | "figcaption" | "caption" | "legend" | "option" | "button"
        | "thead" | "tbody" | "tfoot" => Gap::Line,
        _ => Gap::None,
    }
}

#[cfg(test)]
mod tests;
