//! The model a session begins with, and who answers for it and all others.

use std::sync::Arc;

use tillerman_config::Layers;
use tillerman_models::catalog::DEFAULT_MODEL;
use tillerman_models::openai::{ProviderKind, provider_for};
use tillerman_models::rehearsal::RehearsalNote;
use tillerman_ports::Model;
use tillerman_protocol::catalog::Catalog;

use crate::credentials::Credentials;
use crate::environment::Environment;
use crate::order::SessionOrder;
use crate::provider::{Router, WithoutCredentials};

/// The name of the offline model.
pub(crate) const REHEARSAL: &str = "rehearsal";

/// Chooses the model by order, environment and settings.
pub(crate) fn choose_model(
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
    credentials: &Credentials,
    catalog: &Catalog,
) -> (String, Arc<dyn Model>) {
    let mut model_name = model_name(order, environment, layers, catalog);
    if let Some(model) = &order.parts.model {
        return (model_name, Arc::clone(model));
    }
    let without = order.model.without_credentials;
    let rehearses = without == WithoutCredentials::Rehearse
        && credentials.anthropic.is_none()
        && provider_for(&model_name, environment.get("OPENAI_BASE_URL").as_deref())
            == ProviderKind::Anthropic;
    if rehearses {
        // Under its own name, so that nobody is billed for what no model said.
        REHEARSAL.clone_into(&mut model_name);
    }
    let note = if rehearses { RehearsalNote::NoKey } else { RehearsalNote::ChosenByName };
    let connections = order.parts.connections.clone();
    let router = Router::new(environment, credentials, without, note, connections);
    (model_name, Arc::new(router))
}

fn model_name(
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
    catalog: &Catalog,
) -> String {
    let named = order.model.model.clone().or_else(|| environment.get("ANTHROPIC_MODEL"));
    let named = named.or_else(|| layers.strongest(|settings| settings.model.clone()));
    let named = named.or_else(|| environment.get("ANTHROPIC_DEFAULT_MODEL"));
    catalog.resolve(named.as_deref().unwrap_or(DEFAULT_MODEL)).to_owned()
}
