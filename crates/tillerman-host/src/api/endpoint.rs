//! The table of endpoints: one row says what the router does, who may use it and how it is described.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Query as AxumQuery, Request};
use axum::handler::Handler;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use crate::access::{Role, User};
use crate::api::error::ApiError;
use crate::api::gate::Visitor;
use crate::api::routes::ApiState;

/// Writes the schema of one type.
pub(crate) type SchemaWriter = fn(&mut SchemaGenerator) -> Schema;

/// The largest body of a request that carries no files.
const LARGEST_BODY: usize = 1024 * 1024;

/// One endpoint.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) role: Role,
    pub(crate) status: u16,
    pub(crate) query: Option<SchemaWriter>,
    pub(crate) body: Option<SchemaWriter>,
    pub(crate) answer: Option<SchemaWriter>,
    handler: MethodRouter<Arc<ApiState>>,
    largest_body: usize,
}

impl Endpoint {
    fn new<H, T>(method: (&'static str, MethodFilter), path: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<ApiState>>,
        T: 'static,
    {
        let role = if method.0 == "get" { Role::Viewer } else { Role::Owner };
        Self {
            method: method.0,
            path,
            summary: "",
            role,
            status: 200,
            query: None,
            body: None,
            answer: None,
            handler: on(method.1, handler),
            largest_body: LARGEST_BODY,
        }
    }

    /// Reads; everybody may.
    pub(crate) fn get<H: Handler<T, Arc<ApiState>>, T: 'static>(path: &'static str, it: H) -> Self {
        Self::new(("get", MethodFilter::GET), path, it)
    }

    /// Does something; owners may.
    pub(crate) fn post<H: Handler<T, Arc<ApiState>>, T: 'static>(
        path: &'static str,
        it: H,
    ) -> Self {
        Self::new(("post", MethodFilter::POST), path, it)
    }

    /// Changes something; owners may.
    pub(crate) fn patch<H: Handler<T, Arc<ApiState>>, T: 'static>(
        path: &'static str,
        it: H,
    ) -> Self {
        Self::new(("patch", MethodFilter::PATCH), path, it)
    }

    /// Removes something; owners may.
    pub(crate) fn delete<H: Handler<T, Arc<ApiState>>, T: 'static>(
        path: &'static str,
        it: H,
    ) -> Self {
        Self::new(("delete", MethodFilter::DELETE), path, it)
    }

    pub(crate) fn says(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    pub(crate) fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    pub(crate) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    pub(crate) fn body<T: JsonSchema>(self) -> Self {
        Self { body: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    pub(crate) fn answer<T: JsonSchema>(self) -> Self {
        Self { answer: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    pub(crate) fn largest_body(self, largest_body: usize) -> Self {
        Self { largest_body, ..self }
    }

    /// The handler behind the check of the role.
    pub(crate) fn into_route(self) -> MethodRouter<Arc<ApiState>> {
        let role = self.role;
        let check = move |request: Request, next: Next| require(role, request, next);
        self.handler.layer(DefaultBodyLimit::max(self.largest_body)).layer(from_fn(check))
    }
}

async fn require(role: Role, request: Request, next: Next) -> Response {
    match request.extensions().get::<Visitor>() {
        None => ApiError::unauthorized().into_response(),
        Some(visitor) if visitor.user.role < role => {
            let text = format!(
                "You are a {}, and this is for a {}. Ask an owner of the host.",
                visitor.user.role.as_str(),
                role.as_str()
            );
            ApiError::forbidden(text).into_response()
        }
        Some(_) => next.run(request).await,
    }
}

/// Whoever sent the request.
#[derive(Debug)]
pub(crate) struct Caller(pub(crate) User);

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let visitor = parts.extensions.get::<Visitor>().ok_or_else(ApiError::unauthorized)?;
        Ok(Self(visitor.user.clone()))
    }
}

/// A JSON body.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                let text = "The request is too large.";
                return ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text);
            }
            ApiError::bad("The request could not be read.")
        })?;
        let bytes = if bytes.is_empty() { Bytes::from_static(b"{}") } else { bytes };
        // A list would be read as the fields of an object in their order.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(ApiError::bad("The request is not a JSON object."));
        }
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| ApiError::bad(format!("The request is not as it should be: {error}.")))
    }
}

/// What stands behind the question mark.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let AxumQuery(query) =
            AxumQuery::from_request_parts(parts, state).await.map_err(|error| {
                ApiError::bad(format!("The question is not as it should be: {error}."))
            })?;
        Ok(Self(query))
    }
}
