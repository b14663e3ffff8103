//! What the table of coverage finds and what it complains about, shown on small trees.

use crate::coverage::page::Page;
use crate::coverage::{SOURCE, generate};
use crate::tidy::Tree;

const TESTS: &str = "async fn option_max_turns(way: Way) {}\nfn other() {}\n";

fn page(source: &str) -> Page {
    let tree = Tree::of(&[
        (SOURCE, source),
        ("crates/a/tests/it/options.rs", TESTS),
        ("crates/b/testdata/a_golden_one.txt", "# text"),
        ("crates/b/src/x.rs", "fn not_a_test() {}\n"),
    ]);
    generate(&tree).unwrap()
}

#[test]
fn rows_link_their_tests() {
    let page = page("# Some\nA1\tturns\toption_max_turns a_golden_one.txt\nA2\tlater\t\n");
    assert_eq!(page.problems, [] as [&str; 0]);
    assert!(page.text.contains("1 of 2."), "{}", page.text);
    let links = "[option_max_turns](../crates/a/tests/it/options.rs), \
                 [a_golden_one.txt](../crates/b/testdata/a_golden_one.txt)";
    assert!(page.text.contains(links), "{}", page.text);
}

#[test]
fn a_test_that_is_gone_is_a_problem() {
    let page = page("# Some\nA1\tturns\tno_such_test not_a_test\n");
    assert_eq!(page.problems.len(), 2);
    assert!(page.problems[0].contains("no_such_test"));
}

#[test]
fn complete_sections_have_no_row_without_a_test_of_its_name() {
    let good = "! Options\toption_\n`maxTurns`\tx\toption_max_turns\nothers\tx\tother\n";
    assert_eq!(page(good).problems, [] as [&str; 0]);
    let lacking = page("! Options\toption_\n`maxTurns`\tx\t\n");
    assert_eq!(lacking.problems.len(), 2, "{:?}", lacking.problems);
    let wrong = page("! Messages\tmessage_\n`result/error_*`\tx\tother\n");
    assert!(wrong.problems[0].contains("message_result_error"), "{:?}", wrong.problems);
}
