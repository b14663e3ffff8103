//! Giving back the memory of code that is not needed while a process waits.

use std::ops::Range;

/// Unmaps the pages of this program's code, so that only those that are used again come back.
///
/// The kernel maps code in blocks of 64 KiB around whatever runs, so that most of a program is
/// resident after its first second and stays so for as long as it lives. Pages that are needed
/// again are found in the page cache, a microsecond each.
///
/// Does nothing under a debugger, whose breakpoints are written into those pages.
///
/// # Errors
///
/// When the system does not tell where the code is, or refuses; nothing is lost then.
pub fn give_back_code() -> std::io::Result<()> {
    if is_traced(&std::fs::read_to_string("/proc/self/status")?) {
        return Ok(());
    }
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let program = std::env::current_exe()?;
    let ranges = maps.lines().filter_map(|line| code_range(line, program.to_str()?));
    for range in ranges.filter(|range| !range.is_empty()) {
        #[expect(unsafe_code, reason = "rustix marks all advice about memory as unsafe")]
        // SAFETY: the range is a read-only, private mapping of a file whose pages were never
        // written to, so that every later access reads the same bytes again.
        unsafe {
            rustix::mm::madvise(
                std::ptr::with_exposed_provenance_mut(range.start),
                range.len(),
                rustix::mm::Advice::LinuxDontNeed,
            )?;
        }
    }
    Ok(())
}

fn is_traced(status: &str) -> bool {
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_none_or(|tracer| tracer.trim() != "0")
}

/// The addresses of a line of `/proc/self/maps`, if it is code of the program.
fn code_range(line: &str, program: &str) -> Option<Range<usize>> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let is_code = fields.next()? == "r-xp";
    let path = line.find('/').map(|at| &line[at..]);
    if !is_code || path != Some(program) {
        return None;
    }
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_program_is_named() {
        let line = |rights: &str, path: &str| {
            format!("55d0c0a00000-55d0c0b00000 {rights} 00851000 fe:00 5484228    {path}")
        };
        let program = "/usr/bin/a program";
        let found = code_range(&line("r-xp", program), program);
        assert_eq!(found, Some(0x55d0_c0a0_0000..0x55d0_c0b0_0000));
        assert_eq!(code_range(&line("rw-p", program), program), None);
        assert_eq!(code_range(&line("r-xp", "/usr/lib/libc.so.6"), program), None);
        assert_eq!(code_range(&line("r-xp", ""), program), None);
        assert_eq!(code_range("garbage", program), None);
    }

    #[test]
    fn a_traced_process_is_left_alone() {
        assert!(is_traced("Name:\tx\nTracerPid:\t4711\n"));
        assert!(!is_traced("Name:\tx\nTracerPid:\t0\n"));
        assert!(is_traced(""), "nothing is done where nobody can tell");
    }

    #[test]
    fn code_still_runs_afterwards() {
        let before = is_traced("TracerPid:\t0");
        give_back_code().unwrap();
        assert_eq!(is_traced("TracerPid:\t0"), before);
    }
}
