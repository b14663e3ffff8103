//! Behaviour of the built-in tools that users rely on.

#[cfg(test)]
mod ask;
#[cfg(test)]
mod background;
#[cfg(test)]
mod bash;
#[cfg(test)]
mod bash_output;
#[cfg(test)]
mod bash_processes;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod board;
#[cfg(test)]
mod departures;
#[cfg(test)]
mod edit;
#[cfg(test)]
mod fetch;
#[cfg(test)]
mod glob;
#[cfg(test)]
mod grep;
#[cfg(test)]
mod input;
#[cfg(test)]
mod monitor;
#[cfg(test)]
mod multi_edit;
#[cfg(test)]
mod notebook;
#[cfg(test)]
mod pdf;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod read;
#[cfg(test)]
mod skill;
#[cfg(test)]
mod todo;
#[cfg(test)]
mod web_search;
#[cfg(test)]
mod web_server;
#[cfg(test)]
mod write;
