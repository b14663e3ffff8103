//! Whatever happened in between, a rewind gives the recorded tree back.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use tillerman_store::CheckpointLimits;

use crate::stand::{Picture, Stand};

/// Names that are files at one time and directories at another.
const NAMES: [&str; 9] = ["a", "b", "c", "d", "a/x", "a/y", "d/x", "d/e/y", "d/e/z"];

#[derive(Clone, Debug)]
enum Step {
    /// Texts of equal length, so that only contents tell them apart.
    Write(usize, u8),
    Remove(usize),
    Rename(usize, usize),
    Mkdir(usize),
    Chmod(usize, u32),
    Checkpoint,
    Rewind(usize),
    Undo,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        6 => (name.clone(), 0..3u8).prop_map(|(name, text)| Step::Write(name, text)),
        3 => name.clone().prop_map(Step::Remove),
        3 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => name.clone().prop_map(Step::Mkdir),
        1 => (name, prop_oneof![Just(0o644), Just(0o755), Just(0o600)])
            .prop_map(|(name, mode)| Step::Chmod(name, mode)),
        4 => Just(Step::Checkpoint),
        3 => (0..20usize).prop_map(Step::Rewind),
        1 => Just(Step::Undo),
        1 => Just(Step::Reopen),
    ]
}

/// States that can be rewound to, by name.
type States = Vec<(String, Picture)>;

fn play(stand: &mut Stand, states: &mut States, step: &Step) {
    let path = |name: usize| stand.path(NAMES[name]);
    match step {
        // Steps that the file system refuses are no steps.
        Step::Write(name, text) => drop(std::fs::write(path(*name), [b'0' + text; 4])),
        Step::Remove(name) => {
            drop(std::fs::remove_file(path(*name)));
            drop(std::fs::remove_dir_all(path(*name)));
        }
        Step::Rename(from, to) => drop(std::fs::rename(path(*from), path(*to))),
        Step::Mkdir(name) => drop(std::fs::create_dir_all(path(*name))),
        Step::Chmod(name, mode) => {
            let executable = if path(*name).is_dir() { 0o700 } else { 0 };
            let mode = Permissions::from_mode(mode | executable);
            drop(std::fs::set_permissions(path(*name), mode));
        }
        Step::Checkpoint => {
            let name = format!("m{}", states.len());
            stand.take(&name);
            states.push((name, stand.picture()));
        }
        Step::Rewind(at) if !states.is_empty() => rewind(stand, states, at % states.len()),
        Step::Undo => {
            if let Some(at) = states.iter().rposition(|(name, _)| name.starts_with("undo")) {
                rewind(stand, states, at);
            }
        }
        Step::Rewind(_) => {}
        Step::Reopen => stand.reopen(),
    }
}

fn rewind(stand: &Stand, states: &mut States, at: usize) {
    let (name, expected) = states[at].clone();
    let before = stand.picture();
    let dry = stand.dry_run(&name);
    assert_eq!(stand.picture(), before, "a dry run changes nothing");
    let rewound = stand.rewind(&name);
    assert_eq!(rewound.failed, Vec::<String>::new());
    assert_eq!(stand.picture(), expected, "rewound to {name}");
    assert_eq!((dry.restored, dry.deleted), (rewound.restored, rewound.deleted));
    states.push((rewound.undo.unwrap().to_string(), before));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rewinds_are_exact(steps in proptest::collection::vec(step(), 1..60)) {
        let mut stand = Stand::with(CheckpointLimits { kept: 1000, ..CheckpointLimits::default() });
        let mut states = States::new();
        for step in &steps {
            play(&mut stand, &mut states, step);
        }
        for at in 0..states.len() {
            rewind(&stand, &mut states, at);
        }
    }
}
