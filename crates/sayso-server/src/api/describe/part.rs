//! What the arguments of a handler say of its address.

use super::Described;
use super::document::without_null;
use crate::api::body::{Asks, Body, Keys, Short};
use crate::api::parameters::{Named, Parameters};
use crate::app::App;
use crate::who::{Admin, Approver, Bearer, Caller, Owner};
use axum::Extension;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::HeaderMap;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::openapi::path::ParameterIn;
use utoipa::{IntoParams, ToSchema};

/// An argument of a handler.
pub(crate) trait Part {
    /// Most say nothing that a caller must know.
    fn describe(_: &mut Described) {}
}

impl Part for State<Arc<App>> {}
impl Part for HeaderMap {}
impl Part for Extension<Bearer> {}
impl Part for Result<WebSocketUpgrade, WebSocketUpgradeRejection> {}

/// Anybody; who has a token is known by it.
impl Part for Caller {
    fn describe(described: &mut Described) {
        described.operation.insert("security".to_owned(), json!([{}, {"token": []}]));
    }
}

impl Part for Approver {
    fn describe(described: &mut Described) {
        described.is_for("an approver, or an admin");
    }
}

impl Part for Admin {
    fn describe(described: &mut Described) {
        described.is_for("an admin");
    }
}

impl Part for Owner {
    fn describe(described: &mut Described) {
        described.is_for("an admin without a tenant");
    }
}

/// The parameters of the address.
impl<T: IntoParams> Part for Parameters<T> {
    fn describe(described: &mut Described) {
        for parameter in T::into_params(|| Some(ParameterIn::Query)) {
            // Of another tenant nothing is found.
            if parameter.name == "tenant" {
                described.add_refusal(404);
            }
            let mut parameter = json!(parameter);
            // An address cannot say `null`.
            parameter.get_mut("schema").into_iter().for_each(without_null);
            described.add_parameter(parameter);
        }
    }
}

/// The part of the path that names one thing.
impl Part for Named {
    fn describe(described: &mut Described) {
        for name in described.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            described
                .add_parameter(json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
        }
        described.add_refusal(404);
    }
}

impl<T: Asks> Part for Body<T> {
    fn describe(described: &mut Described) {
        described.add_body::<T>();
        let either: Vec<Value> = T::EITHER.iter().map(|keys| json!({"required": keys})).collect();
        if let Some(schema) = described.asked.get_mut(&*T::name())
            && !either.is_empty()
        {
            schema["anyOf"] = json!(either);
        }
    }
}

impl<T: Asks> Part for Short<T> {
    fn describe(described: &mut Described) {
        Body::<T>::describe(described);
    }
}

impl<T: ToSchema> Part for Keys<T> {
    fn describe(described: &mut Described) {
        described.add_body::<T>();
        described.asked.get_mut(&*T::name()).into_iter().for_each(with_nothing_else);
    }
}

/// What is made of several types has no other keys than theirs.
fn with_nothing_else(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if object.contains_key("$ref") || object.contains_key("allOf") {
        object.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    for within in ["oneOf", "items"] {
        match object.get_mut(within) {
            Some(Value::Array(all)) => all.iter_mut().for_each(with_nothing_else),
            Some(one) if within == "items" && one.get("$ref").is_some() => with_nothing_else(one),
            _ => {}
        }
    }
}
