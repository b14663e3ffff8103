//! Maps give every id but one its own place.

use super::map;

#[test]
fn the_owner_is_swapped_for_the_user_and_the_rest_stays() {
    assert_eq!(map(0, 60_600), "0 60600 1\n1 1 60599\n60601 60601 4294906694\n");
    assert_eq!(map(1000, 7), "1000 7 1\n0 0 7\n8 8 992\n1001 1001 4294966294\n");
    assert_eq!(map(5, 5), "5 5 1\n0 0 5\n6 6 4294967289\n");
}
