//! What secrets are called: data, in this one place. `forms.txt` holds it to examples. Which program takes one where is a
//! fact of the program: `sayso_shell::program::credential`.

/// Parts of names that make a secret of whatever has one, wherever in the name: letters and digits alone, lower case.
pub(super) const ANYWHERE: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "apitoken",
    "accesskey",
    "privatekey",
    "sshkey",
    "deploykey",
    "licensekey",
    "authkey",
    "masterkey",
    "credential",
    "accesstoken",
    "authtoken",
    "refreshtoken",
    "sessiontoken",
    "bearertoken",
    "idtoken",
    "sastoken",
    "signingkey",
    "encryptionkey",
    "decryptionkey",
    "accountkey",
    "connectionstring",
    "authorization",
    "xamzsignature",
    "xgoogsignature",
    "seedphrase",
    "mnemonic",
    "recoverycode",
    "backupcode",
    "mfacode",
    "otpcode",
    "verificationcode",
    "securityanswer",
    "storepass",
    "keypass",
    "sshpass",
    "basicauth",
    "tokenvalue",
    "tokensecret",
    "authcode",
    "securitycode",
    "pincode",
    "factorcode",
    "unlockcode",
    "cardnumber",
    "creditcard",
    "privkey",
    "passkey",
    "dbpass",
    "userpass",
    "rootpass",
    "rootpw",
    "adminpw",
    "userpw",
    "dbpw",
    "githuboauth",
    "requirepass",
    "masterauth",
    "askpass",
    "clientassertion",
    "samlresponse",
    "hubsignature",
    "keydata",
    "dockerconfigjson",
    "dockerauthconfig",
    "accesssignature",
    "walletseed",
    "masterseed",
    "recoveryseed",
    "electrumseed",
];

/// Words that a name is, or ends with as a word of its own: `GH_TOKEN`, `ghToken`.
pub(super) const AT_END: &[&str] = &[
    "token",
    "pwd",
    "pass",
    "passin",
    "passout",
    "pat",
    "cookie",
    "cookies",
    "auth",
    "sig",
    "jwt",
    "pw",
    "pin",
    "otp",
    "totp",
    "cvv",
    "cvc",
    "ssn",
    "bearer",
    "oauth2bearer",
    "key",
    "psk",
    "2fa",
    "puk",
];

/// Words behind those that leave a secret one: how it is written.
pub(super) const BEHIND: &[&str] = &["b64", "base64", "hex", "pem", "header"];

/// The same in the name of a variable: which of several it is.
pub(super) const BEHIND_VARIABLE: &[&str] = &[
    "prod",
    "production",
    "stage",
    "staging",
    "test",
    "dev",
    "ci",
    "old",
    "new",
    "current",
    "previous",
    "primary",
    "secondary",
    "backup",
    "value",
    "raw",
    "plain",
];

/// Names that end like that and are none.
pub(super) const NEVER: &[&str] = &[
    "pwd",
    "oldpwd",
    "path",
    "pat",
    "maxtokens",
    "compat",
    "repeat",
    "cat",
    "format",
    "key",
    "publickey",
    "pubkey",
    "sshpublickey",
    "primarykey",
    "foreignkey",
    "sortkey",
    "partitionkey",
    "hashkey",
    "rangekey",
    "rowkey",
    "cachekey",
    "groupkey",
    "indexkey",
    "objectkey",
    "routingkey",
    "lookupkey",
    "hotkey",
    "issuekey",
    "projectkey",
    "s3key",
    "nokey",
    "keykey",
    "passwordstdin",
    "auth0",
];

/// Parameters of an address that hold one, besides those that have such a name.
pub(super) const PARAMETERS: &[&str] = &["key", "code", "pwd", "sid", "session", "signature", "hash", "pat"];

/// Long options of whatever program that take a login, besides those that end in `creds`.
pub(super) const LOGINS: &[&str] = &["--user", "--proxy-user", "--basic-auth", "--userpwd"];

/// Settings that take a login: `user = "ann:x"` in what curl reads.
pub(super) const LOGIN_SETTINGS: &[&str] = &["user", "proxy-user", "proxy_user", "userpwd", "userid"];

/// Schemes of addresses that hold a login and no path before it: a password there may hold slashes.
pub(super) const DIALLED: &[&str] = &[
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "sqlserver",
    "clickhouse",
    "snowflake",
    "cockroachdb",
    "nats",
    "mqtt",
    "mqtts",
    "ldap",
    "ldaps",
    "smtp",
    "smtps",
    "imap",
    "imaps",
];

/// Functions that are given a name and a value, or a value for want of another.
pub(super) const SETTERS: &[&str] = &[
    "setproperty",
    "getproperty",
    "setenv",
    "putenv",
    "getenv",
    "environ.get",
    "env.get",
    "env.fetch",
    "setdefault",
    "setitem",
    "setheader",
    "addheader",
    "setrequestheader",
    "config.set",
    "config.get",
    "environmentvariable",
];

/// Words in front of a quoted secret, with nothing between: `PASSWORD 'x'` in SQL, `: PSK "x"`.
pub(super) const SAID_BEFORE: &[&str] = &["password", "psk", "passphrase"];

/// Members of an object that hold what a program reads.
pub(super) const READ: &[&str] = &["stdin", "input", "stdinData", "stdin_data"];

/// Members of a key in JSON that are private.
pub(super) const OF_KEY: &[&str] = &["d", "p", "q", "dp", "dq", "qi", "k", "oth"];

/// Members of a manifest that are secret where its kind says so.
pub(super) const OF_MANIFEST: &[&str] = &["data", "stringData"];

/// Options that name a user, behind which `-p` is a password unless it is a number.
pub(super) const USERS: &[&str] = &["-u", "-U", "-l", "--user", "--username"];

/// What stands before `:` in a word with `@` and is no user.
pub(super) const NO_USERS: &[&str] =
    &["npm", "workspace", "file", "link", "portal", "patch", "git", "github", "docker"];

/// Members of an object that name what another member of it holds, and members that hold it.
pub(super) const NAMING: &[&str] = &[
    "name",
    "key",
    "header",
    "label",
    "variable",
    "field",
    "selector",
    "element",
    "question",
    "type",
    "placeholder",
    "param",
    "parameter",
    "property",
];
pub(super) const HOLDING: &[&str] = &["value", "values", "text", "input", "answer", "default"];

/// Members that name a program, and those that hold its words.
pub(super) const STARTED: &[&str] = &["command", "cmd", "program", "executable", "file"];
pub(super) const WORDS: &[&str] = &["args", "argv", "arguments"];

/// Words of the shell that come before a command.
pub(super) const BEFORE: &[&str] =
    &["then", "do", "else", "if", "while", "until", "!", "{", "export", "declare", "local", "readonly", "typeset"];
