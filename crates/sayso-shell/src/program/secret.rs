//! Variables that hold secrets, by their names.
//!
//! The environment of an agent often holds keys. Which variables do is known by what they are called: names are made of
//! words (`GITHUB_TOKEN`, `DB_PASSWORD`, `npm_config__authToken`), and a few of these words mean a secret.

use super::{Code, View};
use crate::effect::NamedBy;
use crate::word::Word;

/// A name that holds one of these texts anywhere.
const HOLDS: &[&str] = &[
    "ACCESSKEY",
    "ACCESS_KEY",
    "APIKEY",
    "API_KEY",
    "AUTHTOKEN",
    "CONNECTION_STRING",
    "CREDENTIAL",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PRIVATEKEY",
    "PRIVATE_KEY",
    "SECRET",
];

/// A name of which one of these is a word.
const WORDS: &[&str] = &[
    "APITOKEN",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "CREDS",
    "DSN",
    "HMAC",
    "JWT",
    "MNEMONIC",
    "PASS",
    "PAT",
    "PIN",
    "PW",
    "SALT",
    "SIGNATURE",
    "TOKEN",
    "WEBHOOK",
];

/// Addresses of stores, which have the password in them.
const STORES: &[&str] = &[
    "AMQP",
    "BROKER",
    "CACHE",
    "CELERY",
    "CLICKHOUSE",
    "CLOUDINARY",
    "COUCHDB",
    "DATABASE",
    "DB",
    "ELASTICSEARCH",
    "JDBC",
    "MARIADB",
    "MONGO",
    "MONGODB",
    "MYSQL",
    "PG",
    "POSTGRES",
    "POSTGRESQL",
    "RABBITMQ",
    "REDIS",
    "SMTP",
    "SQL",
    "SQLALCHEMY",
    "SUPABASE",
];

/// What a name ends in that holds a place, a number or a choice, whatever it is about.
const ABOUT: &[&str] = &[
    "COUNT", "DIR", "ENABLED", "EXPIRES", "EXPIRY", "FILE", "FILENAME", "FORMAT", "HEADER", "HELPER", "LENGTH",
    "LIMIT", "METHOD", "MODE", "NAME", "PATH", "PROVIDER", "REALM", "SCOPE", "SOCK", "SOURCE", "TIMEOUT", "TTL",
    "TYPE", "USER", "USERNAME",
];

/// Keys that open nothing.
const OPEN_KEYS: &[&str] =
    &["CACHE", "FOREIGN", "GROUP", "PARTITION", "PRIMARY", "PUB", "PUBLIC", "PUBLISHABLE", "SORT"];

/// Whether a variable of this name holds a secret.
#[must_use]
pub fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let words: Vec<&str> = upper.split('_').filter(|word| !word.is_empty()).collect();
    let Some((last, before)) = words.split_last() else { return false };
    // The shell's own, and what names a helper or a place. The id of a key at Amazon stands beside the key in what leaks.
    if matches!(upper.as_str(), "PWD" | "OLDPWD" | "GOOGLE_APPLICATION_CREDENTIALS") || ABOUT.contains(last) {
        return false;
    }
    let key = matches!(*last, "KEY" | "KEYS" | "PEM")
        && !before.is_empty()
        && !before.iter().any(|word| OPEN_KEYS.contains(word))
        || *last == "PWD" && !before.is_empty();
    let store =
        matches!(*last, "URL" | "URI" | "CONNECTION" | "CONN") && before.iter().any(|word| STORES.contains(word));
    key || store
        || HOLDS.iter().any(|text| upper.contains(text)) && !before.contains(&"PUBLIC")
        || words.iter().any(|word| WORDS.contains(word))
}

impl View<'_> {
    /// The value of a variable is shown or handed on.
    pub(crate) fn shows_variable(&mut self, name: &str, at: usize) {
        if is_secret_variable(name) {
            self.named(Code::SecretVariable, NamedBy::Env(name.to_owned()), at);
        }
    }

    /// As [`Self::shows_variable`], by a word that is the name; one that nobody knows may be any.
    pub(crate) fn shows_variable_of(&mut self, word: &Word, at: usize) {
        match word.exact_str() {
            Some(name) => self.shows_variable(name, at),
            None => self.named(Code::ShowsSecrets, NamedBy::Nothing, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_secret_are_told_from_others() {
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SESSION_TOKEN",
            "GITHUB_TOKEN",
            "GH_TOKEN",
            "NPM_TOKEN",
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DATABASE_URL",
            "REDIS_URL",
            "MONGODB_URI",
            "SENTRY_DSN",
            "STRIPE_SECRET",
            "JWT_SECRET_KEY",
            "npm_config__authToken",
            "GPG_PASSPHRASE",
            "SSH_PRIVATE_KEY",
            "AZURE_STORAGE_CONNECTION_STRING",
            "GH_PAT",
            "SLACK_WEBHOOK_URL",
            "DEPLOY_KEY",
            "VAULT_TOKEN",
            "TOKEN",
            "SECRET",
            "PASSWORD",
            "DOCKER_AUTH",
            "DOCKER_PASS",
        ] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "USER",
            "SHELL",
            "AWS_REGION",
            "AWS_PROFILE",
            "SSH_AUTH_SOCK",
            "GIT_ASKPASS",
            "MAX_TOKENS",
            "TOKENIZERS_PARALLELISM",
            "KEYBOARD",
            "KEYMAP",
            "MONKEY",
            "SORT_KEY",
            "CACHE_KEY",
            "PUBLIC_KEY",
            "VITE_PUBLIC_API_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "POSTGRES_PASSWORD_FILE",
            "TOKEN_TYPE",
            "API_URL",
            "KEY",
            "AUTHOR",
            "PATTERN",
            "COMPASS",
            "CI",
            "LANG",
            "TERM",
            "PASSED",
            "_",
            "",
            "DATABASE_NAME",
            "SALTED",
            "GIT_AUTHOR_NAME",
            "XAUTHORITY",
        ] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
