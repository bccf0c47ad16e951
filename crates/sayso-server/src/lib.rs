//! The HTTP API and the embedded page.
//!
//! A thin way in: bodies become tool calls, the gate judges and records them, answers go back. Only what concerns the
//! server itself is recorded here: tokens, and that it was started, stopped and signed in to.
//!
//! INVARIANT: plain text only on the loopback interface and a socket of the owner's, TLS and tokens beyond; nothing across origins; a GET changes nothing.

mod answer;
mod api;
mod app;
mod attendance;
mod bounds;
mod client;
mod clock;
mod connection;
mod door;
mod error;
mod follow;
mod guard;
mod judges;
mod key;
mod link;
mod metrics;
mod only;
mod owned;
mod page;
mod remote;
mod server;
mod site;
mod slow_clients;
mod tail;
mod tls;
mod token;
mod told;
mod typed;
mod waiting;
mod watch;
mod webhook;
mod who;

pub use app::{About, HeldAgent, HoldStatus, enforcing, in_words};
pub use client::{ClientError, Running, SignedIn};
pub use error::Error;
pub use server::{Announce, Beyond, Listening, News, Options, serve};
pub use tls::Certificate;
pub use token::{Token, TokenError, Tokens};
pub use webhook::Webhook;
pub use who::Role;
