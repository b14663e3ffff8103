//! A process that is not confined is recognised by each single sign.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{compare_mounts, identity, parse_mounts};
use crate::layout::Access;

const CONFINED: &str = "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nGid:\t5\t5\t5\t5\n\
    CapInh:\t0\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0\nNoNewPrivs:\t1\n";

#[test]
fn every_sign_of_privilege_is_refused() {
    assert_eq!(identity(CONFINED), Ok(()));
    let refused = |from: &str, to: &str, why: &str| {
        let status = CONFINED.replacen(from, to, 1);
        assert_ne!(status, CONFINED);
        let error = identity(&status).unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    refused("Uid:\t1000\t1000\t1000", "Uid:\t1000\t1000\t0", "root");
    refused("Uid:\t1000", "Uid:\t0", "root");
    refused("Gid:\t5", "Gid:\t0", "root");
    refused("CapEff:\t0000000000000000", "CapEff:\t0000000000200000", "capabilities");
    refused("CapPrm:\t0000000000000000", "CapPrm:\t0000000000000001", "capabilities");
    refused("CapAmb:\t0", "CapAmb:\t8", "capabilities");
    refused("NoNewPrivs:\t1", "NoNewPrivs:\t0", "privileges");
    refused("NoNewPrivs:\t1\n", "", "NoNewPrivs");
}

#[test]
fn mounts_that_differ_from_the_plan_are_refused() {
    let planned = BTreeMap::from([
        (PathBuf::from("/w s"), Access::Writable),
        (PathBuf::from("/w s/.claude"), Access::ReadOnly),
    ]);
    let check = |table: &str| compare_mounts(&planned, &parse_mounts(table.as_bytes()));
    let root = "1 0 8:0 / / ro,relatime - ext4 /dev/a rw\n2 1 0:5 / /proc rw - proc proc rw\n";
    let work = "3 1 8:0 /w /w\\040s rw,nosuid - ext4 /dev/a rw\n";
    let guard = "4 3 8:0 /w/c /w\\040s/.claude ro,nosuid - ext4 /dev/a rw\n";
    assert_eq!(check(&format!("{root}{work}{guard}")), Ok(()));
    let error = check(&format!("{root}{work}")).unwrap_err();
    assert!(error.contains("nothing is mounted on /w s/.claude"), "{error}");
    for stranger in ["5 1 8:1 / /mnt rw - ext4 b rw\n", "5 1 8:0 / / rw - ext4 a rw\n"] {
        let error = check(&format!("{root}{work}{guard}{stranger}")).unwrap_err();
        assert!(error.ends_with("can be written"), "{error}");
    }
}
