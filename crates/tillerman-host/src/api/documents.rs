//! Projects, personas, skills and agents over HTTP: the same five things for each.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use serde_json::{Map, Value};

use crate::api::conversations::audit;
use crate::api::endpoint::{Body, Caller, Endpoint};
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::document::Document;
use crate::live::{News, new_id};
use crate::wire::DocumentFiles;

/// The five endpoints of one kind.
pub(crate) fn endpoints<T: Document>(all: &'static str, one: &'static str) -> Vec<Endpoint> {
    vec![
        Endpoint::get(all, list::<T>).says("All of them").answer::<BTreeMap<String, Vec<T>>>(),
        Endpoint::post(all, create::<T>).says("Adds one").status(201).body::<T>().answer::<T>(),
        Endpoint::get(one, show::<T>).says("One of them").answer::<T>(),
        Endpoint::patch(one, change::<T>)
            .says("Changes the fields that are given")
            .body::<T>()
            .answer::<T>(),
        Endpoint::delete(one, delete::<T>).says("Removes one").status(204),
    ]
}

async fn list<T: Document>(
    State(state): State<Arc<ApiState>>,
) -> Result<Json<BTreeMap<String, Vec<T>>>, ApiError> {
    let all = state.shared.store.read(|db| T::KIND.list::<T>(db)).await?;
    Ok(Json([(T::PLURAL.to_owned(), all)].into()))
}

async fn create<T: Document>(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Body(mut document): Body<T>,
) -> Result<(StatusCode, Json<T>), ApiError> {
    let id = new_id().ok_or_else(|| ApiError::bad("The system gives no randomness."))?;
    document.set_id(id.clone());
    document.set_source(None);
    let stored = put(&state, &user.name, id, document).await?;
    Ok((StatusCode::CREATED, Json(stored)))
}

async fn put<T: Document>(
    state: &ApiState,
    user: &str,
    id: String,
    document: T,
) -> Result<T, ApiError> {
    document.check().map_err(|fault| ApiError::bad(fault.message))?;
    let now = state.shared.now();
    let note = audit(state, user, &format!("{}.put", T::KIND.as_str()), &id);
    let stored = document.clone();
    state
        .shared
        .store
        .write(move |db| {
            note.insert(db)?;
            T::KIND.put(db, &id, document.name(), &document, now)
        })
        .await?;
    state.shared.tell(News::documents());
    Ok(stored)
}

/// Documents of files are changed in their files: the host would have to overwrite what people
/// wrote there, with their comments and in their order.
fn check_source<T: Document>(document: &T) -> Result<(), ApiError> {
    let Some(source) = document.source() else { return Ok(()) };
    let text = format!(
        "{} is read from {source}. Change or delete that file; it is taken over at once.",
        document.name()
    );
    Err(ApiError::new(StatusCode::CONFLICT, "from_file", text))
}

async fn find<T: Document>(state: &ApiState, id: &str) -> Result<T, ApiError> {
    let id = id.to_owned();
    let found = state.shared.store.read(move |db| T::KIND.find::<T>(db, &id)).await?;
    found.ok_or_else(|| ApiError::unknown(T::KIND.as_str()))
}

async fn show<T: Document>(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
) -> Result<Json<T>, ApiError> {
    Ok(Json(find(&state, &id).await?))
}

async fn change<T: Document>(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Path(id): Path<String>,
    Body(patch): Body<Map<String, Value>>,
) -> Result<Json<T>, ApiError> {
    let held: T = find(&state, &id).await?;
    check_source(&held)?;
    let mut fields = match serde_json::to_value(&held) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.extend(patch);
    fields.insert("id".to_owned(), Value::String(id.clone()));
    fields.remove("source");
    let changed: T = serde_json::from_value(Value::Object(fields))
        .map_err(|error| ApiError::bad(format!("The change is not as it should be: {error}.")))?;
    Ok(Json(put(&state, &user.name, id, changed).await?))
}

async fn delete<T: Document>(
    State(state): State<Arc<ApiState>>,
    Caller(user): Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let held: T = find(&state, &id).await?;
    check_source(&held)?;
    let note = audit(&state, &user.name, &format!("{}.delete", T::KIND.as_str()), &id);
    let found = state
        .shared
        .store
        .write(move |db| {
            note.insert(db)?;
            T::KIND.delete(db, &id)
        })
        .await?;
    state.shared.tell(News::documents());
    if found { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::unknown(T::KIND.as_str())) }
}

/// Where files are read from, and what is wrong with them.
pub(crate) async fn files(State(state): State<Arc<ApiState>>) -> Json<DocumentFiles> {
    let problems = state.shared.problems.borrow().as_ref().clone();
    let directory = state.shared.store.directory().display().to_string();
    Json(DocumentFiles { directory, problems })
}
