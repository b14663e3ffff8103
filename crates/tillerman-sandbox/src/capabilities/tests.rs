//! The report says plainly what is enforced and what is refused.

use super::{Backend, Capabilities, GroupLimits, report};

fn capabilities(backend: Backend) -> Capabilities {
    let groups = GroupLimits { memory: true, processes: false };
    Capabilities { backend, landlock: 7, seccomp: true, groups, root: true }
}

#[test]
fn a_machine_with_bubblewrap() {
    let text = report(&capabilities(Backend::Bubblewrap { version: "0.8.0".to_owned() }));
    assert!(text.contains("confined by bubblewrap 0.8.0"), "{text}");
    assert!(text.contains("memory limit           by control group"), "{text}");
    assert!(text.contains("process limit          by the kernel's count"), "{text}");
    assert!(text.contains("a user of their own"), "{text}");
}

#[test]
fn a_machine_that_can_do_less_says_what_it_refuses() {
    let walls = Backend::Walls { reason: "bubblewrap is not installed".to_owned() };
    let text = report(&capabilities(walls));
    assert!(
        text.contains("guarded files          not enforced: needs Linux and bubblewrap"),
        "{text}"
    );
    let none = Backend::None { reason: "no Landlock".to_owned() };
    let text = report(&capabilities(none));
    assert!(text.contains("cannot be confined: no Landlock"), "{text}");
    assert!(!text.contains("refused"), "{text}");
}
