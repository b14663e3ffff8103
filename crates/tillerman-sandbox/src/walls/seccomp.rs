//! The seccomp wall: system calls that no command needs and some that get out of a confinement.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::syscalls;
use crate::plan::{Namespaces, SeccompPlan, Sockets};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Condition = (u8, SeccompCmpOp, u64);

/// The file mode bits that let a program run as its owner or group.
const SET_ID_BITS: [u64; 2] = [0o4000, 0o2000];
/// The type of the oldest raw sockets.
const SOCK_PACKET: i32 = 10;
/// The bits of a socket's type that are not flags.
const TYPE_MASK: u64 = 0xf;

/// Builds the wall around this process and everything it starts.
pub(crate) fn build(plan: SeccompPlan) -> Result<(), String> {
    for program in compile(plan)? {
        seccompiler::apply_filter(&program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The filters: one for what is forbidden, one for what is to look as if the kernel had it not, so
/// that programs use the older way, whose arguments a filter can see.
fn compile(plan: SeccompPlan) -> Result<[BpfProgram; 2], String> {
    let mut forbidden = forbidden();
    add_sockets(&mut forbidden, plan.sockets)?;
    add_set_id(&mut forbidden)?;
    add_namespaces(&mut forbidden)?;
    add_terminal(&mut forbidden)?;
    if plan.namespaces == Namespaces::Shared {
        add_shared(&mut forbidden)?;
    }
    let absent = always(syscalls::ABSENT);
    let mut first = program(forbidden, libc::EPERM)?;
    if cfg!(target_arch = "x86_64") {
        first.splice(0..0, no_second_numbering());
    }
    Ok([first, program(absent, libc::ENOSYS)?])
}

fn program(rules: Rules, error: i32) -> Result<BpfProgram, String> {
    let architecture =
        TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let refuse = SeccompAction::Errno(error.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture);
    let filter = filter.map_err(|error| error.to_string())?;
    BpfProgram::try_from(filter).map_err(|error| error.to_string())
}

/// On x86-64 every call has a second number, for programs with short pointers. A list of numbers
/// must not be passed by with it.
fn no_second_numbering() -> [sock_filter; 3] {
    const LOAD_NUMBER: u16 = 0x20;
    const AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const SECOND_NUMBERING: u32 = 0x4000_0000;
    let refuse = u32::from(SeccompAction::Errno(libc::ENOSYS.cast_unsigned()));
    [
        sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: AT_LEAST, jt: 0, jf: 1, k: SECOND_NUMBERING },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: refuse },
    ]
}

fn forbidden() -> Rules {
    always(syscalls::FORBIDDEN)
}

fn always(calls: &[c_long]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

/// Refuses a call when all conditions hold. The kernel looks at 32 bits of these arguments, so the
/// filter does too: what is written above them is no way around it.
fn when(rules: &mut Rules, call: c_long, conditions: &[Condition]) -> Result<(), String> {
    let condition = |(index, operator, value): &Condition| {
        SeccompCondition::new(*index, SeccompCmpArgLen::Dword, operator.clone(), *value)
    };
    let conditions = conditions.iter().map(condition).collect::<Result<Vec<_>, _>>();
    let rule = conditions.and_then(SeccompRule::new).map_err(|error| error.to_string())?;
    // An empty list already refuses every use of the call.
    match rules.get_mut(&call) {
        Some(always) if always.is_empty() => {}
        Some(list) => list.push(rule),
        None => drop(rules.insert(call, vec![rule])),
    }
    Ok(())
}

fn bit(index: u8, bit: u64) -> Condition {
    (index, SeccompCmpOp::MaskedEq(bit), bit)
}

fn add_sockets(rules: &mut Rules, sockets: Sockets) -> Result<(), String> {
    let [unix, inet, inet6, netlink] =
        [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(family);
    let not = |value| (0, SeccompCmpOp::Ne, value);
    let is = |value| (0, SeccompCmpOp::Eq, value);
    let kind = |value: i32| (1, SeccompCmpOp::MaskedEq(TYPE_MASK), family(value));
    match sockets {
        Sockets::None => {
            rules.insert(libc::SYS_socket, Vec::new());
        }
        Sockets::Internet => {
            when(rules, libc::SYS_socket, &[not(inet), not(inet6), not(netlink)])?;
        }
        Sockets::InternetAndUnix => {
            when(rules, libc::SYS_socket, &[not(inet), not(inet6), not(netlink), not(unix)])?;
        }
    }
    // Raw sockets, the old packet sockets, and every protocol of netlink but the harmless one.
    for domain in [inet, inet6] {
        when(rules, libc::SYS_socket, &[is(domain), kind(libc::SOCK_RAW)])?;
        when(rules, libc::SYS_socket, &[is(domain), kind(SOCK_PACKET)])?;
    }
    when(rules, libc::SYS_socket, &[is(netlink), (2, SeccompCmpOp::Ne, 0)])?;
    when(rules, libc::SYS_socketpair, &[not(unix)])?;
    if sockets != Sockets::InternetAndUnix {
        // One end of a pair of datagram sockets can write to any socket with a path.
        for datagram in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
            when(rules, libc::SYS_socketpair, &[kind(datagram)])?;
        }
    }
    Ok(())
}

fn family(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

/// A file that runs as its owner would outlive the confinement, and the owner may be root.
fn add_set_id(rules: &mut Rules) -> Result<(), String> {
    let creating = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY].map(family);
    for set_id in SET_ID_BITS {
        for (call, mode) in syscalls::SETTING_MODE {
            when(rules, *call, &[bit(*mode, set_id)])?;
        }
        for (call, flags, mode) in syscalls::OPENING {
            for flag in creating {
                when(rules, *call, &[bit(*flags, flag), bit(*mode, set_id)])?;
            }
        }
    }
    Ok(())
}

fn add_namespaces(rules: &mut Rules) -> Result<(), String> {
    let flags = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    for flag in flags {
        when(rules, libc::SYS_clone, &[bit(0, family(flag))])?;
    }
    Ok(())
}

/// Typing into the terminal of whoever started the host.
fn add_terminal(rules: &mut Rules) -> Result<(), String> {
    const TIOCLINUX: u64 = 0x541c;
    for request in [libc::TIOCSTI, TIOCLINUX] {
        when(rules, libc::SYS_ioctl, &[(1, SeccompCmpOp::Eq, request)])?;
    }
    Ok(())
}

/// What Landlock alone does not keep in: metadata of files elsewhere, and processes that leave the
/// group by which the host ends them.
fn add_shared(rules: &mut Rules) -> Result<(), String> {
    for call in syscalls::FORBIDDEN_WITHOUT_NAMESPACES {
        rules.insert(*call, Vec::new());
    }
    when(rules, libc::SYS_prlimit64, &[(0, SeccompCmpOp::Ne, 0)])
}

#[cfg(test)]
mod tests;
