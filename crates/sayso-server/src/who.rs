//! Who sends a request, and what they may.
//!
//! INVARIANT: how a request came in authorises no answer. A child of the agent is the same user on the same socket.

use crate::app::App;
use crate::error::ApiError;
use crate::guard::WayIn;
use crate::key::Via;
use axum::extract::{FromRequestParts, Request};
use axum::http::header;
use axum::http::request::Parts;
use sayso_gate::approval::Question;
use sayso_gate::audit::Peer;
use sayso_policy::{Actor, Person};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use utoipa::ToSchema;

/// What somebody may, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Ask for decisions and report outcomes.
    Agent,
    /// See and answer the questions that are addressed to them.
    Approver,
    /// Everything, in their tenant.
    Admin,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Approver, Self::Admin];

    /// The lower-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }
}

/// Who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Who that is; `None`: anybody on this machine.
    pub(crate) person: Option<Person>,
    pub(crate) role: Role,
    /// Whose calls they may know of; `None`: everybody's.
    pub(crate) tenant: Option<String>,
    /// How they come in, as it stands in the record of what they do: `page`, `terminal`, `http`, `token alice`.
    pub(crate) via: Cow<'static, str>,
    /// The process that sends, over the socket. It is written down, and opens nothing.
    pub(crate) peer: Option<Peer>,
}

impl Caller {
    /// Anybody on this machine.
    pub(crate) fn anybody() -> Self {
        Self { person: None, role: Role::Agent, tenant: None, via: Cow::Borrowed("http"), peer: None }
    }

    /// Whoever holds the key that the terminal showed.
    pub(crate) fn owner(name: &str, via: Via) -> Self {
        let via = Cow::Borrowed(via.as_str());
        Self { person: Some(Person::named(name)), role: Role::Admin, tenant: None, via, peer: None }
    }

    /// Who asks, as far as that is known: a session belongs to them.
    fn asker(&self) -> String {
        match (&self.person, &self.peer) {
            (Some(person), _) if self.role == Role::Admin && !self.via.starts_with("token ") => {
                format!("owner {}", person.name)
            }
            (Some(person), _) => format!("token {}", person.name),
            (None, Some(peer)) => format!("user {}", peer.uid),
            (None, None) => "anybody".to_owned(),
        }
    }

    /// Whoever has a token asks under its name and tenant, whatever the body says.
    pub(crate) fn sign(&self, actor: &mut Actor) {
        actor.asker = Some(self.asker());
        if let Some(person) = &self.person {
            actor.agent = Some(person.name.clone());
            if self.tenant.is_some() {
                actor.tenant.clone_from(&self.tenant);
            }
        }
    }

    /// Whether what belongs to this actor is on their side of the wall.
    pub(crate) fn is_of_their_tenant(&self, actor: &Actor) -> bool {
        self.tenant.is_none() || self.tenant == actor.tenant
    }

    /// Whether a question was put under the name of their token.
    pub(crate) fn asked(&self, question: &Question) -> bool {
        let name = self.person.as_ref().map(|person| person.name.as_str());
        let proven = !question.actor.is_claimed();
        proven && name.is_some() && name == question.actor.agent.as_deref() && self.is_of_their_tenant(&question.actor)
    }

    /// Whether they may see a question whole.
    pub(crate) fn may_see(&self, question: &Question) -> bool {
        let addressed = || self.person.as_ref().is_some_and(|person| question.may_be_answered_by(person));
        self.is_of_their_tenant(&question.actor)
            && match self.role {
                Role::Agent => false,
                Role::Approver => addressed(),
                Role::Admin => true,
            }
    }
}

/// The token that a request came with; empty without one.
#[derive(Clone)]
pub(crate) struct Bearer(pub(crate) Arc<str>);

/// Finds out who sends a request. A token that is not good is refused, and not taken for none.
pub(crate) fn identify(app: &App, way_in: WayIn, request: &mut Request) -> Result<(), ApiError> {
    let (mut caller, bearer) = match request.headers().get(header::AUTHORIZATION) {
        None if way_in.needs_token() && !signs_in_later(request) => Err(ApiError::no_token()),
        None => Ok((Caller::anybody(), Bearer(Arc::default()))),
        Some(value) => {
            let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
            app.caller(token, Instant::now()).map(|caller| (caller, Bearer(token.into())))
        }
    }?;
    caller.peer = request.extensions().get::<Peer>().cloned();
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(bearer);
    Ok(())
}

/// Whether a request is for what everybody may know, or brings what it signs in with in another way.
fn signs_in_later(request: &Request) -> bool {
    match request.uri().path() {
        "/v1/health" | "/v1/session" | "/v1/links/question" | "/v1/links/answer" => true,
        "/v1/stream" => request.headers().contains_key(header::UPGRADE),
        _ => false,
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Whoever was not identified is nobody.
        parts.extensions.get::<Self>().cloned().ok_or_else(ApiError::signed_out)
    }
}

/// Somebody who may answer questions: an approver or an admin.
pub(crate) struct Approver {
    pub(crate) caller: Caller,
    pub(crate) person: Person,
}

impl<S: Sync> FromRequestParts<S> for Approver {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Caller::from_request_parts(parts, state).await?.try_into()
    }
}

impl TryFrom<Caller> for Approver {
    type Error = ApiError;

    fn try_from(caller: Caller) -> Result<Self, ApiError> {
        let caller = at_least(Role::Approver, caller)?;
        let person = caller.person.clone().ok_or_else(ApiError::signed_out)?;
        Ok(Self { caller, person })
    }
}

/// Somebody who may see the record and change what is remembered.
pub(crate) struct Admin(pub(crate) Caller);

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        at_least(Role::Admin, Caller::from_request_parts(parts, state).await?).map(Self)
    }
}

/// Somebody whom no tenant's wall stops: the owner, or an admin of everything.
pub(crate) struct Owner(pub(crate) Person);

impl<S: Sync> FromRequestParts<S> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = at_least(Role::Admin, Caller::from_request_parts(parts, state).await?)?;
        match (caller.tenant, caller.person) {
            (None, Some(person)) => Ok(Self(person)),
            _ => Err(ApiError::not_yours()),
        }
    }
}

fn at_least(role: Role, caller: Caller) -> Result<Caller, ApiError> {
    match &caller.person {
        None => Err(ApiError::signed_out()),
        Some(_) if caller.role < role => Err(ApiError::not_yours()),
        Some(_) => Ok(caller),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_tenant_a(name: &str, role: Role) -> Caller {
        let (person, tenant) = (Some(Person::named(name)), Some("a".to_owned()));
        Caller { person, role, tenant, via: Cow::Borrowed("http"), peer: None }
    }

    #[test]
    fn a_token_signs_what_it_asks_for() {
        let bot = with_tenant_a("bot", Role::Agent);
        let mut actor = Actor { agent: Some("alice".to_owned()), tenant: Some("b".to_owned()), ..Actor::default() };
        bot.sign(&mut actor);
        assert_eq!((actor.agent.as_deref(), actor.tenant.as_deref()), (Some("bot"), Some("a")));
        let mut actor = Actor { agent: Some("coder".to_owned()), ..Actor::default() };
        Caller::anybody().sign(&mut actor);
        assert_eq!(actor.agent.as_deref(), Some("coder"));
    }

    #[test]
    fn a_tenant_is_a_wall_also_for_an_admin() {
        let admin = with_tenant_a("x", Role::Admin);
        let of = |tenant: Option<&str>| Actor { tenant: tenant.map(str::to_owned), ..Actor::default() };
        assert!(admin.is_of_their_tenant(&of(Some("a"))));
        assert!(!admin.is_of_their_tenant(&of(Some("b"))));
        assert!(!admin.is_of_their_tenant(&of(None)));
        assert!(Caller::owner("x", Via::Page).is_of_their_tenant(&of(Some("b"))));
    }
}
