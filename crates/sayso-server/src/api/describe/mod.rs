//! What the API is, for programs, out of the code itself: an address is described by the types that its handler takes and
//! gives.
//!
//! INVARIANT: there is no address without a description. Both come from one table ([`super::addresses`]), and who may ask,
//! which parameters and what body are understood, and what is answered come from the handler's signature.

mod answer;
mod document;
mod part;

pub(crate) use answer::DescribesAnswer;
pub(crate) use document::document;
pub(crate) use part::Part;

use crate::app::App;
use axum::routing::MethodRouter;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::{Ref, RefOr, Schema};

/// One method of one address.
pub(crate) struct Address {
    pub(crate) path: &'static str,
    /// In lower case.
    pub(crate) method: &'static str,
    pub(crate) routing: MethodRouter<Arc<App>>,
    /// What generated clients call it.
    pub(crate) name: &'static str,
    /// What it does, line by line. The first is its summary.
    pub(crate) words: &'static [&'static str],
    /// Refusals that are its own, by their status.
    pub(crate) refuses: &'static [u16],
    /// What the handler's signature says.
    pub(crate) describe: fn(&mut Described),
}

impl Address {
    /// Whether its handler takes parameters.
    pub(crate) fn takes_parameters(&self) -> bool {
        let described = document::describe(self);
        let all = described.operation.get("parameters").and_then(Value::as_array);
        all.into_iter().flatten().any(|parameter| parameter.get("in").and_then(Value::as_str) == Some("query"))
    }
}

/// Rows of the table: the words, the method, the address, the name for clients, the handler, and which refusals are its
/// own.
macro_rules! addresses {
    ($($(#[doc = $words:literal])+ $method:ident $path:literal $name:ident => $($handler:ident)::+ $(, refuses $($status:literal)+)?;)+) => {
        vec![$($crate::api::describe::Address {
            path: $path,
            method: stringify!($method),
            routing: axum::routing::$method($($handler)::+),
            name: stringify!($name),
            words: &[$($words),+],
            refuses: &[$($($status),+)?],
            describe: $crate::api::describe::signature(&$($handler)::+),
        }),+]
    };
}
pub(super) use addresses;

/// A handler, described by its arguments and its answer.
pub(crate) trait Handles<Arguments> {
    fn describe(described: &mut Described);
}

macro_rules! handles {
    ($($part:ident)*) => {
        impl<F, Told, Says, $($part),*> Handles<($($part,)*)> for F
        where
            F: Fn($($part),*) -> Told,
            Told: Future<Output = Says>,
            Says: DescribesAnswer,
            $($part: Part),*
        {
            fn describe(described: &mut Described) {
                $($part::describe(described);)*
                Says::describe(described);
            }
        }
    };
}
handles!();
handles!(A);
handles!(A B);
handles!(A B C);
handles!(A B C D);
handles!(A B C D E);
handles!(A B C D E G);

/// What the signature of a handler says of its address.
pub(crate) fn signature<F: Handles<Arguments>, Arguments>(_: &F) -> fn(&mut Described) {
    F::describe
}

/// Schemas by their names.
type Schemas = BTreeMap<String, Value>;

/// An address on its way into the description.
pub(crate) struct Described {
    path: &'static str,
    operation: Map<String, Value>,
    /// Everything that bodies of requests are made of.
    asked: Schemas,
    /// Everything that answers are made of.
    told: Schemas,
}

impl Described {
    /// Who may ask, in words.
    pub(crate) fn is_for(&mut self, who: &str) {
        self.needs_token();
        self.operation.insert("description".to_owned(), json!(format!("For: {who}.")));
    }

    /// Nothing without a token.
    pub(crate) fn needs_token(&mut self) {
        self.operation.insert("security".to_owned(), json!([{"token": []}]));
    }

    fn add_parameter(&mut self, parameter: Value) {
        if let Some(all) = self.operation.entry("parameters").or_insert_with(|| json!([])).as_array_mut() {
            all.push(parameter);
        }
    }

    fn add_body<T: ToSchema>(&mut self) {
        let schema = named::<T>(&mut self.asked);
        let body = json!({"required": true, "content": {"application/json": {"schema": schema}}});
        self.operation.insert("requestBody".to_owned(), body);
        for status in [408, 413, 415] {
            self.add_refusal(status);
        }
    }

    /// An answer of JSON. Its words are those of its type.
    pub(crate) fn add_answer<T: ToSchema>(&mut self, status: u16) {
        let words = document::words_of(&T::schema());
        let schema = named::<T>(&mut self.told);
        self.add_response(status, json!({"description": words, "content": {"application/json": {"schema": schema}}}));
    }

    /// An answer of text, in one of these types.
    pub(crate) fn add_text(&mut self, words: &str, types: &[&str]) {
        let content: Map<String, Value> =
            types.iter().map(|kind| ((*kind).to_owned(), json!({"schema": {"type": "string"}}))).collect();
        self.add_response(200, json!({"description": words, "content": content}));
    }

    /// A refusal: the same body for all of them.
    fn add_refusal(&mut self, status: u16) {
        self.add_response(status, json!({"$ref": "#/components/responses/Error"}));
    }

    /// Any other answer.
    pub(crate) fn add_response(&mut self, status: u16, response: Value) {
        let responses = self.operation.entry("responses").or_insert_with(|| json!({}));
        if let Some(responses) = responses.as_object_mut() {
            responses.insert(status.to_string(), response);
        }
    }
}

/// A reference to the schema of a type, which is kept with all that it refers to.
fn named<T: ToSchema>(kept: &mut Schemas) -> Value {
    let mut all: Vec<(String, RefOr<Schema>)> = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut all);
    for (name, schema) in all {
        keep(kept, name, json!(schema));
    }
    json!(Ref::from_schema_name(T::name()))
}

/// INVARIANT: two types have two names. `#[schema(as = ..)]` tells them apart.
fn keep(kept: &mut Schemas, name: String, schema: Value) {
    debug_assert!(kept.get(&name).is_none_or(|known| *known == schema), "two types are called {name}");
    kept.insert(name, schema);
}
