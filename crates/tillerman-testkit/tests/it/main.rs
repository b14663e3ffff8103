//! The scripted server, seen from a client's side of the wire.

#[cfg(test)]
mod binary;
#[cfg(test)]
mod capture;
#[cfg(test)]
mod client;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod prefix;
#[cfg(test)]
mod replies;
#[cfg(test)]
mod validation;
