//! Every combination of filters compiles, and none can be passed by with other numbers.

use super::compile;
use crate::plan::{Namespaces, SeccompPlan, Sockets};

#[test]
fn every_plan_compiles() {
    for sockets in [Sockets::None, Sockets::Internet, Sockets::InternetAndUnix] {
        for namespaces in [Namespaces::Own, Namespaces::Shared] {
            let [forbidden, absent] = compile(SeccompPlan { sockets, namespaces }).unwrap();
            // The kernel takes at most 4096 instructions.
            assert!(forbidden.len() < 4096 && absent.len() < 4096);
            if cfg!(target_arch = "x86_64") {
                assert_eq!((forbidden[1].code, forbidden[1].k), (0x35, 0x4000_0000));
            }
        }
    }
}
