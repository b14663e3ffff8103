//! What becomes of pages, good and hostile.

use std::time::{Duration, Instant};

use reqwest::Url;

use super::to_markdown;

fn check(html: &str, expected: &str) {
    let base = Url::parse("https://example.com/docs/page").unwrap();
    assert_eq!(to_markdown(html, &base), expected, "from {html}");
}

#[test]
fn blocks_and_inlines_keep_their_meaning() {
    check("<h1>A</h1><p>one\n two</p><p>three<br>four</p>", "# A\n\none two\n\nthree\nfour");
    check("a <b>bold</b> and <em>soft </em>word", "a **bold** and *soft* word");
    check("<p>use <code>x &lt; y</code>.</p>", "use `x < y`.");
    check(
        "<pre><code>let a = 1;\n  b\n</code></pre><p>after",
        "```\nlet a = 1;\n  b\n```\n\nafter",
    );
    check("<blockquote><p>one</p><p>two</p></blockquote>x", "> one\n>\n> two\n\nx");
    check("a<hr>b", "a\n\n---\n\nb");
    check("x &amp; y &#8212; z&nbsp;&unknown; &", "x & y — z &unknown; &");
}

#[test]
fn lists_tables_links_and_pictures_are_written_out() {
    check("<ul><li>a<li>b<ol start=3><li>c</li></ol></ul>d", "- a\n- b\n  3. c\n\nd");
    check(
        "<table><tr><th>h</th><th>i</th></tr><tr><td><p>1</p></td><td>2</td></tr></table>",
        "| h | i |\n| --- | --- |\n| 1 | 2 |",
    );
    check(
        "see <a href='../a?b=1&amp;c'>this <b>page</b></a>, <a href='#x'>here</a><a href='/y'></a>",
        "see [this **page**](https://example.com/a?b=1&c), here",
    );
    check("<a href='javascript:alert(1)'>no</a>", "no");
    check("<img src=/p.png alt='A b'><img src=q.png>", "![A b](https://example.com/p.png)");
}

#[test]
fn what_readers_do_not_see_is_left_out() {
    check(
        "<!doctype html><html><head><title>T &amp; U</title><style>x</style></head><body>\
         <script>if (a < b) { '<p>' }</script><!-- <p>no</p> -->yes<svg><text>no</text></svg>",
        "# T & U\n\nyes",
    );
    check("a < b > c <3 </ >", "a < b > c <3 </ >");
}

#[test]
fn hostile_pages_take_little_time_and_no_stack() {
    let base = Url::parse("https://example.com/").unwrap();
    let pieces = ["<div>", "<ul><li>", "<blockquote>", "<a href=x>", "<b>", "<table><tr><td>x"];
    let pieces = pieces.iter().chain(&["<pre>", "<p \"", "<!--", "</", "<script>", "&", "<"]);
    let start = Instant::now();
    for piece in pieces {
        let page = piece.repeat(300_000 / piece.len());
        let text = to_markdown(&page, &base);
        assert!(text.len() < 9_000_000, "{piece} became {} bytes", text.len());
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
