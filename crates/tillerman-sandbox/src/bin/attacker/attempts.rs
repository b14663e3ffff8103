//! The ways out, one function each, as close to the kernel as possible.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};

/// Tries what the arguments name and tells what came of it.
pub(crate) fn attempt(arguments: &[&str]) -> io::Result<String> {
    match arguments {
        ["socket", domain, kind, protocol] => {
            socket(number(domain)?, number(kind)?, number(protocol)?).map(|_| "made".to_owned())
        }
        ["unix", path] => unix_connect(path),
        ["abstract", name] => unix_connect(&format!("\0{name}")),
        ["pair", path] => pair_send(path),
        ["tcp", address] => TcpStream::connect(address).map(|_| "connected".to_owned()),
        ["udp", address] => udp(address),
        ["call", name] => forbidden_call(name),
        ["type", "plain"] => type_character(0),
        ["type", "disguised"] => type_character(1 << 32),
        ["set-id", way, path] => set_id(way, path),
        ["remount"] => remount(),
        ["open", path] => open_for_writing(path),
        ["inherited"] => inherited(),
        ["fork"] => fork_until_refused(),
        ["memory", megabytes] => take_memory(number(megabytes)?),
        ["proxy", address, request] => through_proxy(address, request),
        ["proxy-hex", address, request] => through_proxy_hex(address, request),
        _ => Err(io::Error::other("no such attempt")),
    }
}

fn number(text: &str) -> io::Result<usize> {
    text.parse().map_err(io::Error::other)
}

/// Makes any system call.
fn call(number: libc::c_long, arguments: [usize; 5]) -> io::Result<usize> {
    let [a, b, c, d, e] = arguments;
    #[expect(unsafe_code, reason = "an attack does not use safe interfaces")]
    // SAFETY: every caller passes numbers, or pointers to memory that outlives the call. What the
    // kernel does then is what the tests want to know; nothing of this process relies on it.
    let outcome = unsafe { libc::syscall(number, a, b, c, d, e, 0) };
    usize::try_from(outcome).map_err(|_| io::Error::last_os_error())
}

fn text(path: &str) -> io::Result<CString> {
    CString::new(path).map_err(io::Error::other)
}

fn pointer(text: &CString) -> usize {
    text.as_ptr().addr()
}

fn socket(domain: usize, kind: usize, protocol: usize) -> io::Result<usize> {
    call(libc::SYS_socket, [domain, kind, protocol, 0, 0])
}

/// The bytes of a Unix address; a leading zero byte names an abstract one.
fn unix_address(path: &str) -> Vec<u8> {
    let mut address = 1_u16.to_ne_bytes().to_vec();
    address.extend(path.as_bytes());
    if !path.starts_with('\0') {
        address.push(0);
    }
    address
}

fn unix_connect(path: &str) -> io::Result<String> {
    let socket = socket(1, 1, 0)?;
    let address = unix_address(path);
    call(libc::SYS_connect, [socket, address.as_ptr().addr(), address.len(), 0, 0])?;
    Ok("connected".to_owned())
}

/// One end of a pair of datagram sockets, writing to a socket that has nothing to do with it.
fn pair_send(path: &str) -> io::Result<String> {
    let mut pair = [0_i32; 2];
    call(libc::SYS_socketpair, [1, 2, 0, pair.as_mut_ptr().addr(), 0])?;
    let address = unix_address(path);
    let [first, _] = pair;
    let first = first.unsigned_abs() as usize;
    call(libc::SYS_connect, [first, address.as_ptr().addr(), address.len(), 0, 0])?;
    Ok("connected".to_owned())
}

fn udp(address: &str) -> io::Result<String> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.send_to(b"out", address).map(|_| "sent".to_owned())
}

fn forbidden_call(name: &str) -> io::Result<String> {
    let root = text("/")?;
    let user = libc::CLONE_NEWUSER as usize;
    let (number, arguments) = match name {
        // Asks to be traced, which always works elsewhere.
        "ptrace" => (libc::SYS_ptrace, [0; 5]),
        "unshare" => (libc::SYS_unshare, [user, 0, 0, 0, 0]),
        "clone" => (libc::SYS_clone, [user | libc::SIGCHLD as usize, 0, 0, 0, 0]),
        "chroot" => (libc::SYS_chroot, [pointer(&root), 0, 0, 0, 0]),
        "mount" => {
            (libc::SYS_mount, [pointer(&root), pointer(&root), 0, libc::MS_BIND as usize, 0])
        }
        // With no usable arguments these fail differently once they are let in.
        "clone3" => (libc::SYS_clone3, [0; 5]),
        "openat2" => (libc::SYS_openat2, [0; 5]),
        "io_uring" => (libc::SYS_io_uring_setup, [0; 5]),
        "bpf" => (libc::SYS_bpf, [usize::MAX, 0, 0, 0, 0]),
        "userfaultfd" => (libc::SYS_userfaultfd, [usize::MAX, 0, 0, 0, 0]),
        "keyctl" => (libc::SYS_keyctl, [usize::MAX, 0, 0, 0, 0]),
        "process_vm" => (libc::SYS_process_vm_readv, [1, 0, 0, 0, 0]),
        "second numbering" => (libc::SYS_getpid | 0x4000_0000, [0; 5]),
        _ => return Err(io::Error::other("no such call")),
    };
    call(number, arguments).map(|_| "done".to_owned())
}

fn type_character(disguise: usize) -> io::Result<String> {
    let character = *b"#";
    let request = libc::TIOCSTI as usize | disguise;
    call(libc::SYS_ioctl, [0, request, character.as_ptr().addr(), 0, 0]).map(|_| "typed".to_owned())
}

/// Leaves a program behind that runs as its owner.
fn set_id(way: &str, path: &str) -> io::Result<String> {
    const MODE: usize = 0o4755;
    let name = text(path)?;
    let here = libc::AT_FDCWD as isize as usize;
    let create = (libc::O_CREAT | libc::O_WRONLY) as usize;
    match way {
        "chmod" => {
            drop(std::fs::File::create(path)?);
            call(libc::SYS_fchmodat, [here, pointer(&name), MODE, 0, 0])
        }
        "disguised" => {
            drop(std::fs::File::create(path)?);
            call(libc::SYS_fchmodat, [here, pointer(&name), MODE | 1 << 32, 0, 0])
        }
        "open" => call(libc::SYS_openat, [here, pointer(&name), create, MODE, 0]),
        "openat2" => {
            let how = [create as u64, MODE as u64, 0];
            call(libc::SYS_openat2, [here, pointer(&name), how.as_ptr().addr(), 24, 0])
        }
        "mknod" => call(libc::SYS_mknodat, [here, pointer(&name), MODE | 0o100_000, 0, 0]),
        _ => Err(io::Error::other("no such way")),
    }
    .map(|_| "left".to_owned())
}

fn remount() -> io::Result<String> {
    let (none, root) = (text("none")?, text("/")?);
    let flags = (libc::MS_REMOUNT | libc::MS_BIND) as usize;
    call(libc::SYS_mount, [pointer(&none), pointer(&root), 0, flags, 0]).map(|_| "done".to_owned())
}

fn open_for_writing(path: &str) -> io::Result<String> {
    OpenOptions::new().write(true).open(path).map(|_| "opened".to_owned())
}

/// Open files that nobody here has opened.
fn inherited() -> io::Result<String> {
    let mut found = Vec::new();
    for number in 3..256 {
        if let Ok(target) = std::fs::read_link(format!("/proc/self/fd/{number}")) {
            found.push(target.display().to_string());
        }
    }
    if found.is_empty() { Err(io::Error::other("none")) } else { Ok(found.join("\n")) }
}

/// Starts processes that stay until no more are allowed.
fn fork_until_refused() -> io::Result<String> {
    for count in 0..20_000 {
        match call(libc::SYS_clone, [libc::SIGCHLD as usize, 0, 0, 0, 0]) {
            Ok(0) => std::thread::sleep(std::time::Duration::from_secs(60)),
            Ok(_) => {}
            Err(error) => return Err(io::Error::other(format!("{error} after {count}"))),
        }
    }
    Ok("no limit".to_owned())
}

fn take_memory(megabytes: usize) -> io::Result<String> {
    let mut held: Vec<Vec<u8>> = Vec::new();
    for _ in 0..megabytes {
        let mut piece = Vec::new();
        piece.try_reserve_exact(1 << 20).map_err(io::Error::other)?;
        piece.resize(1 << 20, 1);
        held.push(piece);
    }
    Ok(format!("took {}", held.len()))
}

/// Sends a request to the proxy and returns the beginning of its answer.
fn through_proxy(address: &str, request: &str) -> io::Result<String> {
    exchange(address, request.replace("\\r\\n", "\r\n").as_bytes())
}

fn through_proxy_hex(address: &str, request: &str) -> io::Result<String> {
    let bytes: Result<Vec<u8>, _> = (0..request.len() / 2)
        .map(|at| u8::from_str_radix(&request[2 * at..2 * at + 2], 16))
        .collect();
    exchange(address, &bytes.map_err(io::Error::other)?)
}

fn exchange(address: &str, request: &[u8]) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10)))?;
    stream.write_all(request)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
