//! Tests of the model providers.

#[cfg(test)]
mod anthropic_body;
#[cfg(test)]
mod anthropic_failure;
#[cfg(test)]
mod anthropic_stream;
#[cfg(test)]
mod anthropic_tls;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod catalog;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod event_reader;
#[cfg(test)]
mod loopback;
#[cfg(test)]
mod openai_asking;
#[cfg(test)]
mod openai_body;
#[cfg(test)]
mod openai_failure;
#[cfg(test)]
mod openai_stream;
#[cfg(test)]
mod places;
#[cfg(test)]
mod rehearsal;
#[cfg(test)]
mod rehearsal_stage;
#[cfg(test)]
mod sse;
