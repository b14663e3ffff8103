//! The host as its clients see it, with sessions that tests play themselves.

#[cfg(test)]
mod harness;

#[cfg(test)]
mod answers;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod conversations;
#[cfg(test)]
mod description;
#[cfg(test)]
mod door;
#[cfg(test)]
mod elicitations;
#[cfg(test)]
mod files;
#[cfg(test)]
mod ipc;
#[cfg(test)]
mod isolated;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod projects;
#[cfg(test)]
mod restarts;
#[cfg(test)]
mod sdk;
#[cfg(test)]
mod sockets;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod trouble;
