//! A disk that is soon full, for tests that run as root.

use std::ffi::CStr;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use rustix::mount::{MountFlags, UnmountFlags};

use crate::harness::is_root;

/// A small file system in memory, gone with the test.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it, or says why that is impossible here.
    pub(crate) fn mount(place: PathBuf, size: &CStr, flags: MountFlags) -> Option<Self> {
        if !is_root() {
            println!("skipped: only root can mount a small disk");
            return None;
        }
        match rustix::mount::mount("tmpfs", &place, "tmpfs", flags, size) {
            Ok(()) => Some(Self(place)),
            Err(error) => {
                println!("skipped: a small disk cannot be mounted here: {error}");
                None
            }
        }
    }

    pub(crate) fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    pub(crate) fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        while file.write_all(&[0; 512]).is_ok() {}
    }

    pub(crate) fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _unmounted = rustix::mount::unmount(&self.0, UnmountFlags::DETACH).is_ok();
    }
}
