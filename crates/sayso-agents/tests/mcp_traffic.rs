//! Hostile traffic: whatever a client sends and a server says, no call reaches a server that the policy denies, nothing
//! hidden reaches the client, and the gateway lives on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a failed unwrap is a failed test"
)]

use proptest::prelude::*;
use sayso_agents::mcp::{GatewaySetting, JudgeSetting, Limits, Reach, ServerSetting, run_between};
use sayso_gate::Places;
use sayso_policy::{Layer, PolicyText};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, OnceLock};

/// A gateway in front of a program that says everything back: what the client hears is what the server was told, and
/// then said itself.
struct Echo {
    to: File,
    from: BufReader<File>,
    number: u64,
    _dir: tempfile::TempDir,
}

fn echo() -> &'static Mutex<Echo> {
    static ECHO: OnceLock<Mutex<Echo>> = OnceLock::new();
    ECHO.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let text = "default = \"deny\"\n[tools]\nhide = [\"mcp:echo/hidden*\"]\n";
        let given = PolicyText { layer: Layer::Given, name: "policy.toml".into(), text: text.into(), trusted: true };
        let setting = GatewaySetting {
            judge: JudgeSetting {
                stated: sayso_policy::Stated::default(),
                places: Places::below(dir.path(), dir.path()),
                given: Some(vec![given]),
                workspace: dir.path().to_owned(),
                agent: None,
            },
            servers: vec![ServerSetting {
                name: "echo".into(),
                reach: Reach::Command { command: vec!["cat".into()], env: vec![], cwd: None },
            }],
            launcher: Vec::new(),
            limits: Limits::default(),
        };
        let ((input, to), (from, output)) = (pipe(), pipe());
        std::thread::spawn(move || run_between(&setting, input, output).unwrap());
        Mutex::new(Echo { to, from: BufReader::new(from), number: 0, _dir: dir })
    })
}

fn pipe() -> (File, File) {
    let (reader, writer) = std::io::pipe().unwrap();
    (File::from(OwnedFd::from(reader)), File::from(OwnedFd::from(writer)))
}

impl Echo {
    /// Sends bytes, and everything that is heard until a last word comes back.
    fn send(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.number += 1;
        let last =
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/last\",\"params\":{{\"n\":{}}}}}\n", self.number);
        self.to.write_all(bytes).unwrap();
        self.to.write_all(b"\n").unwrap();
        self.to.write_all(last.as_bytes()).unwrap();
        let mut heard = Vec::new();
        loop {
            let mut line = Vec::new();
            assert!(self.from.read_until(b'\n', &mut line).unwrap() > 0, "the gateway ended");
            if line == last.as_bytes() {
                return heard;
            }
            heard.push(line);
        }
    }
}

/// Whether any reader could take a line for a call of a tool: exact or not about case, the first or the last of two.
fn could_be_call(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let Ok(raw) = serde_json::from_str::<serde_json::Value>(&text) else {
        return text.to_lowercase().contains("tools/call") && !text.contains("\"error\"");
    };
    let Some(object) = raw.as_object() else { return text.contains("tools/call") };
    object.iter().any(|(key, value)| key.eq_ignore_ascii_case("method") && value == "tools/call")
}

fn method() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("tools/call".to_owned()),
        Just("tools\\/call".to_owned()),
        Just("\\u0074ools/call".to_owned()),
        Just("tools/c\\u0061ll".to_owned()),
        Just("tools/list".to_owned()),
        Just("ping".to_owned()),
        "[a-z/]{0,12}",
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("method".to_owned()),
        Just("Method".to_owned()),
        Just("METHOD".to_owned()),
        Just("m\\u0065thod".to_owned()),
        Just("params".to_owned()),
        Just("id".to_owned()),
        Just("result".to_owned()),
        Just("jsonrpc".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        method().prop_map(|text| format!("\"{text}\"")),
        Just("{\"name\":\"echo\",\"arguments\":{}}".to_owned()),
        Just("{\"name\":\"echo\",\"name\":\"x\"}".to_owned()),
        Just("{\"tools\":[{\"name\":\"hidden_one\"},{\"name\":\"seen\"}]}".to_owned()),
        Just("{\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"tools\":[{\"name\":\"hidden_two\"}]}".to_owned()),
        Just("null".to_owned()),
        any::<i32>().prop_map(|number| number.to_string()),
        "\\PC{0,6}",
    ]
}

fn object() -> impl Strategy<Value = String> {
    proptest::collection::vec((key(), value()), 0..6).prop_map(|members| {
        let members: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let wrapped = prop_oneof![
        6 => object(),
        1 => object().prop_map(|text| format!("[{text}]")),
        1 => (object(), object()).prop_map(|(one, two)| format!("{one}{two}")),
        1 => (object(), object()).prop_map(|(one, two)| format!("{one}\r{two}")),
        1 => object().prop_map(|text| format!("\u{feff}{text}")),
    ];
    let bytes = wrapped.prop_map(String::into_bytes);
    (bytes, proptest::option::of((any::<prop::sample::Index>(), any::<u8>()))).prop_map(|(mut bytes, change)| {
        if let Some((at, byte)) = change
            && !bytes.is_empty()
            && byte != b'\n'
        {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_call_that_is_denied_reaches_the_server_and_nothing_hidden_the_client(bytes in line()) {
        let heard = echo().lock().unwrap_or_else(std::sync::PoisonError::into_inner).send(&bytes);
        for line in &heard {
            let text = String::from_utf8_lossy(line);
            prop_assert!(!could_be_call(line), "{} -> {}", String::from_utf8_lossy(&bytes), text);
            prop_assert!(serde_json::from_slice::<serde_json::Value>(line).is_ok(), "{text}");
            let result = serde_json::from_slice::<serde_json::Value>(line).ok().and_then(|v| v.get("result").cloned());
            let tools = result.as_ref().and_then(|result| result.get("tools")).map(ToString::to_string);
            prop_assert!(!tools.is_some_and(|tools| tools.contains("hidden")), "{text}");
        }
    }
}

#[test]
fn bytes_that_are_nothing_at_all_change_nothing() {
    let mut echo = echo().lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for bytes in [b"\0\0\0".as_slice(), b"\xff\xfe{}", b"{", b"]]]]", deep.as_bytes(), b"\r\r\r"] {
        for line in echo.send(bytes) {
            assert!(String::from_utf8_lossy(&line).contains("\"error\""), "{}", String::from_utf8_lossy(&line));
        }
    }
}
