//! Tools that are given paths: where they may go, and where nothing may.

use super::allowlist::expand_home;
use super::config::ToolPolicy;
use crate::glob::Glob;
use sayso_policy::shell::canonical;
use sayso_policy::{Facts, Operation, Request};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Parameters that hold a path.
const PATHS: &[&str] = &["path", "file_path", "filepath", "file", "directory", "dir", "source", "destination"];
/// Nothing here is for tools.
const CRITICAL: &[&str] = &["/etc", "/sys", "/proc", "/dev", "/boot"];
/// Files and folders, by name, that hold secrets.
const SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    "credentials",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
];

/// Why a tool may not use a path at all.
pub(super) fn refuses(policy: &ToolPolicy, operation: &Operation, facts: Facts<'_>) -> Option<String> {
    let works_on_files = policy.tool.starts_with("file_");
    let paths = paths(operation);
    if works_on_files && policy.tool != "file_list" {
        if let Some(path) = paths.iter().find(|path| is_critical(path, operation, facts)) {
            return Some(format!("`{path}` is a critical system path."));
        }
        if policy.tool == "file_read"
            && let Some(path) = paths.iter().find(|path| is_secret(path))
        {
            return Some(format!("`{path}` may hold secrets."));
        }
    }
    if policy.paths.is_empty() {
        return None;
    }
    let outside = paths.iter().find(|path| !restricted_to(policy, path, operation, facts));
    outside.map(|path| format!("`{path}` is not a path this tool may use."))
}

/// Whether every path is listed: by the policy's own globs, or else inside the working directory.
pub(super) fn listed(policy: &ToolPolicy, operation: &Operation, facts: Facts<'_>) -> bool {
    let paths = paths(operation);
    if paths.is_empty() {
        return false;
    }
    paths.iter().all(|path| {
        if policy.paths.is_empty() {
            is_inside(path, operation, facts)
        } else {
            restricted_to(policy, path, operation, facts)
        }
    })
}

fn restricted_to(policy: &ToolPolicy, path: &str, operation: &Operation, facts: Facts<'_>) -> bool {
    let home = operation.home.as_deref();
    let forms = forms(path, operation, facts);
    let base = operation.cwd.as_deref();
    let globs: Vec<Glob> = policy
        .paths
        .iter()
        .filter_map(|pattern| {
            let pattern = expand_home(pattern, home)?;
            let relative = pattern.strip_prefix("./").unwrap_or(&pattern);
            if pattern.starts_with('/') || pattern.starts_with("**") {
                return Some(pattern);
            }
            Some(format!("{}/{relative}", base?.to_str()?))
        })
        .map(|pattern| Glob::new(&pattern))
        .collect();
    !forms.is_empty()
        && forms.iter().all(|form| form.to_str().is_some_and(|form| globs.iter().any(|glob| glob.matches(form))))
}

fn is_inside(path: &str, operation: &Operation, facts: Facts<'_>) -> bool {
    let Some(cwd) = operation.cwd.as_deref() else {
        // Whatever the working directory is, a path that does not climb stays in it.
        let relative = Path::new(path);
        return relative.is_relative() && !path.starts_with('~') && !path.split('/').any(|part| part == "..");
    };
    let real = canonical(facts.files, cwd).path;
    let forms = forms(path, operation, facts);
    !forms.is_empty() && forms.iter().all(|form| form.starts_with(cwd) || form.starts_with(&real))
}

fn is_critical(path: &str, operation: &Operation, facts: Facts<'_>) -> bool {
    forms(path, operation, facts).iter().any(|form| CRITICAL.iter().any(|critical| form.starts_with(critical)))
}

fn is_secret(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = part.to_lowercase();
        SECRETS.contains(&part.as_str())
            || part == ".env"
            || part.starts_with(".env.")
            || [".pem", ".key", ".p12", ".pfx"].iter().any(|end| part.ends_with(end))
    })
}

/// A path as written, cleaned, and with its links followed; none if nobody knows where it is.
fn forms(path: &str, operation: &Operation, facts: Facts<'_>) -> Vec<PathBuf> {
    let written = match path.strip_prefix('~') {
        Some(rest) => operation.home.as_ref().map(|home| home.join(rest.trim_start_matches('/'))),
        None => Some(PathBuf::from(path)),
    };
    let absolute = match (written, &operation.cwd) {
        (Some(path), _) if path.is_absolute() => Some(path),
        (Some(path), Some(cwd)) => Some(cwd.join(path)),
        _ => None,
    };
    let Some(absolute) = absolute else { return Vec::new() };
    let mut forms = vec![canonical::lexical(&absolute)];
    let real = canonical(facts.files, &absolute);
    if real.certain {
        forms.push(real.path);
    }
    forms
}

/// The paths among the arguments.
fn paths(operation: &Operation) -> Vec<String> {
    let Request::Tool { arguments: Value::Object(fields), .. } = &operation.request else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in fields {
        if !PATHS.contains(&key.to_lowercase().as_str()) && key.to_lowercase() != "paths" {
            continue;
        }
        match value {
            Value::String(path) => found.push(path.trim().to_owned()),
            Value::Array(items) => {
                found.extend(items.iter().filter_map(Value::as_str).map(|path| path.trim().to_owned()))
            }
            _ => {}
        }
    }
    found.retain(|path| !path.is_empty());
    found
}
