//! One entry of a script: a response or a fault.

use crate::fault::StatusFault;
use crate::gate::Gate;
use crate::response::Response;

/// What the server answers to one request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A response of the model, whole or broken on the way.
    Response(Box<Response>),
    /// An error status.
    Status(StatusFault),
}

impl Reply {
    pub(crate) fn hold_before(&self) -> Option<&Gate> {
        match self {
            Self::Response(response) => response.hold_before.as_ref(),
            Self::Status(fault) => fault.hold_before.as_ref(),
        }
    }

    pub(crate) fn moves_prefix(&self) -> Option<&str> {
        match self {
            Self::Response(response) => response.moves_prefix.as_deref(),
            Self::Status(fault) => fault.moves_prefix.as_deref(),
        }
    }
}

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        Self::Response(Box::new(response))
    }
}

impl From<StatusFault> for Reply {
    fn from(fault: StatusFault) -> Self {
        Self::Status(fault)
    }
}
