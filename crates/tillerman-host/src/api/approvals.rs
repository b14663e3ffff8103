//! Cards over HTTP.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::conversations::audit;
use crate::api::endpoint::{Body, Caller, Query};
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::live::Order;
use crate::store::{self, AnswerOutcome, StoredApproval};
use crate::wire::{AnswerRequest, Approval, ApprovalPolicy};

const PAGE: usize = 200;

/// Which cards are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ApprovalQuery {
    /// `pending` (the default) or `all`.
    state: Option<String>,
    /// Only those of one conversation.
    conversation_id: Option<String>,
}

/// Some cards.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApprovalList {
    approvals: Vec<Approval>,
}

pub(crate) async fn list(
    State(state): State<Arc<ApiState>>,
    Query(query): Query<ApprovalQuery>,
) -> Result<Json<ApprovalList>, ApiError> {
    let only_pending = match query.state.as_deref() {
        None | Some("pending") => true,
        Some("all") => false,
        Some(other) => {
            return Err(ApiError::bad(format!("state is pending or all, not {other:?}.")));
        }
    };
    let of = query.conversation_id;
    let cards = state
        .shared
        .store
        .read(move |db| StoredApproval::list(db, of.as_deref(), only_pending, PAGE))
        .await?;
    Ok(Json(ApprovalList { approvals: cards.into_iter().map(|card| card.shown).collect() }))
}

pub(crate) async fn answer(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Path(id): Path<String>,
    Body(request): Body<AnswerRequest>,
) -> Result<Response, ApiError> {
    let wanted = id.clone();
    let card = state.shared.store.read(move |db| StoredApproval::find(db, &wanted)).await?;
    let card = card.ok_or_else(|| ApiError::unknown("card"))?;
    if user.role < crate::access::Role::Owner
        && (request.updated_input.is_some() || !request.always.is_empty())
    {
        let text = "Approvers allow and deny. Changing a call, or allowing it for good, is for an \
                    owner.";
        return Err(ApiError::forbidden(text));
    }
    let request = Box::new(request);
    let by = user.name;
    let outcome = state
        .directory
        .ask(&card.shown.conversation_id, |reply| Order::Answer { id, request, by, reply })
        .await?;
    match outcome {
        AnswerOutcome::Taken(card) => Ok(Json(card.shown).into_response()),
        AnswerOutcome::Late(card) => Ok((StatusCode::CONFLICT, Json(card)).into_response()),
        AnswerOutcome::Unknown => Err(ApiError::unknown("card")),
    }
}

pub(crate) async fn policy(
    State(state): State<Arc<ApiState>>,
) -> Result<Json<ApprovalPolicy>, ApiError> {
    Ok(Json(state.shared.store.read(store::policy).await?))
}

pub(crate) async fn set_policy(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Body(policy): Body<ApprovalPolicy>,
) -> Result<Json<ApprovalPolicy>, ApiError> {
    let mut note = audit(&state, &user.name, "approvals.policy", "host");
    note.detail = serde_json::to_string(&policy).unwrap_or_default();
    let chosen = policy.clone();
    state
        .shared
        .store
        .write(move |db| {
            note.insert(db)?;
            store::set_policy(db, &policy)
        })
        .await?;
    Ok(Json(chosen))
}
