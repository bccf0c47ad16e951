//! A call in the body of a request, as it is described. It is read key by key in [`sayso_gate::wire`].

use super::batch;
use super::decisions::LONGEST_WAIT;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// One call, or a list of them.
pub(super) struct Calls;

impl PartialSchema for Calls {
    fn schema() -> RefOr<Schema> {
        let call = Ref::from_schema_name(CallBody::name());
        let list = ArrayBuilder::new().items(call.clone()).max_items(Some(batch::MOST));
        OneOfBuilder::new().item(call).item(list).description(Some("One call, or a list of them.")).into()
    }
}

impl ToSchema for Calls {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((CallBody::name().into_owned(), CallBody::schema()));
        CallBody::schemas(schemas);
    }
}

/// A command, or a tool with its arguments. What is not said is not known.
#[derive(ToSchema)]
#[schema(as = Call)]
#[expect(dead_code, reason = "the fields are described, and read one by one")]
pub(super) struct CallBody {
    #[schema(inline)]
    #[serde(flatten)]
    what: What,
    /// Given back as it came.
    id: Option<Value>,
    /// The caller's own id of the call, for the record.
    call_id: Option<String>,
    /// `true`: whoever makes this call runs its command held whole, as `sayso run` does. What is allowed only so is an
    /// allow then, and an ask otherwise.
    can_hold: Option<bool>,
    #[schema(schema_with = wait)]
    wait: Option<Value>,
    /// Absolute.
    cwd: Option<String>,
    /// Absolute; absent: the working directory. The first call of a session fixes it.
    workspace: Option<String>,
    /// Absolute. Where it is not the home of the server's user, `~` means both where a rule asks or denies, and no allow
    /// matches because of it.
    home: Option<String>,
    /// The environment of the call; what it leaves out is as it is where the server runs. What is not the same where the server runs counts as if it were set before
    /// the command, and an answer is bound to it.
    env: Option<BTreeMap<String, String>>,
    /// As the agent reports it. It may only tighten.
    kind: Option<String>,
    context: Option<Context>,
}

/// What is called.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the fields are described, and read one by one")]
enum What {
    Command {
        /// For bash. Bytes that are not UTF-8 are lone surrogates U+DC80 to U+DCFF.
        command: String,
    },
    Tool {
        /// As the caller names it.
        tool: String,
        /// The arguments of the tool; absent: none.
        args: Option<Value>,
    },
}

/// Who asks. Whoever asks with a token asks under its name and tenant, whatever stands here.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are described, and read one by one")]
pub(super) struct Context {
    /// The kind of agent.
    agent: Option<String>,
    /// The model's provider, or `provider/model`.
    provider: Option<String>,
    /// The team.
    group: Option<String>,
    /// The member of that team on whose behalf it acts.
    member: Option<String>,
    tenant: Option<String>,
    session: Option<String>,
    /// The run within the session.
    run: Option<String>,
    /// It was started by another agent.
    subagent: Option<bool>,
    /// Who started it, described the same way; at most 8 deep.
    #[schema(no_recursion)]
    parent: Option<Box<Context>>,
}

fn wait() -> Schema {
    let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(LONGEST_WAIT));
    let words = "Where people must answer: hold this request for so many seconds, or with `true` until the question ends. \
                 With 0 the answer is `ask` with the id of the question at once; the same call passes once it is answered. \
                 Absent: the caller asks somebody itself. In a list only 0.";
    let either = OneOfBuilder::new().item(ObjectBuilder::new().schema_type(Type::Boolean)).item(seconds);
    either.description(Some(words)).into()
}

/// A call to be tried.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the fields are described, and read one by one")]
pub(super) struct Trial {
    #[serde(flatten)]
    call: CallBody,
    /// Whether to look for small changes that would weaken the verdict, which costs more than the decision.
    #[schema(default = true)]
    nearest: Option<bool>,
}
