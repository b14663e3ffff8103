//! Keeps permission updates in settings files.

use tillerman_config::{Places, persist};
use tillerman_ports::PermissionKeeper;
use tillerman_protocol::permission::PermissionUpdate;

use crate::settings::told;

/// Writes updates into the settings file of their destination.
#[derive(Debug)]
pub(crate) struct SettingsKeeper(pub(crate) Places);

impl PermissionKeeper for SettingsKeeper {
    fn keep(&self, update: &PermissionUpdate) -> Result<(), String> {
        persist(&self.0, update).map_err(|error| told(&error))
    }
}
