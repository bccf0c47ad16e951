//! `/v1/policy`: what is in force, what was, whether a text is in order, and putting one in force.
//!
//! The policy is everybody's: whoever is behind a tenant's wall neither sees nor changes it.

use super::body::{Asks, Body};
use super::describe::{Described, DescribesAnswer};
use super::parameters::{Named, Parameters, blocking};
use super::problem::Problem;
use crate::app::App;
use crate::clock::now_ms;
use crate::error::ApiError;
use crate::who::{Admin, Owner};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use sayso_gate::audit::{Kind, Log, PolicyVersion, Query};
use sayso_gate::history::{Answers, Flips, PastCall, tried};
use sayso_gate::policy::{self, Putting};
use sayso_gate::{Error, InForce, ProcessEnvironment, RealFiles};
use sayso_policy::{Facts, Layer, PolicyText, Verdict, presets, text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Where.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Where {
    /// The folder whose policy is meant; where the server was started unless it is said.
    #[param(value_type = Option<String>)]
    workspace: Option<PathBuf>,
}

/// The policy in force.
#[derive(Serialize, ToSchema)]
#[schema(as = Policy)]
pub(super) struct Shown {
    version: String,
    /// The folder it is in force for.
    workspace: String,
    /// Named on the command line: it cannot be changed here.
    fixed: bool,
    /// In order: what a managed file says counts for those below it.
    files: Vec<File>,
    /// What the presets say that the files build on.
    presets: Vec<Preset>,
    /// What the owner should know.
    notices: Vec<Notice>,
    /// What no call gets below, because a file that may say so cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<Verdict>,
}

/// One file.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyInForce)]
pub(super) struct File {
    /// `managed`, `user`, `project`, `given`, or a preset by its name.
    layer: String,
    /// As shown to people.
    name: String,
    text: String,
    /// False: only its asks and denies count.
    trusted: bool,
    /// Warnings: a file with errors is not in force.
    problems: Vec<Problem>,
}

/// A preset: rules that come with Sayso.
#[derive(Serialize, ToSchema)]
pub(super) struct Preset {
    name: &'static str,
    text: &'static str,
}

/// Something that the owner should know.
#[derive(Serialize, ToSchema)]
pub(super) struct Notice {
    /// Stable, kebab-case.
    code: String,
    /// A sentence.
    text: String,
    /// The file that it is about, as it stands there and is not in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<File>,
}

/// Shows what is in force, file by file, with what is wrong in its lines.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    _: Owner,
    Parameters(at): Parameters<Where>,
) -> Result<Json<Shown>, ApiError> {
    blocking(move || {
        let workspace = at.workspace.unwrap_or_else(|| PathBuf::from(&app.about.folder));
        if !workspace.is_absolute() {
            return Err(ApiError::malformed("`workspace` must be an absolute path."));
        }
        let in_force = app.gate(Some(&workspace))?.in_force_now();
        let files = in_force.files.iter().map(|file| as_file(file, policy::warnings(file)));
        let notices = in_force.notices.iter().map(|notice| Notice {
            code: notice.reason.code.to_string(),
            text: notice.reason.text.clone(),
            file: notice.text.as_ref().map(|text| as_file(text, notice.problems.clone())),
        });
        Ok(Json(Shown {
            version: in_force.policy.version().to_owned(),
            workspace: workspace.to_string_lossy().into_owned(),
            fixed: app.is_fixed(),
            files: files.collect(),
            presets: presets_of(&in_force.files),
            notices: notices.collect(),
            floor: in_force.floor.as_ref().map(|(verdict, _)| *verdict),
        }))
    })
    .await
}

/// The presets that these files name, each once.
fn presets_of(files: &[PolicyText]) -> Vec<Preset> {
    let read: Vec<text::File> = files.iter().filter_map(|file| text::parse(&file.name, &file.text).ok()).collect();
    let all = || {
        let roles = read.iter().flat_map(|it| it.roles.iter().flat_map(|role| &role.extends));
        read.iter().flat_map(|it| it.extends.iter().chain(&it.enforce)).chain(roles)
    };
    let named = |name: &str| all().any(|it| it.value == name);
    let wanted = presets::NAMES.into_iter().filter(|name| named(name));
    wanted.filter_map(|name| Some(Preset { name, text: presets::text(name)? })).collect()
}

fn as_file(file: &PolicyText, problems: Vec<text::Problem>) -> File {
    File {
        layer: file.layer.to_string(),
        name: file.name.clone(),
        text: file.text.clone(),
        trusted: file.trusted,
        problems: problems.into_iter().map(Problem::from).collect(),
    }
}

/// The text of a policy file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PolicyText)]
pub(super) struct Text {
    text: String,
}

impl Asks for Text {}

/// A text that is to be in force.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PolicyActivation)]
pub(super) struct Activation {
    text: String,
    /// The version that must still be in force: the one that its writer has seen.
    base: Option<String>,
}

impl Asks for Activation {}

/// A version that is to be in force again.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PolicyRollback)]
pub(super) struct Rollback {
    /// Its name, or the beginning of it.
    version: String,
    /// The version that must still be in force: the one that its writer has seen.
    base: Option<String>,
}

impl Asks for Rollback {}

/// Whether a text is in order.
#[derive(Serialize, ToSchema)]
pub(super) struct Validated {
    /// It could be put in force.
    valid: bool,
    problems: Vec<Problem>,
}

/// Says what is wrong with a text as this user's own policy file; the examples of its rules are tried too.
pub(super) async fn validate(
    State(app): State<Arc<App>>,
    _: Admin,
    Body(Text { text }): Body<Text>,
) -> Result<Json<Validated>, ApiError> {
    blocking(move || {
        let in_force = here(&app)?;
        let problems = policy::problems(&app.places, &in_force, &text);
        let valid = problems.iter().all(|problem| problem.warning);
        Ok(Json(Validated { valid, problems: problems.into_iter().map(Problem::from).collect() }))
    })
    .await
}

/// A text to try on the calls of the record.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PolicyTrial)]
pub(super) struct Trial {
    text: String,
    /// Calls since then, in milliseconds since 1970; of the last 30 days unless it is said.
    since: Option<u64>,
}

impl Asks for Trial {}

/// How far back calls are judged where nothing is said.
const TRIED_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// Calls that are judged, the latest first.
const MOST_TRIED: usize = 5_000;

/// What became of trying a text.
pub(super) enum Tried {
    Flips(Box<Flips>),
    Refused(Vec<text::Problem>),
}

impl IntoResponse for Tried {
    fn into_response(self) -> Response {
        match self {
            Self::Flips(flips) => Json(flips).into_response(),
            Self::Refused(problems) => Put::Refused(problems).into_response(),
        }
    }
}

impl DescribesAnswer for Tried {
    fn describe(described: &mut Described) {
        described.add_answer::<Flips>(200);
    }
}

/// Judges the calls of the record by what is in force, and by what would be with this text as the user's own file.
pub(super) async fn try_text(
    State(app): State<Arc<App>>,
    _: Owner,
    Body(Trial { text, since }): Body<Trial>,
) -> Result<Tried, ApiError> {
    blocking(move || {
        app.with_log(Log::fold)?;
        let store = app.store();
        let answers = Answers::of(&*store)?;
        let query = Query {
            kinds: vec![Kind::Decision],
            since_ms: Some(since.unwrap_or_else(|| now_ms().saturating_sub(TRIED_MS))),
            limit: Some(MOST_TRIED),
            ..Query::default()
        };
        let records = store.query(&query)?;
        let whole = records.iter().map(|stored| &stored.record).filter(|record| PastCall::is_whole(record));
        let calls: Vec<PastCall> = whole.map(|it| answers.told(PastCall::recorded(it), it)).collect();
        let facts = Facts { files: &RealFiles, env: &ProcessEnvironment };
        match tried(&app.places, &text, &calls, |workspace| Ok(app.gate(workspace)?.in_force()), facts) {
            Ok(flips) => Ok(Tried::Flips(Box::new(flips))),
            Err(Error::Policy(problems)) => Ok(Tried::Refused(problems)),
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// The versions that judged something.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyVersions)]
pub(super) struct Versions {
    versions: Vec<Version>,
}

/// A version that judged something.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyVersionListed)]
pub(super) struct Version {
    version: String,
    /// When it was first in force, in milliseconds since 1970.
    first_ms: u64,
    /// Whether it is in force where the server was started.
    in_force: bool,
}

/// Lists them, the latest first.
pub(super) async fn versions(State(app): State<Arc<App>>, _: Owner) -> Result<Json<Versions>, ApiError> {
    blocking(move || {
        app.with_log(Log::fold)?;
        let now = here(&app)?.policy.version().to_owned();
        let one = |(version, first_ms)| Version { in_force: version == now, version, first_ms };
        Ok(Json(Versions { versions: app.store().policies()?.into_iter().rev().map(one).collect() }))
    })
    .await
}

/// Compared with what.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Against {
    /// Another version; what is in force where the server was started unless it is said.
    against: Option<String>,
}

/// A version, and how it differs.
#[derive(Serialize, ToSchema)]
pub(super) struct Compared {
    #[serde(flatten)]
    version: PolicyVersion,
    /// The version that it is compared with.
    against: String,
    /// From this one to that one, as a unified diff; empty: nothing changed.
    diff: String,
}

/// Shows a version, by its name or the beginning of it.
pub(super) async fn version(
    State(app): State<Arc<App>>,
    _: Owner,
    Named(name): Named,
    Parameters(asked): Parameters<Against>,
) -> Result<Json<Compared>, ApiError> {
    blocking(move || {
        app.with_log(Log::fold)?;
        let find = |name: &str| policy::find(app.store().as_ref(), name).map_err(no_version);
        let version = find(&name)?;
        let other = match asked.against {
            Some(other) => find(&other)?,
            None => {
                let in_force = here(&app)?;
                PolicyVersion::new(in_force.policy.version(), &in_force.files)
            }
        };
        let diff = policy::difference(&version, &other);
        Ok(Json(Compared { version, against: other.version, diff }))
    })
    .await
}

/// What is in force now.
#[derive(Serialize, ToSchema)]
pub(super) struct Changed {
    version: String,
    /// The file that was written.
    file: String,
    /// Where what stood there before is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

/// What became of a text.
pub(super) enum Put {
    Changed(Changed),
    Refused(Vec<text::Problem>),
}

impl IntoResponse for Put {
    fn into_response(self) -> Response {
        match self {
            Self::Changed(changed) => Json(changed).into_response(),
            Self::Refused(problems) => {
                let error = ApiError::policy_refused();
                let problems = problems.into_iter().map(Problem::from).collect();
                (error.status(), Json(error.with_problems(problems))).into_response()
            }
        }
    }
}

impl DescribesAnswer for Put {
    fn describe(described: &mut Described) {
        described.add_answer::<Changed>(200);
    }
}

/// Puts a text in the place of this user's own policy file.
pub(super) async fn activate(
    State(app): State<Arc<App>>,
    owner: Owner,
    Body(Activation { text, base }): Body<Activation>,
) -> Result<Put, ApiError> {
    put(app, owner, base, move |_| Ok((text, None))).await
}

/// Puts this user's own policy file back to what it was in a version.
pub(super) async fn rollback(
    State(app): State<Arc<App>>,
    owner: Owner,
    Body(Rollback { version: name, base }): Body<Rollback>,
) -> Result<Put, ApiError> {
    put(app, owner, base, move |app| {
        app.with_log(Log::fold)?;
        let version = policy::find(app.store().as_ref(), &name).map_err(no_version)?;
        let own = version.files.into_iter().find(|file| file.layer == Layer::User.to_string());
        let own = own.ok_or_else(|| {
            let file = app.places.shown(&app.places.user);
            let text = format!(
                "In this version the user had no policy file, so there is none to put in place; nothing was changed. \
                 To go back to it, move {file} away."
            );
            ApiError::conflict("nothing-to-restore", &text)
        })?;
        Ok((own.text, Some(version.version)))
    })
    .await
}

async fn put(
    app: Arc<App>,
    Owner(person): Owner,
    base: Option<String>,
    from: impl FnOnce(&App) -> Result<(String, Option<String>), ApiError> + Send + 'static,
) -> Result<Put, ApiError> {
    if app.is_fixed() {
        let text = "This server uses the files named on its command line; change those.";
        return Err(ApiError::conflict("policy-fixed", text));
    }
    let telling = Arc::clone(&app);
    let put = blocking(move || {
        let (text, version) = from(&app)?;
        let putting = Putting { by: &person.name, from: version.as_deref(), base: base.as_deref() };
        let put = match policy::put(&app.places, app.store().as_ref(), Some(folder(&app)), &text, &putting) {
            Ok(put) => put,
            Err(Error::Policy(problems)) => return Ok(Put::Refused(problems)),
            Err(error @ Error::OtherVersion(_)) => {
                let next = "Review it (GET /v1/policy), and send the change again with it as `base`.";
                return Err(ApiError::conflict("policy-changed", &format!("Nothing was written: {error}. {next}")));
            }
            Err(error @ Error::PolicyBusy(_)) => {
                return Err(ApiError::conflict("policy-busy", &format!("Nothing was written: {error}.")));
            }
            Err(error) => return Err(error.into()),
        };
        app.renew();
        let changed = Changed {
            version: put.in_force.version,
            file: app.places.shown(&app.places.user),
            before: put.before.map(|path| app.places.shown(&path)),
        };
        Ok(Put::Changed(changed))
    })
    .await;
    telling.tail.look_now();
    put
}

fn here(app: &App) -> Result<Arc<InForce>, ApiError> {
    Ok(app.gate(Some(folder(app)))?.in_force_now())
}

fn folder(app: &App) -> &Path {
    Path::new(&app.about.folder)
}

fn no_version(error: Error) -> ApiError {
    match error {
        Error::NoVersion(_) => ApiError::no_such("version", "/v1/policy/versions"),
        Error::SeveralVersions(_) => ApiError::conflict("several-versions", "Several versions start with this."),
        error => error.into(),
    }
}
