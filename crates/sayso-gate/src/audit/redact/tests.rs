use super::key::KEYS;
use super::table::{ANYWHERE, AT_END};
use super::*;

/// Each line holds a secret of at least one of the words `hunter2...`.
#[test]
fn secrets_are_taken_out() {
    let key = "hunter2hunter2hunter2hunter2hunter2hunter2";
    let cases = [
        "GITHUB_TOKEN=hunter2 gh pr list",
        "export AWS_SECRET_ACCESS_KEY='hunter2'; ls",
        "env DB_PASSWORD=hunter2 ./run",
        "PASSWORD=\"hunter2\" x",
        "curl -H 'Authorization: Bearer hunter2' https://x",
        "curl -H \"Authorization: Basic hunter2\" https://x",
        "curl -H authorization:hunter2",
        "curl -H 'X-Api-Key: hunter2' x",
        "mysql --password hunter2 db",
        "mysql --password=hunter2 db",
        "gh auth login --with-token hunter2",
        "git clone https://bob:hunter2@example.org/x.git",
        "git clone https://hunter2hunter2hunter2@example.org/x.git",
        "echo ghp_KEY > f",
        "echo sk-ant-KEY",
        "x=AKIAhunter2hunter2hunt",
        "echo '-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----' > k",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter2",
        "{\"password\": \"hunter2\", \"a\": 1}",
        "apiKey: hunter2",
        "curl -d '{\\\"password\\\":\\\"hunter2\\\"}' x",
        "curl -d \"{\\\"password\\\": \\\"hunter2 and hunter2\\\"}\" x",
        "PASSWORD='one two hunter2' x",
        "PASSWORD=one,hunter2 x",
        "PASSWORD=one\"two hunter2\" x",
        "PASSWORD=$'hunter2' x",
        "PASSWORD=\\\nhunter2 x",
        "PASSWORD=\"one\\\"hunter2\" x",
        "curl https://x/?a=b&access_token=hunter2",
        "curl 'https://x/?access_token=hunter2&b=c'",
        "curl https://x/#id_token=hunter2",
        "curl -H 'Authorization: ApiKey hunter2' x",
        "curl -H 'Authorization: Digest username=\"x\", response=hunter2' x",
        "curl -HAuthorization:hunter2 x",
        "curl -H 'Cookie: a=b; session=hunter2; c=hunter2' x",
        "curl --header=Authorization:hunter2 x",
        "curl -u ann:hunter2 https://x",
        "curl --user 'ann:hunter2' https://x",
        "mysql -phunter2 db",
        "/usr/bin/mysqldump -u root -phunter2 db",
        "sshpass -p hunter2 ssh x",
        "openssl enc -pass pass:hunter2",
        "DB_PASS=hunter2 x",
        "STRIPE_KEY=hunter2 x",
        "aws configure set aws_secret_access_key hunter2",
        "aws_secret_access_key = hunter2",
        "password: two words hunter2",
        "echo \"Proxy-Authorization: Basic hunter2\"",
        "AccountName=x;AccountKey=hunter2==;EndpointSuffix=y",
        "curl https://hooks.slack.com/services/hunter2hunter2hunter2hunter2",
        "gpg --batch --passphrase hunter2 -c f",
        "tool --pwd=hunter2",
        "tool --pwd hunter2",
        "consul acl -token hunter2",
        "curl -ubob:hunter2 https://x",
        "curl --oauth2-bearer hunter2 https://x",
        "docker login -u bob -p hunter2 registry",
        "docker login -phunter2",
        "redis-cli -h x -a hunter2 ping",
        "zip -P hunter2 a.zip f",
        "npm config set //registry.example.org/:_authToken hunter2",
        "vault login hunter2",
        "setenv TOKEN hunter2",
        "set -gx GH_TOKEN hunter2",
        "jwt=hunter2",
        "psql -c \"CREATE USER x IDENTIFIED BY 'hunter2'\"",
        "psql -c \"ALTER USER x WITH PASSWORD 'hunter2'\"",
        "echo machine example.org login bob password hunter2 > .netrc",
        "printf 'machine x\nlogin bob\npassword hunter2\n'",
        "curl 'https://x/f?X-Amz-Date=1&X-Amz-Signature=hunter2'",
        "curl 'https://x/f?sv=1&sig=hunter2'",
        "curl https://api.telegram.org/bot123456789:hunter2hunter2hunter2/sendMessage",
        "x dp.pt.hunter2hunter2hunter2hunter2hunter2hunter2",
        "x rubygems_hunter2hunter2hunter2hunter2hunter2hunter2",
        "x NRAK-hunter2hunter2hunter2hunter2",
        "x fo1_hunter2hunter2hunter2hunter2",
    ];
    for case in cases {
        let case = case.replace("KEY", if case.contains("_KEY") && case.contains("ghp") { key } else { "KEY" });
        let case = case.replace("sk-ant-KEY", &format!("sk-ant-{key}"));
        let safe = text(&case);
        assert!(!safe.contains("hunter2"), "{case}\n{safe}");
        assert!(safe.contains(REDACTED), "{case}\n{safe}");
    }
}

#[test]
fn what_is_no_secret_stays() {
    for case in [
        "PWD=/home/ann cargo test --locked && git push origin main",
        "git commit --author='Ann <ann@example.org>' -m 'fix: tokens of the parser'",
        "task-force-of-twenty-letters-and-more --format json",
        "PATH=/usr/bin:$PATH make -j4",
        "curl https://example.org:8080/a?b=c#d",
        "grep -rn 'PRIVATE KEY' src",
        "git clone git@github.com:a/b.git ssh://git@host/x",
        "--max-tokens 400 --compat",
        "sort -u names.txt && tar -p -xf a.tar && mkdir -p a/b",
        "git log --author=ann --pretty=format:%h -- src/token.rs",
        "docker run -u 1000 -p 8080:80 nginx",
        "cargo test secret_names_are_found -- --nocapture",
        "awk -F: '{print $1}' /etc/passwd",
        "docker run -p 8080:80 nginx && zip -r a.zip b && redis-cli -h x ping",
        "aws sso login --profile dev && kubectl get pods -A",
        "sort -k2 by date && set -eu && curl -u ann https://x",
        "cat SKILL.md daping/SK12 src/dapi.rs",
        "docker run --user=1000:1000 -u 1000:1000 image && kubectl get secret db -o yaml",
        "grep -rn cache_key src && grep -rn 'api key' docs && rg user_key src",
        "ssh -i ~/.ssh/id_ed25519 ann@host && ansible all --ca-key ./ca.pem -m ping",
        "mkdir -p a/b && cp -p x y && tar -xpf a.tar && ps -p 1 && ssh -p 22 host && nc -u host 53",
        "curl 'https://x.example/search?q=key&page=2&sort=name' -o out.json",
        "git config user.name Ann && yarn config set registry https://r.example && npm set fund false",
        "echo hello | tee f && printf '%s' x | sha256sum && echo y | apt install z",
        "openssl x509 -in c.pem -noout -subject && openssl dgst -sha256 f",
        "pin the version, code review, hotkey, primary_key: id, public_key: x",
        "for f in *.rs; do wc -l \"$f\"; done; x=$(git rev-parse HEAD)",
    ] {
        assert_eq!(text(case), case);
    }
}

#[test]
fn a_key_behind_something_that_only_looks_like_one_is_found() {
    let key = format!("sk-{}", "a1".repeat(20));
    for before in ["task-x:", "disk-a,", "x=mask-1;y="] {
        assert_eq!(text(&format!("echo {before}{key}")), format!("echo {before}{REDACTED}"));
    }
}

#[test]
fn keys_of_hexadecimal_digits_are_found_and_words_are_not() {
    let digits = "0123456789abcdef0123456789abcdef";
    for start in ["dapi", "SK"] {
        assert_eq!(text(&format!("x {start}{digits}")), format!("x {REDACTED}"));
        let word = format!("x {start}-{digits}");
        assert_eq!(text(&word), word);
    }
}

#[test]
fn a_long_text_says_how_much_is_missing() {
    assert_eq!(cut("ääää", 2), "ää ... (4 more bytes)");
    assert_eq!(cut("ab", 2), "ab");
}

#[test]
fn arguments_lose_the_values_of_secret_keys_at_any_depth() {
    let given = serde_json::json!({"url": "https://a:hunter2@b/", "auth": {"api_key": "hunter2", "n": 1}, "xs": ["TOKEN=hunter2"]});
    let kept = arguments(&given, 100);
    assert!(!kept.to_string().contains("hunter2"), "{kept}");
    assert_eq!(kept["auth"]["n"], 1);
}

#[test]
fn secrets_in_the_shapes_that_tools_use_are_found() {
    for given in [
        serde_json::json!({"args": ["mysql", "--password", "hunter2", "db"]}),
        serde_json::json!({"args": ["curl", "-u", "ann:hunter2"]}),
        serde_json::json!({"args": ["curl", "-H", "Authorization: ApiKey hunter2"]}),
        serde_json::json!({"headers": [{"name": "X-Api-Key", "value": "hunter2"}]}),
        serde_json::json!({"password": ["hunter2", {"x": "hunter2"}]}),
        serde_json::json!({"secret": {"value": "hunter2"}}),
        serde_json::json!({"pwd": "hunter2", "client_secret": true}),
        serde_json::json!({"body": "{\"token\":\"hunter2\"}"}),
        serde_json::json!({"GH_TOKEN=hunter2": 1}),
    ] {
        let kept = arguments(&given, 100);
        assert!(!kept.to_string().contains("hunter2"), "{kept}");
    }
    let plain = serde_json::json!({"args": ["git", "log", "--author", "ann"], "n": [1, null, true]});
    assert_eq!(arguments(&plain, 100), plain);
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_it(given in ".*") {
        let _ = text(&given);
    }

    #[test]
    fn a_key_is_found_wherever_it_stands(before in "[ =:\"'(/@%,.?&-]{0,8}", after in "[ \"');&|]{0,3}") {
        let key = "ghp_0123456789abcdefghij0123456789abcdef";
        let safe = text(&format!("echo {before}{key}{after}"));
        proptest::prop_assert!(!safe.contains("0123456789"), "{}", safe);
    }
}

#[test]
fn the_quick_looks_pass_nothing_by() {
    for name in [
        "x_passphrase",
        "my-api.key",
        "idToken",
        "db_pw",
        "userPin",
        "OTP",
        "x-hmac-key",
        "AccountKey",
        "PG_PASS",
        "db_pwd",
        "x-sig",
        "gh_pat",
        "cookie",
    ] {
        assert!(is_secret_name(name), "{name}");
    }
    for (start, least) in KEYS {
        assert!(start.is_ascii());
        let key = format!("{start}{}", "a".repeat(*least));
        for word in [key.clone(), format!("é{key}"), format!("a/b-{key}"), format!("x={key}")] {
            assert!(without_known_keys(&word).contains(REDACTED), "{word}");
        }
    }
}

/// Everything in the list of forms loses its secret, and keeps what else it says.
#[test]
fn no_form_in_the_list_keeps_its_secret() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for line in include_str!("forms.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let mut columns = line.split('\t');
        let [given, form, stays] = [(); 3].map(|()| columns.next().unwrap_or_else(|| panic!("{line}")));
        let json = || serde_json::from_str::<serde_json::Value>(form).unwrap_or_else(|error| panic!("{error}: {line}"));
        let kept = match given {
            "text" => text(&form.replace("\\n", "\n")),
            "list" => arguments(&serde_json::json!({ "args": json() }), 4096).to_string(),
            "json" => arguments(&json(), 4096).to_string(),
            "env" => {
                let (name, value) = form.split_once('=').unwrap();
                arguments(&serde_json::json!({ name: value }), 4096).to_string()
            }
            other => panic!("{other} is no way to give one: {line}"),
        };
        if kept.to_lowercase().contains("hunter2") {
            wrong.push(format!("{line}\n  {kept}"));
        }
        assert!(form.to_lowercase().contains("hunter2"), "{line}");
        for word in stays.split(' ').filter(|word| !kept.contains(word)) {
            wrong.push(format!("{word} is gone: {line}\n  {kept}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 1540, "{count}");
}

#[test]
fn the_quick_look_lets_no_name_of_the_table_pass() {
    for name in ANYWHERE.iter().chain(AT_END) {
        let apart: String = name.chars().flat_map(|letter| [letter, '-']).collect();
        let upper = name.to_ascii_uppercase();
        for form in [(*name).to_owned(), format!("x_{name}"), format!("--{upper}=v"), format!("{name}:"), apart] {
            assert!(super::name::may_name_secret(&form), "{form}");
        }
    }
    // Most words of a record are none.
    let words = "git status path workspace reads writes src main.rs cargo build release target because";
    let passed = words.split(' ').filter(|word| super::name::may_name_secret(word)).count();
    assert!(passed <= 2, "{passed} of the words are looked at for longer");
}

/// What only looks like a secret, or speaks of one, stays as it is.
#[test]
fn no_harmless_line_loses_a_word() {
    let lines = include_str!("harmless.txt").lines().filter(|line| !line.starts_with('#'));
    let wrong: Vec<String> =
        lines.clone().filter(|line| text(line) != *line).map(|line| format!("{line}\n  {}", text(line))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines.count() >= 170);
}
