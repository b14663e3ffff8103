//! Behaviour of the built-in tools that users rely on.

#[cfg(test)]
mod bash;
#[cfg(test)]
mod bash_output;
#[cfg(test)]
mod bash_processes;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod edit;
#[cfg(test)]
mod input;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod read;
#[cfg(test)]
mod write;
