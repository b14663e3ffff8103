//! What this machine can enforce, and how to say it to people.

/// What this machine can enforce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What confines commands here.
    pub backend: Backend,
    /// The version of Landlock's interface; 0 where there is none.
    pub landlock: u8,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// What control groups can limit.
    pub groups: GroupLimits,
    /// Whether the host runs as root, so that commands run as another user.
    pub root: bool,
}

/// Which limits control groups can enforce here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupLimits {
    /// Memory.
    pub memory: bool,
    /// The number of processes.
    pub processes: bool,
}

/// What confines commands on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Bubblewrap, with Landlock and seccomp inside.
    Bubblewrap {
        /// Its version.
        version: String,
    },
    /// Landlock and seccomp, without namespaces; some confinements are refused.
    Walls {
        /// Why not bubblewrap.
        reason: String,
    },
    /// Seatbelt of macOS.
    Seatbelt,
    /// Nothing; every confinement is refused.
    None {
        /// Why not.
        reason: String,
    },
}

impl Capabilities {
    /// Whether commands can have a network that goes through the egress proxy.
    #[must_use]
    pub fn can_proxy(&self) -> bool {
        matches!(self.backend, Backend::Bubblewrap { .. })
    }

    /// Whether paths can be guarded inside writable directories.
    #[must_use]
    pub fn can_guard(&self) -> bool {
        matches!(self.backend, Backend::Bubblewrap { .. } | Backend::Seatbelt)
    }
}

/// Says to people what this machine can enforce, one line per matter.
#[must_use]
pub fn report(capabilities: &Capabilities) -> String {
    let mut text = String::from("Sandbox\n");
    let mut line = |what: &str, state: &str| {
        text.push_str(&format!("  {what:<22} {state}\n"));
    };
    let yes_or_no = |can: bool, otherwise: &str| {
        if can { "enforced".to_owned() } else { format!("not enforced: {otherwise}") }
    };
    match &capabilities.backend {
        Backend::Bubblewrap { version } => {
            line("commands", &format!("confined by bubblewrap {version}"));
        }
        Backend::Walls { reason } => {
            line("commands", &format!("confined by Landlock and seccomp only: {reason}"));
        }
        Backend::Seatbelt => line("commands", "confined by Seatbelt"),
        Backend::None { reason } => {
            line("commands", &format!("cannot be confined: {reason}"));
            line("", "with sandbox.enabled nothing is run; install bubblewrap");
            return text;
        }
    }
    let needs = "needs Linux and bubblewrap; such commands are refused";
    line("writing outside", "refused");
    line("guarded files", &yes_or_no(capabilities.can_guard(), needs));
    line("hidden files", "enforced");
    line("network", "none unless allowed");
    line("allowed domains", &yes_or_no(capabilities.can_proxy(), needs));
    if capabilities.backend != Backend::Seatbelt {
        let landlock = match capabilities.landlock {
            0 => "missing: the kernel has none".to_owned(),
            version => format!("built (version {version})"),
        };
        line("Landlock wall", &landlock);
        line("seccomp wall", if capabilities.seccomp { "built" } else { "missing" });
        let groups = capabilities.groups;
        let by = |group: bool, otherwise: &str| {
            if group { "by control group".to_owned() } else { otherwise.to_owned() }
        };
        line("memory limit", &by(groups.memory, "per process only"));
        line("process limit", &by(groups.processes, "by the kernel's count per user"));
    } else {
        line("memory limit", "not enforced");
        line("process limit", "not enforced");
    }
    if capabilities.root {
        line("user", "the host is root, so commands run as a user of their own");
    }
    text
}

#[cfg(test)]
mod tests;
