//! `sayso token`: who else may ask, and answer, over the server.

use crate::command::log::time::{now_ms, shown as time, span};
use crate::failure::{Failure, Outcome};
use crate::operator;
use crate::show::paint::Paint;
use crate::show::table::Table;
use sayso_gate::{Home, Places};
use sayso_policy::explain::visible;
use sayso_server::{Role, TokenError, Tokens};
use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

/// Create, list and revoke tokens for the server.
///
/// A token has a name and one role: agent (ask, report), approver (see and answer calls addressed to it), or admin
/// (everything in its tenant). It is shown once; only its hash is stored. Anyone who can write to Sayso's folder could
/// add one, so a server accepts tokens for asking only, unless it is started with `--trust-store-tokens`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso token create worker-1
  sayso token create alice --role approver --group sso:leads --expires 30d
  sayso token create acme-admin --role admin --tenant acme
  sayso token list
  sayso token revoke worker-1")]
pub(crate) struct Token {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Create a token and show it once
    Create {
        /// Name of its holder, used in decisions and answers
        name: String,
        /// agent, approver or admin
        #[arg(long, value_parser = ["agent", "approver", "admin"], default_value = "agent")]
        role: String,
        /// Only for this tenant
        #[arg(long)]
        tenant: Option<String>,
        /// A group named as approvers in policies, such as sso:leads
        #[arg(long = "group", value_name = "GROUP")]
        groups: Vec<String>,
        /// Time from now: 8h, 30d
        #[arg(long, value_name = "TIME", value_parser = span, default_value = "90d")]
        expires: Duration,
    },
    /// List tokens
    List {
        /// Include those that expired or were revoked
        #[arg(long)]
        all: bool,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token immediately
    Revoke {
        /// Its name
        name: String,
    },
}

/// Runs it.
pub(crate) fn run(command: &Token) -> Outcome {
    let places = Places::find(Home::Environment)?;
    let tokens = Tokens::of(&places).map_err(failure)?;
    let mut out = stdout().lock();
    match &command.action {
        Action::Create { name, role, tenant, groups, expires } => {
            let role = Role::ALL.into_iter().find(|it| it.as_str() == role).unwrap_or(Role::Agent);
            let ends = now_ms().saturating_add(u64::try_from(expires.as_millis()).unwrap_or(u64::MAX));
            let whose = tenant.as_ref().map(|tenant| format!(" in {}", visible(tenant))).unwrap_or_default();
            let what = format!(
                "A token will be created for {}: {}{whose}, until {}",
                visible(name),
                role.as_str(),
                time(ends)
            );
            let person = operator::confirmed(&places, &what)?;
            let secret = tokens
                .changed_by(&person.name)
                .create(name, role, tenant.clone(), groups.clone(), ends)
                .map_err(failure)?;
            writeln!(out, "{secret}")?;
        }
        Action::List { all, json } => {
            let found = tokens.all().map_err(failure)?;
            let mut table = Table::new(["name", "role", "tenant", "groups", "until"]);
            let mut none = true;
            for token in found.iter().filter(|token| *all || token.is_good(now_ms())) {
                none = false;
                if *json {
                    // Everything but the hash.
                    let mut value = serde_json::to_value(token)?;
                    value.as_object_mut().map(|object| object.remove("hash"));
                    writeln!(out, "{value}")?;
                    continue;
                }
                let ends = match token.revoked_ms {
                    Some(at) => format!("revoked {}", time(at)),
                    None => time(token.expires_ms),
                };
                table.row([
                    visible(&token.name).into_owned(),
                    token.role.as_str().to_owned(),
                    visible(token.tenant.as_deref().unwrap_or("all")).into_owned(),
                    visible(&token.groups.join(", ")).into_owned(),
                    ends,
                ]);
            }
            match (none, json) {
                (true, false) => writeln!(out, "No tokens in force. Create one with `sayso token create NAME`.")?,
                (false, false) => write!(out, "{}", table.draw(Paint::for_stdout()))?,
                _ => {}
            }
        }
        Action::Revoke { name } => {
            let person = operator::confirmed(&places, &format!("The token {} will be revoked", visible(name)))?;
            tokens.changed_by(&person.name).revoke(name).map_err(failure)?;
            writeln!(out, "Revoked.")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn failure(error: TokenError) -> Failure {
    match error {
        TokenError::Gate(error) => error.into(),
        error => Failure::wrong(format!("error: {error}")),
    }
}
