//! `sayso serve`: the API and the page.

use crate::choice::PolicyChoice;
use crate::failure::{Failure, Outcome};
use crate::judge::refused;
use crate::operator;
use crate::show::agents::{self, Found};
use crate::show::paint::Paint;
use rustix::fs::FileType;
use sayso_gate::audit::{Log, Query};
use sayso_gate::{EffectiveMode, Home, InForce, Places, anchored};
use sayso_policy::Person;
use sayso_policy::explain::visible;
use sayso_server::{About, Beyond, Certificate, Error, Listening, News, Options, Webhook, enforcing, in_words};
use std::io::{Write as _, stdout};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

/// Serve the API and the web page on this machine: decisions as they are made, pending calls, and a place to try
/// commands.
///
/// It listens on 127.0.0.1 and on a socket in Sayso's own folder. The page's address contains a key that works once and
/// is never written to disk. Press Ctrl-C to stop. To let others connect, give an address and a certificate; then
/// everything except the page itself needs a token (`sayso token create`).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sayso serve
  sayso serve --port 7272
  sayso serve --webhook https://chat.example/hooks/sayso
  sayso serve --address 0.0.0.0:7171 --tls-cert gate.pem --tls-key gate.key --host gate.example
  curl -s localhost:7171/v1/decisions -H 'Content-Type: application/json' -d '{\"command\": \"git push\"}'")]
pub(crate) struct Serve {
    /// Port on 127.0.0.1; 0 picks a free one
    #[arg(long, value_name = "PORT", default_value_t = sayso_gate::PORT)]
    port: u16,
    /// Listen on this address instead; beyond this machine that needs --tls-cert, --tls-key and --host
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "port")]
    address: Option<SocketAddr>,
    /// Certificate chain, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Host name of this server, as in its certificate; repeatable
    #[arg(long, value_name = "NAME", requires = "tls_cert")]
    host: Vec<String>,
    /// Also send pending calls to this URL, each with a one-time link to answer it; for a person, `alice=https://...`,
    /// otherwise for you
    #[arg(long, value_name = "[NAME=]URL", value_parser = webhook)]
    webhook: Vec<Webhook>,
    /// The same for a service that answers automatically; its answers are recorded as automated
    #[arg(long, value_name = "NAME=URL", value_parser = automated_webhook)]
    automated_webhook: Vec<Webhook>,
    /// Additional certificate authorities to trust for webhooks, as PEM
    #[arg(long, value_name = "FILE")]
    webhook_ca: Option<PathBuf>,
    /// Append a signed head of the record to this file every minute; use a mount or pipe that agents cannot write
    #[arg(long, value_name = "FILE")]
    anchor: Option<PathBuf>,
    /// Home folder whose policy and record to use [default: $HOME]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Accept tokens for answering too, not only for asking; only if no agent can write to Sayso's folder
    #[arg(long)]
    trust_store_tokens: bool,
    #[command(flatten)]
    policy: PolicyChoice,
}

/// Runs it.
pub(crate) fn run(serve: &Serve) -> Outcome {
    operator::keep_memory_closed();
    let places = Places::find(serve.home.as_deref().map_or(Home::Environment, Home::At))?;
    if let Some(anchor) = &serve.anchor {
        // Before the policy is loaded, which says what no call may touch.
        anchored::note(&places, anchor)?;
    }
    let given = serve.policy.texts()?;
    let here = std::env::current_dir()?;
    let in_force = if given.is_empty() {
        InForce::load(&places, Some(&here)).map_err(refused)?
    } else {
        serve.policy.policy()?;
        InForce::given(given.clone()).map_err(refused)?
    };
    let files = in_words(&in_force.files);
    let enforcing = enforcing(&EffectiveMode::now(&places, &in_force), &files);
    let notices: Vec<String> = in_force.notices.iter().map(|notice| notice.reason.text.clone()).collect();
    let decisions = Log::open(&places)?.count(&Query::default())?;
    let found = agents::find(&places);
    let next = next(&found);
    let about = About {
        trust_tokens: serve.trust_store_tokens,
        folder: here.to_string_lossy().into_owned(),
        owner: operator::user_name(),
        next: next.to_owned(),
        anchor: serve.anchor.clone(),
        hold: Some(crate::command::doctor::hold_status),
    };
    let told = webhooks(serve).into_iter().map(|webhook| (webhook.person, webhook.url)).collect();
    let intro = Intro { told, enforcing, notices, decisions, state: places.shown(&places.state), found, next };
    let address = serve.address.unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), serve.port));
    let beyond = match (&serve.tls_cert, &serve.tls_key) {
        (Some(chain), Some(key)) => Some(Beyond {
            certificate: Certificate { chain: chain.clone(), key: key.clone() },
            hosts: serve.host.clone(),
        }),
        _ => None,
    };
    let options = Options {
        places,
        policy: given,
        address,
        beyond,
        webhooks: webhooks(serve),
        webhook_authority: serve.webhook_ca.clone(),
        about,
        ready: Box::new(move |listening| say(&intro.text(Paint::for_stdout(), listening))),
        announce: Box::new(move |listening, news| {
            say(&match Page::of(listening, is_written_down()) {
                Page { key: true, link } => format!("\n  {} {link}\n", why(news)),
                Page { .. } => format!("\n  {} not written to a log.\n", why(news)),
            });
        }),
        report: Box::new(|sentence| say(&format!("\n  {}\n", visible(sentence)))),
    };
    sayso_server::serve(options).map_err(|error| failure(error, address))?;
    say("\nStopped.\n");
    Ok(ExitCode::SUCCESS)
}

fn why(news: News) -> &'static str {
    match news {
        News::Used => "used. Next one:",
        News::Guessed => "someone is guessing keys. For the next minute only this one works:",
    }
}

/// `alice=https://chat.example/hook`, or the address alone.
fn webhook(text: &str) -> Result<Webhook, String> {
    let (name, url) = match text.split_once('=') {
        Some((name, url)) if !name.contains([':', '/']) => (name, url),
        _ => ("", text),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    if name.len() > 64 || !name.chars().all(plain) {
        return Err("a name may contain only letters, digits and . _ - @".to_owned());
    }
    Ok(Webhook { person: Person::named(name), url: url.to_owned() })
}

fn automated_webhook(text: &str) -> Result<Webhook, String> {
    let mut webhook = webhook(text)?;
    if webhook.person.name.is_empty() {
        return Err("name the service: NAME=URL".to_owned());
    }
    webhook.person.automated = true;
    Ok(webhook)
}

fn webhooks(serve: &Serve) -> Vec<Webhook> {
    let mut all = [&serve.webhook[..], &serve.automated_webhook[..]].concat();
    for webhook in all.iter_mut().filter(|webhook| webhook.person.name.is_empty()) {
        webhook.person.name = operator::user_name();
    }
    all
}

/// The terminal may be closed; the server goes on.
fn say(text: &str) {
    let _ = stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush());
}

/// Where the page is. With its key, unless what is said here is written down: a log is a file too.
struct Page {
    link: String,
    key: bool,
}

impl Page {
    fn of(Listening { page, key, .. }: &Listening, written_down: bool) -> Self {
        let link = if written_down { format!("{page}/") } else { format!("{page}/#k={key}") };
        Self { link, key: !written_down }
    }

    /// What to do with it.
    fn says(&self) -> &'static str {
        match self.key {
            true => "works once and signs this browser in",
            false => "the key is not written to a log; run `sayso serve` in a terminal to see it",
        }
    }
}

/// Whether standard output goes to a file, or to the journal, which says which of its sockets this is.
fn is_written_down() -> bool {
    rustix::fs::fstat(stdout()).is_ok_and(|stat| match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => true,
        FileType::Socket => {
            std::env::var("JOURNAL_STREAM").is_ok_and(|it| it == format!("{}:{}", stat.st_dev, stat.st_ino))
        }
        _ => false,
    })
}

fn failure(error: Error, address: SocketAddr) -> Failure {
    match error {
        Error::Taken(_) => Failure::wrong(format!(
            "error: {address} is in use by another program\n\n  Stop it, or use another port: sayso serve --port {}",
            address.port().checked_add(1).unwrap_or(sayso_gate::PORT)
        )),
        Error::Running(_) => {
            Failure::wrong(format!("error: {error}\n\n  Use its page, or stop it first to start a new one."))
        }
        Error::NotLoopback(_) => Failure::wrong(format!(
            "error: {error}\n\n  sayso serve --address {address} --tls-cert FILE --tls-key FILE --host NAME"
        )),
        Error::Host(_) | Error::Certificate(..) | Error::Webhook(..) => Failure::wrong(format!("error: {error}")),
        Error::Gate(error) => refused(error),
        error => Failure::Internal(error.into()),
    }
}

fn next(found: &[Found]) -> &'static str {
    if found.iter().all(|agent| agent.guarded) && !found.is_empty() {
        "sayso check 'git push --force'"
    } else {
        "sayso install claude-code"
    }
}

/// What `serve` says when it is ready.
struct Intro {
    /// Who is told of questions, and where.
    told: Vec<(Person, String)>,
    enforcing: String,
    notices: Vec<String>,
    decisions: u64,
    state: String,
    found: Vec<Found>,
    next: &'static str,
}

impl Intro {
    fn text(&self, paint: Paint, listening: &Listening) -> String {
        let first = if self.enforcing == "enforcing preset developer" {
            "  (no policy file yet; `sayso init` creates one)"
        } else {
            ""
        };
        let mut text = format!("{} {}  {}{first}\n\n", paint.bold("sayso"), env!("CARGO_PKG_VERSION"), self.enforcing);
        for notice in &self.notices {
            text.push_str(&format!("  note     {}\n", visible(notice)));
        }
        let page = Page::of(listening, is_written_down());
        let decisions = match self.decisions {
            1 => "1 decision".to_owned(),
            count => format!("{count} decisions"),
        };
        let width = page.link.len();
        text.push_str(&format!("  page     {}    {}\n", page.link, page.says()));
        text.push_str(&format!("  record   {:<width$}    {decisions}\n", self.state));
        for (person, url) in &self.told {
            text.push_str(&format!(
                "  webhook  {}    for {person}, signed with {}/webhook-secret\n",
                visible(url),
                self.state
            ));
        }
        if !self.found.is_empty() {
            text.push_str("\n  agents on this machine\n");
            let width = self.found.iter().map(|agent| agent.title().len()).max().unwrap_or(0);
            for agent in &self.found {
                let guarded =
                    if agent.guarded { "guarded".to_owned() } else { format!("not guarded    {}", agent.install()) };
                text.push_str(&format!("    {:<width$}   {guarded}\n", agent.title()));
            }
        }
        if self.next.starts_with("sayso install") {
            text.push_str(&format!(
                "\nNext:  {}     shows the change first; `sayso uninstall` undoes it exactly\n",
                self.next
            ));
        } else {
            text.push_str(&format!("\nNext:  {}     see the decision and the reasons\n", self.next));
        }
        text
    }
}
