//! Which calls run, which are asked about and which are refused.

#[cfg(test)]
mod matching;
#[cfg(test)]
mod order;
#[cfg(test)]
mod updates;

#[cfg(test)]
mod bench;
