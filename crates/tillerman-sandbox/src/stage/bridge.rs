//! Carries connections from the command's loopback to the egress proxy outside.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

use super::run::StageError;
use crate::layout::EGRESS;

/// How many connections are carried at the same time.
const MOST_CONNECTIONS: usize = 128;
const STACK_BYTES: usize = 64 * 1024;

/// Listens before the command runs, so that its first connection finds somebody.
pub(crate) fn listen(port: u16) -> Result<TcpListener, StageError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|source| {
        StageError::step("the way to the egress proxy could not be opened", source)
    })
}

/// Carries connections for as long as the process lives.
pub(crate) fn serve(listener: TcpListener) -> io::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    let accept = move || {
        for inner in listener.incoming().flatten() {
            if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let counter = Arc::clone(&open);
            let carry = move || {
                drop(carry(&inner));
                counter.fetch_sub(1, Ordering::Relaxed);
            };
            if Builder::new().stack_size(STACK_BYTES).spawn(carry).is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    };
    Builder::new().stack_size(STACK_BYTES).spawn(accept).map(drop)
}

fn carry(inner: &TcpStream) -> io::Result<()> {
    let outer = UnixStream::connect(EGRESS)?;
    let (mut from_inner, mut to_outer) = (inner.try_clone()?, outer.try_clone()?);
    let up = Builder::new().stack_size(STACK_BYTES).spawn(move || {
        drop(io::copy(&mut from_inner, &mut to_outer));
        drop(to_outer.shutdown(Shutdown::Write));
    })?;
    drop(io::copy(&mut &outer, &mut &*inner));
    drop(inner.shutdown(Shutdown::Write));
    drop(up.join());
    Ok(())
}
