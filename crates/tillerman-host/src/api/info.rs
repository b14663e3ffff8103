//! What a host is and who is looking at it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::User;
use crate::api::endpoint::Caller;
use crate::api::routes::ApiState;

/// What this host is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Info {
    version: String,
    protocol_level: String,
    /// Whether the rehearsal model answers because there are no credentials.
    rehearsal: bool,
    /// The model of conversations that name no other.
    model: String,
    models: Vec<ModelChoice>,
    /// The permission modes that can be chosen.
    modes: Vec<String>,
    user: User,
    limits: Limits,
}

/// A model that can be chosen.
#[derive(Debug, Serialize, JsonSchema)]
struct ModelChoice {
    id: String,
    name: String,
}

/// What is too much.
#[derive(Debug, Serialize, JsonSchema)]
struct Limits {
    max_upload_bytes: usize,
}

pub(crate) async fn info(State(state): State<Arc<ApiState>>, Caller(user): Caller) -> Json<Info> {
    let settings = &state.shared.settings;
    let models = settings.models.iter().cloned();
    let mut modes: Vec<String> = ["default", "acceptEdits", "plan"].map(str::to_owned).into();
    if settings.may_bypass {
        modes.push("bypassPermissions".to_owned());
    }
    Json(Info {
        version: settings.version.clone(),
        protocol_level: settings.protocol_level.clone(),
        rehearsal: settings.rehearsal,
        model: settings.model.clone(),
        models: models.map(|(id, name)| ModelChoice { id, name }).collect(),
        modes,
        user,
        limits: Limits { max_upload_bytes: settings.max_upload_bytes },
    })
}
