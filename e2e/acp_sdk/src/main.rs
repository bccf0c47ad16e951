//! The official Rust SDK around `sayso acp`: as the client, as the agent, and as the conductor of a chain in which
//! Sayso is a component.
//!
//! usage: acp-sdk-peers PATH-TO-SAYSO; started with `agent` it is the agent

mod agent;
mod client;

use agent_client_protocol::{AcpAgent, AcpAgentConfig};
use std::path::{Path, PathBuf};

const POLICY: &str = r#"
[allow]
run = ["touch"]
write = ["./**"]

[ask]
run = ["mkdir"]

[deny]
run = ["rm"]
"#;

#[tokio::main]
async fn main() {
    let argument = std::env::args().nth(1).expect("usage: acp-sdk-peers PATH-TO-SAYSO");
    if argument == "agent" {
        agent::run().await.expect("the agent ends well");
        return;
    }
    let sayso = PathBuf::from(argument).canonicalize().expect("sayso is there");
    let mut failed = 0;
    for (name, chain) in [("SDK client and agent", false), ("SDK conductor, Sayso as a component", true)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let work = tokio::time::timeout(std::time::Duration::from_secs(60), client::check(&sayso, folder.path(), chain));
        match work.await {
            Ok(Ok(())) => println!("ok      {name}"),
            Ok(Err(why)) => {
                failed += 1;
                println!("FAILED  {name}: {why}");
            }
            Err(_) => {
                failed += 1;
                println!("FAILED  {name}: it hangs");
            }
        }
    }
    println!("{} passed, {failed} failed", 2 - failed);
    std::process::exit(i32::from(failed > 0));
}

/// `sayso acp`, with an agent behind it or as a component.
pub(crate) fn sayso_acp(sayso: &Path, folder: &Path, agent: Option<&Path>) -> AcpAgent {
    let policy = folder.join("policy.toml");
    std::fs::write(&policy, POLICY).expect("the policy is written");
    let mut config = AcpAgentConfig::new(sayso).arg("acp").arg("--policy").arg(policy.to_str().expect("UTF-8"));
    if let Some(agent) = agent {
        config = config.arg("--").arg(agent.to_str().expect("UTF-8")).arg("agent");
    }
    AcpAgent::new(config.env("HOME", folder.to_str().expect("UTF-8")))
}
