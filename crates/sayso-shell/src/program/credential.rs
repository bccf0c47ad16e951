//! Which words of which program hold a secret, for those who show or record commands.
//!
//! What is said here is about text: a record is made of commands that no shell has read, in programs that no table
//! describes, and of words that another program hands on (`docker exec db mysql -px`). So a command is a program's name and
//! words that stand somewhere behind it; a name that ends with `*` is all that begin like it.

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A secret, joined to it or as the next word.
    Secret,
    /// A secret that is joined to it; alone it makes the program ask.
    Joined,
    /// `user:password`, `user%password`, `user,password` or `file:password`.
    Login,
    /// The next two words.
    Pair,
}

/// Where a command holds a secret.
#[derive(Clone, Copy, Debug)]
pub enum Hides {
    /// In one of these options, besides those that have a secret's name.
    Option(&'static [&'static str], Takes),
    /// In its operands, from this one on.
    OperandsFrom(usize),
    /// In a word that says who signs in: `ann/password@db`.
    Slashed,
    /// In operands `NAME=value`, whatever their name.
    Assignments,
    /// In the operand behind the name of a secret: `nmcli ... password x`, `yarn config set npmAuthToken x`.
    BehindName,
}

/// Commands, and where they hold a secret.
#[derive(Debug)]
pub struct Credential {
    /// A program each, and the words that must stand behind its name.
    pub commands: &'static [&'static str],
    /// Where.
    pub hides: Hides,
}

const fn hides(commands: &'static [&'static str], hides: Hides) -> Credential {
    Credential { commands, hides }
}

/// Every fact of this kind; of several about an option the first counts.
pub const CREDENTIALS: &[Credential] = &[
    hides(&["curl"], Hides::Option(&["-u", "-U", "-E", "--cert", "--proxy-cert"], Takes::Login)),
    hides(&["curl"], Hides::Option(&["--user", "--proxy-user"], Takes::Login)),
    hides(
        &["curl"],
        Hides::Option(&["-b", "--cookie", "--pass", "--proxy-pass", "--oauth2-bearer", "--tlspassword"], Takes::Secret),
    ),
    hides(&["http -A", "xh -A"], Hides::Option(&["-a"], Takes::Secret)),
    hides(&["ab", "hey", "wrk", "oha"], Hides::Option(&["-a", "-A"], Takes::Login)),
    hides(&["ab"], Hides::Option(&["-C", "-P"], Takes::Secret)),
    hides(
        &["glab auth", "influx", "rancher login", "uv publish", "circleci", "gitlab-runner"],
        Hides::Option(&["-t"], Takes::Secret),
    ),
    hides(&["gitlab-runner register"], Hides::Option(&["-r"], Takes::Secret)),
    hides(
        &["buildah login", "skopeo login", "crane login", "az", "uv publish", "rabbitmqadmin", "veracrypt"],
        Hides::Option(&["-p"], Takes::Secret),
    ),
    hides(&["p4"], Hides::Option(&["-P"], Takes::Secret)),
    hides(&["hatch publish"], Hides::Option(&["-a"], Takes::Secret)),
    hides(&["openai"], Hides::Option(&["-k"], Takes::Secret)),
    hides(&["gem push", "gem yank"], Hides::Option(&["-k", "--key"], Takes::Secret)),
    hides(&["ldappasswd"], Hides::Option(&["-s", "-a"], Takes::Secret)),
    hides(&["op"], Hides::Option(&["--session"], Takes::Secret)),
    hides(&["aws"], Hides::Option(&["--token-code"], Takes::Secret)),
    hides(&["drone secret"], Hides::Option(&["--data"], Takes::Secret)),
    hides(&["http", "https", "xh", "xhs"], Hides::Option(&["-a"], Takes::Login)),
    hides(&["smbclient", "smbget", "rpcclient"], Hides::Option(&["-U", "--user"], Takes::Login)),
    hides(&["lftp"], Hides::Option(&["-u", "--user"], Takes::Login)),
    hides(&["ncftp*", "twine", "mongo*", "useradd", "usermod", "sshpass"], Hides::Option(&["-p"], Takes::Secret)),
    hides(
        &["poetry publish", "docker login", "podman login", "nerdctl login", "oc login", "az login"],
        Hides::Option(&["-p"], Takes::Secret),
    ),
    hides(&["helm login"], Hides::Option(&["-p"], Takes::Secret)),
    hides(&["mysql*", "mariadb*", "7z*", "unrar"], Hides::Option(&["-p"], Takes::Joined)),
    hides(&["rar"], Hides::Option(&["-p", "-hp"], Takes::Joined)),
    hides(&["redis-cli"], Hides::Option(&["-a"], Takes::Secret)),
    hides(
        &["zip", "unzip", "mosquitto_*", "sqlcmd", "bcp", "ipmitool", "ssh-keygen"],
        Hides::Option(&["-P"], Takes::Secret),
    ),
    hides(&["ssh-keygen"], Hides::Option(&["-N"], Takes::Secret)),
    hides(&["ldap*"], Hides::Option(&["-w"], Takes::Secret)),
    hides(&["snmp*"], Hides::Option(&["-A", "-X", "-c"], Takes::Secret)),
    hides(&["openssl enc", "openssl aes*", "openssl des*"], Hides::Option(&["-k", "-K"], Takes::Secret)),
    hides(&["pdf*", "qpdf"], Hides::Option(&["-upw", "-opw"], Takes::Secret)),
    hides(&["gh secret"], Hides::Option(&["-b", "--body"], Takes::Secret)),
    hides(&["aws put-parameter"], Hides::Option(&["--value"], Takes::Secret)),
    hides(&["doctl auth", "codecov"], Hides::Option(&["-t"], Takes::Secret)),
    hides(&["sonar-scanner", "mvn", "gradle*", "./gradlew"], Hides::Option(&["-Dsonar.login"], Takes::Secret)),
    hides(&["restic", "borg*"], Hides::Option(&["--password-command"], Takes::Secret)),
    hides(&["az keyvault"], Hides::Option(&["--value"], Takes::Secret)),
    hides(&["security"], Hides::Option(&["-w"], Takes::Secret)),
    hides(&["nuget", "choco"], Hides::Option(&["-k"], Takes::Secret)),
    hides(&["vercel", "now"], Hides::Option(&["-t"], Takes::Secret)),
    hides(&["swaks"], Hides::Option(&["-ap"], Takes::Secret)),
    hides(&["xfreerdp*", "wlfreerdp"], Hides::Option(&["/p"], Takes::Secret)),
    hides(&["qpdf"], Hides::Option(&["--encrypt"], Takes::Pair)),
    hides(&["dscl"], Hides::Option(&["-passwd"], Takes::Pair)),
    hides(&["caddy hash-password"], Hides::Option(&["--plaintext", "-p"], Takes::Secret)),
    hides(&["openssl dgst", "openssl mac"], Hides::Option(&["-hmac", "-macopt"], Takes::Secret)),
    hides(&["sendemail", "sendEmail"], Hides::Option(&["-xp"], Takes::Secret)),
    hides(&["transmission-remote"], Hides::Option(&["-n", "--auth"], Takes::Login)),
    hides(
        &["security unlock-keychain", "security create-keychain", "security set-keychain-password"],
        Hides::Option(&["-p"], Takes::Secret),
    ),
    hides(&["security import", "security export"], Hides::Option(&["-P"], Takes::Secret)),
    hides(&["signtool"], Hides::Option(&["/p"], Takes::Secret)),
    hides(&["kaggle config"], Hides::Option(&["-v", "--value"], Takes::Secret)),
    hides(&["eas", "llm keys"], Hides::Option(&["--value"], Takes::Secret)),
    hides(&["cargo login"], Hides::OperandsFrom(0)),
    hides(&["gcloud auth activate-refresh-token"], Hides::OperandsFrom(1)),
    hides(&["netlify env:set"], Hides::OperandsFrom(1)),
    hides(&["vault unseal"], Hides::OperandsFrom(0)),
    hides(&["vault operator unseal"], Hides::OperandsFrom(0)),
    hides(&["npm token revoke"], Hides::OperandsFrom(0)),
    hides(&["poetry config http-basic*"], Hides::OperandsFrom(1)),
    hides(&["dotnet user-secrets set"], Hides::OperandsFrom(1)),
    hides(&["mc config host add"], Hides::OperandsFrom(2)),
    hides(&["mosquitto_passwd"], Hides::OperandsFrom(2)),
    hides(&["pwsh ConvertTo-SecureString"], Hides::OperandsFrom(0)),
    hides(&["powershell ConvertTo-SecureString"], Hides::OperandsFrom(0)),
    hides(&["vault login"], Hides::OperandsFrom(0)),
    hides(&["bw unlock"], Hides::OperandsFrom(0)),
    hides(&["bw login"], Hides::OperandsFrom(1)),
    hides(&["snyk auth"], Hides::OperandsFrom(0)),
    hides(&["ngrok authtoken"], Hides::OperandsFrom(0)),
    hides(&["ngrok config add-authtoken"], Hides::OperandsFrom(0)),
    hides(&["cloudflared service install"], Hides::OperandsFrom(0)),
    hides(&["redis-cli AUTH"], Hides::OperandsFrom(0)),
    hides(&["redis-cli auth"], Hides::OperandsFrom(0)),
    hides(&["rclone obscure"], Hides::OperandsFrom(0)),
    hides(&["openssl passwd"], Hides::OperandsFrom(0)),
    hides(&["wpa_passphrase"], Hides::OperandsFrom(1)),
    hides(&["htpasswd"], Hides::OperandsFrom(1)),
    hides(&["mc alias set"], Hides::OperandsFrom(2)),
    hides(&["mysqladmin password"], Hides::OperandsFrom(0)),
    hides(&["rabbitmqctl add_user"], Hides::OperandsFrom(1)),
    hides(&["rabbitmqctl change_password"], Hides::OperandsFrom(1)),
    hides(&["consul kv put"], Hides::OperandsFrom(1)),
    hides(&["ansible-vault encrypt_string"], Hides::OperandsFrom(0)),
    hides(&["bundle config"], Hides::OperandsFrom(1)),
    hides(&["pulumi config set"], Hides::OperandsFrom(1)),
    hides(&["isql"], Hides::OperandsFrom(2)),
    hides(&["smbclient"], Hides::OperandsFrom(1)),
    hides(&["net use"], Hides::OperandsFrom(2)),
    hides(&["send"], Hides::OperandsFrom(0)),
    hides(&["composer config http-basic*"], Hides::OperandsFrom(1)),
    hides(&["composer config bearer*"], Hides::OperandsFrom(0)),
    hides(&["nuget setapikey"], Hides::OperandsFrom(0)),
    hides(&["nuget setApiKey"], Hides::OperandsFrom(0)),
    hides(&["consul acl set-agent-token"], Hides::OperandsFrom(1)),
    hides(&["iwconfig key"], Hides::OperandsFrom(0)),
    hides(&["mkpasswd"], Hides::OperandsFrom(0)),
    hides(&["cf auth"], Hides::OperandsFrom(1)),
    hides(&["wandb login"], Hides::OperandsFrom(0)),
    hides(&["sqlplus", "sqlldr", "expdp", "impdp", "rman"], Hides::Slashed),
    hides(
        &[
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
            "az webapp config appsettings set",
            "railway variables",
        ],
        Hides::Assignments,
    ),
    hides(
        &[
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
            "jq",
            "gh variable",
        ],
        Hides::BehindName,
    ),
];

/// What reads a secret from its standard input: a word of the command, and a word that must stand beside it.
pub const FED: &[(&str, &str)] = &[
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
    ("createuser", "--pwprompt"),
    ("htdigest", ""),
    ("keyring", "set"),
    ("secret-tool", "store"),
    ("vncpasswd", ""),
    ("kubeseal", ""),
    ("p4", "login"),
    ("bw", "unlock"),
];

impl Hides {
    /// A bit for each kind.
    #[must_use]
    pub const fn bit(self) -> u8 {
        match self {
            Self::Option(..) => 1,
            Self::OperandsFrom(_) => 2,
            Self::Slashed => 4,
            Self::Assignments => 8,
            Self::BehindName => 16,
        }
    }
}

/// The kinds of which a fact may be about a program of this name, a bit for each. Every word of a record is looked at, and
/// most are in none: one look, by its first letters, with nothing to be made when a hook starts.
#[must_use]
pub fn may_hide(word: &str) -> u8 {
    KNOWN.get(first_letters(word.as_bytes())).copied().unwrap_or(0)
}

const PLACES: usize = 2048;

/// By the first letters of programs, which kinds there are.
static KNOWN: [u8; PLACES] = {
    let mut known = [0; PLACES];
    let mut credentials = CREDENTIALS;
    while let [Credential { commands, hides }, rest @ ..] = credentials {
        known = known_of(known, commands, hides.bit());
        credentials = rest;
    }
    known
};

#[expect(clippy::indexing_slicing, reason = "worked out when this is compiled: no index is beyond the last place")]
const fn known_of(mut known: [u8; PLACES], mut commands: &[&str], kind: u8) -> [u8; PLACES] {
    while let [command, rest @ ..] = commands {
        let name = command.as_bytes();
        known[first_letters(name)] |= kind;
        // `7z*`: the third letter may be any.
        let mut third = if matches!(name, [_, _, b'*', ..]) { 0 } else { u8::MAX };
        while third < u8::MAX {
            known[first_letters(&[name[0], name[1], third])] |= kind;
            third += 1;
        }
        commands = rest;
    }
    known
}

/// A number for the first three letters of a name, or the first two of one that has no more.
const fn first_letters(name: &[u8]) -> usize {
    let letters = match name {
        [a, b, b' ' | b'*', ..] | [a, b] => [*a, *b, 0, 0],
        [a, b, c, ..] => [*a, *b, *c, 0],
        [a] => [*a, 0, 0, 0],
        [] => [0; 4],
    };
    (u32::from_le_bytes(letters).wrapping_mul(0x9E37_79B1) >> 21) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_with_a_secret_is_found_by_its_first_letters() {
        for Credential { commands, hides } in CREDENTIALS {
            for command in *commands {
                let may_be = |word: &str| may_hide(word) & hides.bit() != 0;
                let program = command.split(' ').next().unwrap();
                assert!(may_be(program.trim_end_matches('*')), "{command}");
                assert!(!program.starts_with('*') && program.trim_end_matches('*').len() > 1, "{command}");
                for rest in ["8.4", "a", "-x", "_"] {
                    assert!(may_be(&program.replace('*', rest)), "{command} {rest}");
                }
            }
        }
        let others = ["ls", "cat", "cargo", "head", "src", "README.md", "make", "rm", "sed", "test"];
        assert!(others.iter().filter(|word| may_hide(word) != 0).count() < 5);
    }
}
