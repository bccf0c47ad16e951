//! `/v1/policy`.

use crate::client::Served;
use sayso_server::Role;
use serde_json::{Value, json};

const FIRST: &str = "default = \"ask\"\n[allow]\ntool = [\"web_search\"]\n";
const SECOND: &str = "default = \"ask\"\n[deny]\ntool = [\"web_search\"]\n";

#[test]
fn what_is_in_force_is_shown_file_by_file() {
    let served = Served::with(FIRST);
    let (status, shown) = served.get(&served.owner, "/v1/policy");
    assert_eq!(status, 200, "{shown}");
    let file = &shown["files"][0];
    assert_eq!((&file["layer"], &file["text"], &file["problems"]), (&json!("user"), &json!(FIRST), &json!([])));
    assert!(!shown["version"].as_str().unwrap().is_empty());
    assert_eq!(shown["presets"], json!([]));
    let building_on = Served::with("extends = [\"developer\"]\n");
    let (_, shown) = building_on.get(&building_on.owner, "/v1/policy");
    assert_eq!((&shown["presets"][0]["name"], shown["presets"][1].is_null()), (&json!("developer"), true), "{shown}");
    assert_eq!(shown["presets"][0]["text"].as_str(), sayso_policy::presets::text("developer"));
    let project = served.places.home.join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::write(project.join(".sayso.toml"), "[deny]\ntool = [\"x\"]\n").unwrap();
    let (_, there) = served.get(&served.owner, &format!("/v1/policy?workspace={}", project.display()));
    assert_eq!((&there["files"][1]["layer"], &there["files"][1]["trusted"]), (&json!("project"), &json!(false)));
    assert_eq!(there["notices"][0]["code"], "untrusted-project", "{there}");
    assert_eq!(served.get(&served.owner, "/v1/policy?workspace=relative").0, 400);
}

#[test]
fn a_text_is_told_where_it_is_wrong_and_changes_nothing() {
    let served = Served::with(FIRST);
    let validate = |text: &str| served.post(Some(&served.owner), "/v1/policy/validate", &json!({"text": text}));
    assert_eq!(validate(SECOND), (200, json!({"valid": true, "problems": []})));
    let (status, told) = validate("default = \"ask\"\n\n[alow]\nrun = [\"ls\"]\n");
    let problem = &told["problems"][0];
    assert_eq!(
        (status, &told["valid"], &problem["line"], &problem["column"]),
        (200, &json!(false), &json!(3), &json!(2)),
        "{told}"
    );
    let example = "[[rule]]\nid = \"r\"\nask = { tool = \"mcp:a/b\" }\nwhen = { arg.repo = \"prod-*\" }\nhits = [{ repo = \"other\" }]\n";
    let (_, told) = validate(example);
    assert_eq!((&told["valid"], &told["problems"][0]["line"]), (&json!(false), &json!(5)), "{told}");
    assert_eq!(std::fs::read_to_string(&served.places.user).unwrap(), FIRST);
    assert_eq!(served.post(Some(&served.owner), "/v1/policy/validate", &json!({"txt": ""})).0, 400);
}

#[test]
fn a_text_is_put_in_force_and_back_and_the_record_says_by_whom() {
    let served = Served::with(FIRST);
    let call = json!({"tool": "web_search"});
    assert_eq!(served.decide(None, &call)["verdict"], "allow");
    let first = served.get(&served.owner, "/v1/policy").1["version"].clone();

    let broken = served.post(Some(&served.owner), "/v1/policy/activate", &json!({"text": "default = 7\n"}));
    assert_eq!(
        (broken.0, &broken.1["error"]["code"], &broken.1["problems"][0]["line"]),
        (422, &json!("policy-refused"), &json!(1))
    );
    let other = json!({"text": SECOND, "base": "0123456789abcdef"});
    let (status, told) = served.post(Some(&served.owner), "/v1/policy/activate", &other);
    assert_eq!((status, &told["error"]["code"]), (409, &json!("policy-changed")));
    assert_eq!(std::fs::read_to_string(&served.places.user).unwrap(), FIRST, "nothing was written");

    let (status, put) =
        served.post(Some(&served.owner), "/v1/policy/activate", &json!({"text": SECOND, "base": first}));
    assert_eq!(status, 200, "{put}");
    assert_eq!(std::fs::read_to_string(&served.places.user).unwrap(), SECOND);
    assert_eq!(std::fs::read_to_string(served.places.user.with_extension("toml.before")).unwrap(), FIRST);
    assert_eq!(served.until(&call, "deny")["verdict"], "deny");

    let (_, versions) = served.get(&served.owner, "/v1/policy/versions");
    let versions = versions["versions"].as_array().unwrap();
    assert_eq!((versions.len(), &versions[0]["version"], &versions[0]["in_force"]), (2, &put["version"], &json!(true)));
    let (_, old) = served.get(&served.owner, &format!("/v1/policy/versions/{}", first.as_str().unwrap()));
    assert!(old["diff"].as_str().unwrap().contains("-[allow]\n+[deny]\n"), "{old}");

    let (status, back) = served.post(Some(&served.owner), "/v1/policy/rollback", &json!({"version": first}));
    assert_eq!((status, &back["version"]), (200, &first), "{back}");
    assert_eq!(served.until(&call, "allow")["verdict"], "allow");
    let (_, found) = served.get(&served.owner, "/v1/audit?kind=policy&order=oldest");
    let changes: Vec<_> = found["records"].as_array().unwrap().iter().map(|it| (&it["what"], &it["by"])).collect();
    assert!(changes.contains(&(&json!("activated"), &json!("owner"))), "{changes:?}");
    assert!(changes.contains(&(&json!("rolled-back"), &json!("owner"))), "{changes:?}");
    assert_eq!(served.post(Some(&served.owner), "/v1/policy/rollback", &json!({"version": "ffffffffffff"})).0, 404);
    assert_eq!(served.post(Some(&served.owner), "/v1/policy/rollback", &json!({"version": ""})).0, 404);
}

#[test]
fn of_sixteen_changes_at_once_from_one_version_one_is_written_and_the_others_are_told() {
    let served = Served::with(FIRST);
    for round in 0..3 {
        let (_, before) = served.get(&served.owner, "/v1/policy");
        let (base, stood) = (&before["version"], std::fs::read_to_string(&served.places.user).unwrap());
        let text = |n: usize| format!("# round {round}, writer {n}\n{SECOND}");
        let all_at_once = std::sync::Barrier::new(16);
        let told: Vec<(u16, Value)> = std::thread::scope(|scope| {
            let write = |n: usize| {
                let (served, text, all_at_once) = (&served, text(n), &all_at_once);
                scope.spawn(move || {
                    all_at_once.wait();
                    served.post(Some(&served.owner), "/v1/policy/activate", &json!({"text": text, "base": base}))
                })
            };
            let writers: Vec<_> = (0..16).map(write).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let won: Vec<usize> = (0..16).filter(|n| told[*n].0 == 200).collect();
        assert_eq!(won.len(), 1, "{told:?}");
        assert_eq!(std::fs::read_to_string(&served.places.user).unwrap(), text(won[0]));
        for (status, refused) in told.iter().filter(|(status, _)| *status != 200) {
            assert_eq!((*status, &refused["error"]["code"]), (409, &json!("policy-changed")), "{refused}");
            assert!(refused["error"]["text"].as_str().unwrap().contains("GET /v1/policy"), "{refused}");
        }
        // It judged nothing, and is there to go back to.
        let (status, was) = served.get(&served.owner, &format!("/v1/policy/versions/{}", base.as_str().unwrap()));
        assert_eq!((status, &was["files"][0]["text"]), (200, &json!(stood)), "{was}");
    }
    let (_, found) = served.get(&served.owner, "/v1/audit?kind=policy&order=oldest");
    let activated = found["records"].as_array().unwrap().iter().filter(|it| it["what"] == "activated").count();
    assert_eq!(activated, 3, "nothing is recorded that was not written");
}

#[test]
fn a_policy_behind_a_link_is_written_through_it() {
    let served = Served::with(FIRST);
    let real = served.places.home.join("dotfiles.toml");
    std::fs::rename(&served.places.user, &real).unwrap();
    std::os::unix::fs::symlink(&real, &served.places.user).unwrap();
    let (status, put) = served.post(Some(&served.owner), "/v1/policy/activate", &json!({"text": SECOND}));
    assert_eq!(status, 200, "{put}");
    assert!(std::fs::symlink_metadata(&served.places.user).unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), SECOND);
}

#[test]
fn only_whoever_no_wall_stops_sees_or_changes_the_policy() {
    let served = Served::with(FIRST);
    let tenants = served.token("a-admin", Role::Admin, Some("a"));
    let approver = served.token("alice", Role::Approver, None);
    for token in [&tenants, &approver] {
        for path in ["/v1/policy", "/v1/policy/versions", "/v1/policy/versions/x"] {
            assert_eq!(served.get(token, path).0, 403, "{path}");
        }
        for path in ["/v1/policy/activate", "/v1/policy/rollback"] {
            assert_eq!(served.post(Some(token), path, &json!({"text": SECOND, "version": "x"})).0, 403, "{path}");
            assert_eq!(served.post(None, path, &json!({"text": SECOND, "version": "x"})).0, 401, "{path}");
        }
    }
    assert_eq!(served.post(Some(&tenants), "/v1/policy/validate", &json!({"text": SECOND})).0, 200);
    assert_eq!(served.post(Some(&approver), "/v1/policy/validate", &json!({"text": SECOND})).0, 403);
    assert_eq!(std::fs::read_to_string(&served.places.user).unwrap(), FIRST);
}

#[test]
fn what_is_put_in_force_is_told_and_judged_by_at_once() {
    let served = Served::with("default = \"ask\"\n");
    let call = json!({"tool": "web_search", "args": {}, "cwd": "/nowhere"});
    assert_eq!(served.decide(None, &call)["verdict"], "ask");
    for (text, verdict) in [("default = \"deny\"\n", "deny"), ("[allow]\ntool = [\"web_search\"]\n", "allow")] {
        let (status, put) = served.post(Some(&served.owner), "/v1/policy/activate", &json!({"text": text}));
        assert_eq!(status, 200, "{put}");
        assert_eq!(served.get(&served.owner, "/v1/status").1["policy_version"], put["version"]);
        assert_eq!(served.decide(None, &call)["verdict"], verdict, "{text}");
    }
}

#[test]
fn a_text_is_tried_on_the_record_and_changes_nothing() {
    let served = Served::with("default = \"ask\"\n");
    for name in ["a", "b", "c"] {
        let call = json!({"command": format!("make {name}"), "cwd": served.places.home});
        assert_eq!(served.decide(None, &call)["verdict"], "ask");
    }
    let text = json!({"text": "default = \"ask\"\n[allow]\nrun = [\"make a\"]\n"});
    let (status, tried) = served.post(Some(&served.owner), "/v1/policy/try", &text);
    assert_eq!(status, 200, "{tried}");
    let counts = ["calls", "asked_before", "asked_after"].map(|key| tried[key].as_u64().unwrap());
    assert_eq!(counts, [3, 3, 2], "{tried}");
    assert_eq!((&tried["flips"][0]["calls"], &tried["flips"][0]["new"]["verdict"]), (&json!(1), &json!("allow")));
    assert_eq!(std::fs::read_to_string(&served.places.user).unwrap(), "default = \"ask\"\n");
    let (status, _) = served.post(Some(&served.owner), "/v1/policy/try", &json!({"text": "default = 7\n"}));
    assert_eq!(status, 422);
}

#[test]
fn the_layers_in_force_for_an_actor_are_named() {
    let served = Served::with(
        "extends = [\"developer\"]\n[actor]\nteam = \"a\"\n[for.\"agent:reviewer\"]\nextends = [\"reviewer\"]\n\
         [tools.for.\"team:a\"]\nhide = [\"@web\"]\n",
    );
    let (status, found) = served.get(&served.owner, "/v1/policy/layers?agent=reviewer&provider=openai/gpt-4");
    assert_eq!((status, &found["actor"]["team"]), (200, &json!("a")), "{found}");
    let layers = found["layers"].as_array().unwrap();
    let shown: Vec<_> = layers.iter().map(|it| (it["kind"].as_str().unwrap(), it["says"].as_str().unwrap())).collect();
    assert_eq!(shown, [("actor", "team a"), ("presets", "developer"), ("presets", "reviewer"), ("tools", "hide @web")]);
    assert_eq!((&layers[1]["replaced_by"], &layers[3]["who"]), (&json!("agent:reviewer"), &json!("team:a")));
    assert_eq!(served.get(&served.owner, "/v1/policy/layers?role=reviewer").0, 400);
    // The presets of roles are among those that are shown.
    let (_, policy) = served.get(&served.owner, "/v1/policy");
    let names: Vec<_> = policy["presets"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["developer", "reviewer"]);
}

#[test]
fn a_name_without_a_token_satisfies_no_allow_and_one_with_a_token_does() {
    let served = Served::with(
        "default = \"ask\"\n[[rule]]\nid = \"coders\"\nallow = { tool = \"gizmo\" }\nwhen = { for = \"agent:coder\" }\n\
         [[rule]]\nid = \"not-explorers\"\ndeny = { tool = \"gizmo\" }\nwhen = { for = \"agent:explore\" }\n",
    );
    let ask = |token: Option<&str>, agent: &str| {
        let body = json!({"tool": "gizmo", "args": {}, "context": {"agent": agent, "session": "s"}});
        served.post(token, "/v1/decisions", &body).1["verdict"].as_str().unwrap_or_default().to_owned()
    };
    assert_ne!(ask(None, "coder"), "allow");
    assert_eq!(ask(None, "explore"), "deny");
    let token = served.token("coder", Role::Agent, None);
    assert_eq!(ask(Some(&token), "whoever"), "allow");
}
