//! Keys, certificates and passwords.

use crate::effect::Verb;
use crate::option::{Style, options};
use crate::program::{Act, Code, Operands, Role, Spec, View};
use crate::word::Word;

pub(crate) const SPECS: &[Spec] = &[
    // Subcommands take single-dash words.
    Spec::new(&["openssl"]).style(Style::WORDS).subs(&[
        Spec::new(&["version", "ciphers", "list", "errstr", "help", "info", "prime", "rand", "speed"])
            .style(Style::WORDS.and(Style::HARMLESS))
            .options(&[options!("-out FILE : writes", "-config FILE, -engine E, -provider P, -provider-path P : runs-code")]),
        Spec::new(&[
            "x509", "req", "rsa", "ec", "pkey", "pkcs12", "crl", "asn1parse", "verify", "dgst", "md5", "sha256",
            "sha1", "sha512", "cms", "smime", "ocsp", "pkcs7", "pkcs8", "dsa", "dhparam", "ecparam", "genrsa",
            "genpkey", "gendsa", "enc", "base64", "pkeyutl", "rsautl", "ts", "storeutl", "x25519", "passwd", "nseq",
            "spkac", "mac", "kdf", "rehash",
        ])
            .style(Style::WORDS.and(Style::HARMLESS))
            .options(&[options!("
                -in FILE, -inkey FILE, -certfile FILE, -CAfile FILE, -CA FILE, -CAkey FILE, -key FILE, -signkey FILE, -extfile FILE, -untrusted FILE, -sigfile FILE, -verify FILE, -prverify FILE : reads
                -days N, -subj S, -newkey A, -passin P, -passout P, -passcerts P, -inform F, -outform F, -nameopt N, -noout, -text, -subject, -issuer, -dates, -enddate, -startdate, -fingerprint, -serial, -modulus
                -pubkey, -pubin, -pubout, -sha256, -sha1, -nodes, -noenc, -new, -x509, -batch, -extensions E, -reqexts E, -addext E, -set_serial N, -checkend N, -checkhost H, -k P, -K K, -iv V, -md M, -pass P
                -out FILE, -keyout FILE, -CAserial FILE, -writerand FILE, -certsout FILE, -respout FILE, -reqout FILE : makes
                -CAcreateserial : writes-file
                -config FILE, -engine E, -provider P, -provider-path P : runs-code
            ")])
            .operands(Operands::READ)
            .judge(passwords),
        Spec::new(&["s_client", "s_time"]).style(Style::WORDS.and(Style::HARMLESS)).options(&[options!("
            -connect HOST, -proxy HOST : connects
            -servername N, -CAfile F, -cert F, -key F, -showcerts, -starttls P, -alpn P, -verify N
            -keylogfile FILE, -sess_out FILE, -msgfile FILE : writes
        ")]),
        Spec::new(&["s_server"]).style(Style::WORDS.and(Style::HARMLESS)).acts(&[Act::Named(Code::Serves)]),
        Spec::new(&[
            "ca", "srp", "engine", "fipsinstall", "tsget", "cmp", "skeyutl",
        ]).style(Style::WORDS.and(Style::HARMLESS)).acts(&[Act::Named(Code::RunsCode)]),
    ]),
    Spec::new(&["gpg", "gpg2", "gpgv", "gpgsm"])
        .style(Style::GNU.and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("
            --list-keys -k, --list-secret-keys -K, --list-sigs, --fingerprint, --verify, --version, --list-packets, --show-keys, --dump-options, --with-colons
            -o --output FILE : writes
            --homedir DIR, --options FILE : runs
            --photo-viewer P, --agent-program P, --dirmngr-program P, --gpgconf P, --pinentry-mode M : runs
            --export-secret-keys, --export-secret-subkeys : shows-secrets
            -d --decrypt : shows-secrets
            --import, --delete-keys, --delete-secret-keys, --gen-key, --generate-key, --quick-gen-key, --edit-key, --sign-key, --recv-keys, --send-keys, --refresh-keys, --fetch-keys : changes-settings
        ")])
        .operands(Operands::READ)
        .judge(gpg),
    Spec::new(&[
        "age", "rage", "sops", "age-keygen", "minisign", "signify", "cosign", "ccrypt", "bcrypt", "scrypt", "mcrypt",
        "certbot", "acme.sh", "mkcert", "cfssl", "step", "keytool", "jarsigner", "easyrsa",
    ])
        .style(Style::HARMLESS.and(Style::RISKY))
        .options(&[options!("-o --output --out FILE : makes")])
        .operands(Operands::READ)
        .acts(&[Act::Named(Code::ShowsSecrets)])
        .judge(crate::wrapper::may_start),
    Spec::new(&[
        "pass", "gopass", "bw", "lpass", "security", "secret-tool", "keyring", "vault", "keepassxc-cli",
        "envchain", "berglas",
    ])
        .style(Style::HARMLESS)
        .acts(&[Act::Named(Code::ShowsSecrets)])
        .judge(crate::wrapper::may_start),
    Spec::new(&["op", "chamber", "aws-vault", "doppler", "infisical", "teller"])
        .style(Style::HARMLESS)
        .acts(&[Act::Named(Code::ShowsSecrets)])
        .judge(crate::wrapper::started_behind),
    Spec::new(&["printenv"]).style(Style::HARMLESS).judge(printenv),
    Spec::new(&["htpasswd", "mkpasswd", "pwgen", "apg"]).style(Style::HARMLESS).operands(Operands::then(&[Role::Text], Role::Text)),
    Spec::new(&[
        "ssh-keysign", "ssh-pkcs11-helper", "gpg-agent", "gpgconf", "gpg-connect-agent", "pinentry", "dirmngr",
        "kinit", "klist", "kdestroy", "certutil", "pk12util", "update-ca-certificates", "trust",
    ])
        .style(Style::HARMLESS)
        .acts(&[Act::Named(Code::ChangesSettings)]),
];

/// `-passin file:F`: a password out of the first line of a file.
fn passwords(view: &mut View<'_>) {
    for name in ["-passin", "-passout", "-pass", "-passcerts"] {
        for (at, value) in view.values(name) {
            match value.exact() {
                Some([b'f', b'i', b'l', b'e', b':', file @ ..]) => view.reads(&Word::Exact(file.into()), at),
                Some(_) => {}
                None => view.reads(&Word::Opaque, at),
            }
        }
    }
}

fn gpg(view: &mut View<'_>) {
    if view.has_any(&[
        "-e",
        "--encrypt",
        "-s",
        "--sign",
        "-c",
        "--symmetric",
        "-b",
        "--detach-sign",
        "--clearsign",
        "--clear-sign",
    ]) && !view.has("--output")
    {
        view.touches(Verb::Write, ".", true);
    }
}

/// Without a name it shows the whole environment.
fn printenv(view: &mut View<'_>) {
    if view.operand_count() == 0 {
        view.imply("--all", Some(Code::ShowsSecrets), 0);
    }
    for at in view.operands() {
        if let Some(word) = view.word(at) {
            view.shows_variable_of(word, at);
        }
    }
}
