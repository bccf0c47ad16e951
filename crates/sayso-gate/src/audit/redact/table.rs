//! What secrets are called and where programs take them: data, in this one place. `forms.txt` holds it to examples.

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
];

/// Parameters of an address that hold one, besides those that have such a name.
pub(super) const PARAMETERS: &[&str] = &["key", "code", "pwd", "sid", "session", "signature", "hash", "pat"];

/// What an option of a program takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// A secret, joined to it or as the next word.
    Secret,
    /// A secret that is joined to it; alone it makes the program ask.
    Joined,
    /// `user:password`, `user%password`, `user,password` or `file:password`.
    Login,
    /// The next two words.
    Pair,
}

/// Options of programs that hold secrets, besides those that have a secret's name. A program ends with `*` for all that
/// begin like it; words that must have stood before the option come behind its name.
pub(super) const OPTIONS: &[(&[&str], &[&str], Takes)] = &[
    (&["curl"], &["-u", "-U", "-E", "--cert", "--proxy-cert"], Takes::Login),
    (&["curl"], &["-b", "--cookie"], Takes::Secret),
    (&["http", "https", "xh", "xhs"], &["-a"], Takes::Login),
    (&["smbclient", "smbget", "rpcclient"], &["-U", "--user"], Takes::Login),
    (&["lftp"], &["-u", "--user"], Takes::Login),
    (&["ncftp*", "twine", "mongo*", "useradd", "usermod", "sshpass"], &["-p"], Takes::Secret),
    (
        &["poetry publish", "docker login", "podman login", "nerdctl login", "oc login", "az login"],
        &["-p"],
        Takes::Secret,
    ),
    (&["helm login"], &["-p"], Takes::Secret),
    (&["mysql*", "mariadb*", "7z*", "unrar"], &["-p"], Takes::Joined),
    (&["rar"], &["-p", "-hp"], Takes::Joined),
    (&["redis-cli"], &["-a"], Takes::Secret),
    (&["zip", "unzip", "mosquitto_*", "sqlcmd", "bcp", "ipmitool", "ssh-keygen"], &["-P"], Takes::Secret),
    (&["ssh-keygen"], &["-N"], Takes::Secret),
    (&["ldap*"], &["-w"], Takes::Secret),
    (&["snmp*"], &["-A", "-X", "-c"], Takes::Secret),
    (&["openssl enc", "openssl aes*", "openssl des*"], &["-k", "-K"], Takes::Secret),
    (&["pdf*", "qpdf"], &["-upw", "-opw"], Takes::Secret),
    (&["gh secret"], &["-b", "--body"], Takes::Secret),
    (&["aws put-parameter"], &["--value"], Takes::Secret),
    (&["doctl auth", "codecov"], &["-t"], Takes::Secret),
    (&["sonar-scanner", "mvn", "gradle*", "./gradlew"], &["-Dsonar.login"], Takes::Secret),
    (&["restic", "borg*"], &["--password-command"], Takes::Secret),
    (&["az keyvault"], &["--value"], Takes::Secret),
    (&["security"], &["-w"], Takes::Secret),
    (&["nuget", "choco"], &["-k"], Takes::Secret),
    (&["vercel", "now"], &["-t"], Takes::Secret),
    (&["swaks"], &["-ap"], Takes::Secret),
    (&["xfreerdp*", "wlfreerdp"], &["/p"], Takes::Secret),
    (&["qpdf"], &["--encrypt"], Takes::Pair),
    (&["dscl"], &["-passwd"], Takes::Pair),
    (&["caddy hash-password"], &["--plaintext", "-p"], Takes::Secret),
    (&["openssl dgst", "openssl mac"], &["-hmac", "-macopt"], Takes::Secret),
    (&["sendemail", "sendEmail"], &["-xp"], Takes::Secret),
    (&["transmission-remote"], &["-n", "--auth"], Takes::Login),
    (
        &["security unlock-keychain", "security create-keychain", "security set-keychain-password"],
        &["-p"],
        Takes::Secret,
    ),
    (&["security import", "security export"], &["-P"], Takes::Secret),
    (&["signtool"], &["/p"], Takes::Secret),
    (&["kaggle config"], &["-v", "--value"], Takes::Secret),
    (&["eas", "llm keys"], &["--value"], Takes::Secret),
];

/// Long options of whatever program that take a login, besides those that end in `creds`.
pub(super) const LOGINS: &[&str] = &["--user", "--proxy-user", "--basic-auth", "--userpwd"];

/// Which operands of a program are secrets: those behind its words, from this one on.
pub(super) const OPERANDS: &[(&str, usize)] = &[
    ("cargo login", 0),
    ("vault login", 0),
    ("bw unlock", 0),
    ("bw login", 1),
    ("snyk auth", 0),
    ("ngrok authtoken", 0),
    ("ngrok config add-authtoken", 0),
    ("cloudflared service install", 0),
    ("redis-cli AUTH", 0),
    ("redis-cli auth", 0),
    ("rclone obscure", 0),
    ("openssl passwd", 0),
    ("wpa_passphrase", 1),
    ("htpasswd", 1),
    ("mc alias set", 2),
    ("mysqladmin password", 0),
    ("rabbitmqctl add_user", 1),
    ("rabbitmqctl change_password", 1),
    ("consul kv put", 1),
    ("ansible-vault encrypt_string", 0),
    ("bundle config", 1),
    ("pulumi config set", 1),
    ("isql", 2),
    ("smbclient", 1),
    ("net use", 2),
    ("send", 0),
    ("composer config http-basic*", 1),
    ("composer config bearer*", 0),
    ("nuget setapikey", 0),
    ("nuget setApiKey", 0),
    ("consul acl set-agent-token", 1),
    ("iwconfig key", 0),
    ("mkpasswd", 0),
    ("cf auth", 1),
    ("wandb login", 0),
];

/// Programs that are told who signs in and with which password in one word: `ann/password@db`.
pub(super) const SLASHED: &[&str] = &["sqlplus", "sqlldr", "expdp", "impdp", "rman"];

/// Programs whose operands `NAME=value` are secrets whatever their name.
pub(super) const ASSIGNED: &[&str] = &[
    "fly secrets set",
    "flyctl secrets set",
    "vault kv put",
    "vault kv patch",
    "vault write",
    "heroku config:set",
    "kubectl create secret",
    "oc create secret",
    "wrangler secret put",
    "doppler secrets set",
    "supabase secrets set",
    "nomad var put",
];

/// Programs that take a secret as the operand behind its name: `nmcli ... password x`, `yarn config set npmAuthToken x`.
pub(super) const NAMED_OPERANDS: &[&str] = &[
    "nmcli",
    "iwctl",
    "netsh",
    "setenv",
    "set",
    "composer config",
    "yarn config",
    "npm config",
    "npm set",
    "pnpm config",
    "poetry config",
    "rclone config",
    "aws configure",
    "git config",
    "pip config",
    "gcloud config",
    "az config",
    "redis-cli",
    "pdftk",
];

/// What reads a secret from its standard input: a word of the command, and a word that must stand beside it.
pub(super) const FED: &[(&str, &str)] = &[
    ("sudo", "-S"),
    ("sudo", "--stdin"),
    ("su", ""),
    ("passwd", ""),
    ("chpasswd", ""),
    ("kinit", ""),
    ("smbpasswd", "-s"),
    ("cryptsetup", ""),
    ("openssl", "stdin"),
    ("gpg", "--passphrase-fd"),
    ("", "--password-stdin"),
    ("", "--passphrase-stdin"),
    ("", "--with-token"),
    ("gh", "secret"),
    ("vault", "login"),
    ("", "secret"),
    ("", "secrets"),
    ("vercel", "env"),
    ("read", "-s"),
    ("read", "-rs"),
    ("read", "-sr"),
    ("pass", "insert"),
    ("argon2", ""),
    ("age", "-p"),
    ("", "--passwd-on-stdin"),
];

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

/// Programs that only start what follows.
pub(super) const WRAPPERS: &[&str] = &[
    "sudo", "doas", "env", "command", "exec", "builtin", "nice", "nohup", "time", "timeout", "stdbuf", "setsid",
    "xargs", "watch", "then", "do", "else", "if", "while", "until", "!", "{", "export", "declare", "local", "readonly",
    "typeset",
];
