//! Links and special files are never followed, never replaced, and counted.

use std::os::unix::fs::symlink;

use crate::stand::Stand;

/// A place outside the working directory that nothing may change.
fn outside(stand: &Stand) -> std::path::PathBuf {
    let outside = stand.root.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("precious"), "precious").unwrap();
    outside
}

fn assert_untouched(outside: &std::path::Path) {
    let names: Vec<_> = std::fs::read_dir(outside).unwrap().map(|it| it.unwrap()).collect();
    assert_eq!(names.len(), 1);
    assert_eq!(std::fs::read_to_string(outside.join("precious")).unwrap(), "precious");
}

#[test]
fn a_link_in_the_place_of_a_file_is_left_alone() {
    let stand = Stand::new();
    let outside = outside(&stand);
    stand.write("precious", "mine");
    stand.take("m");
    std::fs::remove_file(stand.path("precious")).unwrap();
    symlink(outside.join("precious"), stand.path("precious")).unwrap();
    let rewound = stand.rewind("m");
    assert_eq!((rewound.skipped_links, rewound.restored), (1, 0));
    assert!(stand.path("precious").is_symlink());
    assert_untouched(&outside);
}

#[test]
fn a_link_in_the_place_of_a_directory_is_not_entered() {
    let stand = Stand::new();
    let outside = outside(&stand);
    stand.write("dir/precious", "mine");
    stand.write("dir/deep/other", "mine");
    stand.take("m");
    std::fs::remove_dir_all(stand.path("dir")).unwrap();
    symlink(&outside, stand.path("dir")).unwrap();
    let rewound = stand.rewind("m");
    assert_eq!((rewound.restored, rewound.deleted), (0, 0));
    assert_eq!(rewound.skipped_links, 3, "two files behind the link, and the link");
    assert!(stand.path("dir").is_symlink());
    assert_untouched(&outside);
}

#[test]
fn a_link_above_the_working_directory_is_not_followed() {
    let stand = Stand::new();
    let outside = outside(&stand);
    stand.write("inner/precious", "mine");
    stand.take_of("m", vec![stand.path("inner")]).unwrap();
    std::fs::remove_dir_all(stand.path("inner")).unwrap();
    symlink(&outside, stand.path("inner")).unwrap();
    let rewound = stand.rewind("m");
    assert_eq!((rewound.restored, rewound.deleted), (0, 0));
    assert_untouched(&outside);
}

#[test]
fn links_that_came_and_went_are_counted_and_those_that_stayed_are_not() {
    let stand = Stand::new();
    let outside = outside(&stand);
    for name in ["stays", "goes", "moves"] {
        symlink(outside.join("precious"), stand.path(name)).unwrap();
    }
    stand.take("m");
    std::fs::remove_file(stand.path("goes")).unwrap();
    std::fs::remove_file(stand.path("moves")).unwrap();
    symlink("elsewhere", stand.path("moves")).unwrap();
    symlink(outside.join("precious"), stand.path("comes")).unwrap();
    let rewound = stand.rewind("m");
    assert_eq!(rewound.skipped_links, 3);
    assert!(stand.exists("comes") && !stand.exists("goes"));
    assert_untouched(&outside);
}

#[test]
fn what_took_the_place_of_a_link_stays() {
    let stand = Stand::new();
    let outside = outside(&stand);
    symlink(outside.join("precious"), stand.path("file")).unwrap();
    symlink(&outside, stand.path("dir")).unwrap();
    stand.take("m");
    for name in ["file", "dir"] {
        std::fs::remove_file(stand.path(name)).unwrap();
    }
    // As `sed -i` does with a link.
    stand.write("file", "edited");
    stand.write("dir/file", "new");
    let rewound = stand.rewind("m");
    assert_eq!((rewound.deleted, rewound.skipped_links), (0, 2));
    assert_eq!((stand.read("file"), stand.read("dir/file")), ("edited".into(), "new".into()));
}

#[test]
fn a_directory_with_a_link_in_it_stays() {
    let stand = Stand::new();
    let outside = outside(&stand);
    stand.take("m");
    stand.write("new/file", "x");
    symlink(&outside, stand.path("new/link")).unwrap();
    let rewound = stand.rewind("m");
    assert_eq!((rewound.deleted, rewound.skipped_links), (1, 1));
    assert!(stand.path("new/link").is_symlink());
    assert_untouched(&outside);
}

#[test]
fn pipes_are_neither_read_nor_removed() {
    let stand = Stand::new();
    let pipe = |name: &str| {
        let (mode, kind) = (rustix::fs::Mode::RWXU, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(rustix::fs::CWD, stand.path(name), kind, mode, 0).unwrap();
    };
    stand.write("file", "mine");
    pipe("before");
    stand.take("m");
    pipe("after");
    std::fs::remove_file(stand.path("file")).unwrap();
    pipe("file");
    let rewound = stand.rewind("m");
    assert_eq!(rewound.skipped_links, 2);
    assert!(stand.exists("before") && stand.exists("after") && stand.exists("file"));
}

#[test]
fn a_file_with_two_names_is_restored_without_changing_the_other() {
    let stand = Stand::new();
    stand.write("shared", "before");
    let other = stand.root.path().join("other");
    std::fs::hard_link(stand.path("shared"), &other).unwrap();
    stand.take("m");
    std::fs::write(&other, "after").unwrap();
    let rewound = stand.rewind("m");
    assert_eq!((rewound.restored, rewound.split_links), (1, 1));
    assert_eq!(stand.read("shared"), "before");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "after");
}
