//! Looking at one's own confinement from inside before anything is executed.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;

use super::run::StageError;
use crate::layout::Access;

/// Checks who this process is and what it holds: no root, no capabilities, no way to new ones, and
/// no open files but the standard ones and `expected`.
pub(crate) fn process(expected: Option<i32>) -> Result<(), StageError> {
    let status = std::fs::read_to_string("/proc/self/status")
        .map_err(|source| StageError::step("/proc/self/status cannot be read", source))?;
    identity(&status).map_err(StageError::Unconfined)?;
    open_files(expected).map_err(StageError::Unconfined)
}

/// Checks that the planned mounts are there and that nothing else can be written.
pub(crate) fn mounts(planned: &BTreeMap<PathBuf, Access>) -> Result<(), StageError> {
    let table = std::fs::read("/proc/self/mountinfo")
        .map_err(|source| StageError::step("/proc/self/mountinfo cannot be read", source))?;
    let table = parse_mounts(&table);
    compare_mounts(planned, &table).map_err(StageError::Unconfined)?;
    for (path, access) in planned {
        as_mounted(path, *access).map_err(StageError::Unconfined)?;
    }
    Ok(())
}

fn identity(status: &str) -> Result<(), String> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::trim).ok_or_else(|| format!("the kernel does not tell {name}"))
    };
    for name in ["Uid", "Gid"] {
        if field(name)?.split_whitespace().any(|id| id == "0") {
            return Err(format!("it runs as root ({name} {})", field(name)?));
        }
    }
    for name in ["CapEff", "CapPrm", "CapAmb"] {
        if u64::from_str_radix(field(name)?, 16) != Ok(0) {
            return Err(format!("it has capabilities ({name} {})", field(name)?));
        }
    }
    if field("NoNewPrivs")? != "1" {
        return Err("it could gain new privileges".to_owned());
    }
    Ok(())
}

fn open_files(expected: Option<i32>) -> Result<(), String> {
    let unknown = |error| format!("its open files are not known: {error}");
    let list = std::fs::read_dir("/proc/self/fd").map_err(unknown)?;
    for entry in list {
        let name = entry.map_err(unknown)?.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let link = Path::new("/proc/self/fd").join(&name);
        let target = std::fs::read_link(&link).unwrap_or_default();
        if number > 2 && Some(number) != expected && outlives_exec(number)? {
            return Err(format!("it has inherited the open file {}", target.display()));
        }
        if number <= 2 && std::fs::metadata(&link).is_ok_and(|metadata| metadata.is_dir()) {
            return Err(format!("a standard stream is the directory {}", target.display()));
        }
    }
    Ok(())
}

/// Whether the next program would have an open file too. What was inherited always does.
fn outlives_exec(number: i32) -> Result<bool, String> {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let details = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}"))
        .map_err(|error| format!("its open file {number} is not known: {error}"))?;
    let flags = details.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    Ok(flags.is_none_or(|flags| flags & CLOSE_ON_EXEC == 0))
}

/// Mount points with whether they can be written.
fn parse_mounts(table: &[u8]) -> Vec<(PathBuf, Access)> {
    let mount = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ');
        let point = fields.nth(4)?;
        let options = fields.next()?;
        let read_only = options.split(|byte| *byte == b',').any(|option| option == b"ro");
        let access = if read_only { Access::ReadOnly } else { Access::Writable };
        Some((unescape(point), access))
    };
    table.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

/// The kernel writes blanks and backslashes as three octal digits.
fn unescape(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

fn compare_mounts(
    planned: &BTreeMap<PathBuf, Access>,
    table: &[(PathBuf, Access)],
) -> Result<(), String> {
    for path in planned.keys() {
        if !table.iter().any(|(point, _)| point == path) {
            return Err(format!("nothing is mounted on {}", path.display()));
        }
    }
    // Devices and processes are views of the kernel, checked by it for each access.
    let kernel = |path: &Path| path.starts_with("/dev") || path == Path::new("/proc");
    for (point, access) in table {
        let stranger = *access == Access::Writable
            && !kernel(point)
            && planned.get(point) != Some(&Access::Writable);
        if stranger {
            return Err(format!("{} can be written", point.display()));
        }
    }
    Ok(())
}

/// Whether the mount that is really seen at a path is as planned.
fn as_mounted(path: &Path, planned: Access) -> Result<(), String> {
    let shown = path.display();
    let seen =
        rustix::fs::statvfs(path).map_err(|error| format!("{shown} cannot be seen: {error}"))?;
    let read_only = seen.f_flag.contains(StatVfsMountFlags::RDONLY);
    if read_only != (planned == Access::ReadOnly) {
        let word = if read_only { "read-only" } else { "writable" };
        return Err(format!("{shown} is {word}"));
    }
    if !seen.f_flag.contains(StatVfsMountFlags::NOSUID) {
        return Err(format!("programs in {shown} could change the user"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
