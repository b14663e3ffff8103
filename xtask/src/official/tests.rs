//! What counts as expected, shown on short lists.

use crate::official::verdict::{judge, outcomes, read_differences};

const PRINTED: &str = "\
running 3 tests
test a::works ... ok
test b::differs ... FAILED
test c::left_out ... ignored

failures:
    b::differs
test result: FAILED. 1 passed; 1 failed
";

fn problems(differences: &str) -> Vec<String> {
    judge(&outcomes(PRINTED), &read_differences(differences).unwrap())
}

#[test]
fn what_is_listed_must_fail_and_nothing_else_may() {
    assert_eq!(problems("# a heading\n\nb::differs  # it is so\n"), [] as [&str; 0]);
    assert_eq!(problems(""), ["b::differs fails, and is not listed"]);
    let passing = problems("a::works # no longer\nb::differs # it is so\n");
    assert_eq!(passing, ["a::works passes, but is listed; remove it there"]);
    let gone = problems("b::differs # it is so\nd::gone # it was so\n");
    assert_eq!(gone, ["d::gone is listed, but did not run; remove it there"]);
}

#[test]
fn every_difference_has_a_reason() {
    for wrong in ["b::differs\n", "b::differs #\n", "b::differs # a\nb::differs # b\n"] {
        assert!(read_differences(wrong).is_err(), "{wrong}");
    }
}
