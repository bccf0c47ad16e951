//! What a caller says of itself adds to what the owner's machine knows, and takes no guard away.

use crate::client::Served;
use sayso_server::Role;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The home of this process, which is the server's.
fn own_home() -> PathBuf {
    std::env::var_os("HOME").map(PathBuf::from).unwrap()
}

fn verdict(served: &Served, call: &Value) -> String {
    served.decide(None, call)["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn a_claimed_home_takes_no_guard_away() {
    let own = own_home();
    let served =
        Served::with("default = \"allow\"\n[deny]\nread = [\"~/private/**\"]\n[ask]\nwrite = [\"~/notes/**\"]\n");
    let own = |name: &str| own.join(name).to_string_lossy().into_owned();
    for (home, env) in [
        (json!(null), json!(null)),
        (json!("/nowhere"), json!(null)),
        (json!(null), json!({"HOME": "/nowhere", "PATH": "/usr/bin:/bin"})),
        (json!("/nowhere"), json!({"HOME": "/elsewhere"})),
        (json!("/nowhere"), json!({"HOME": "/nowhere"})),
    ] {
        let with = |command: String| json!({"command": command, "cwd": "/srv/x", "home": home, "env": env});
        let said = |command: String| verdict(&served, &with(command));
        for path in [own("private/x"), "~/private/x".to_owned(), "$HOME/private/x".to_owned()] {
            assert_eq!(said(format!("cat {path}")), "deny", "{path} {home} {env}");
        }
        assert_ne!(said(format!("echo x > {}", own("notes/a"))), "allow", "{home} {env}");
        assert_ne!(said(format!("echo x > {}", own(".bashrc"))), "allow", "{home} {env}");
        assert_ne!(said("echo x > ~/.bashrc".to_owned()), "allow", "{home} {env}");
        assert_ne!(said(format!("cat {}", own(".ssh/id_rsa"))), "allow", "{home} {env}");
        assert_eq!(said(format!("rm -rf {}", own(""))), "deny", "{home} {env}");
        let read = |path: String| json!({"tool": "Read", "args": {"file_path": path}, "cwd": "/srv/x", "home": home});
        assert_eq!(verdict(&served, &read(own("private/x"))), "deny", "{home}");
        assert_eq!(verdict(&served, &read("~/private/x".to_owned())), "deny", "{home}");
    }
    for claimed in ["/nowhere/private/x", "~/private/x"] {
        let call = json!({"command": format!("cat {claimed}"), "cwd": "/srv/x", "home": "/nowhere"});
        assert_eq!(verdict(&served, &call), "deny", "a rule on `~` means the claimed home too: {claimed}");
    }
}

#[test]
fn a_claimed_home_gives_no_allow() {
    let served = Served::with("default = \"deny\"\n[allow]\nread = [\"~/src/**\"]\n");
    let said = |path: &str, home: &str| {
        verdict(&served, &json!({"tool": "Read", "args": {"file_path": path}, "cwd": "/srv/x", "home": home}))
    };
    let own = own_home();
    let inside = format!("{}/src/x", own.display());
    assert_eq!(said(&inside, own.to_str().unwrap()), "allow");
    assert_eq!(said(&inside, "/etc"), "allow", "what the owner allows is allowed");
    assert_eq!(said("/etc/src/x", "/etc"), "deny");
    assert_eq!(said("~/src/x", "/etc"), "deny", "it may be either");
}

#[test]
fn a_claimed_workspace_that_holds_a_home_matches_no_allow() {
    let served = Served::with("default = \"ask\"\n[allow]\nwrite = [\"./**\"]\nrun = [\"touch\"]\n");
    let own = own_home();
    for workspace in [own.as_path(), own.parent().unwrap_or(&own), "/".as_ref()] {
        for home in [json!(null), json!("/nowhere"), json!(workspace.join("x"))] {
            let target = own.join("a-new-file");
            let call = json!({"command": format!("touch {}", target.display()), "cwd": workspace, "home": home,
                "workspace": workspace});
            assert_eq!(verdict(&served, &call), "ask", "{workspace:?} {home}");
        }
    }
}

/// A project with a policy file of its own, a folder beside it and one above.
fn project() -> tempfile::TempDir {
    let above = tempfile::tempdir().unwrap();
    for folder in ["project/docs", "project/locked", "other"] {
        std::fs::create_dir_all(above.path().join(folder)).unwrap();
    }
    let file = "[deny]\nrun = [\"terraform\"]\n[ask]\nread = [\"./docs/**\"]\n";
    std::fs::write(above.path().join("project/.sayso.toml"), file).unwrap();
    above
}

#[test]
fn no_claim_makes_a_verdict_milder() {
    let served = Served::with(
        "default = \"allow\"\n[deny]\nread = [\"./locked/**\", \"~/private/**\"]\nwrite = [\"./**\", \"!./out/**\"]\n\
         [ask]\nrun = [\"make\"]\n[tools.for.subagent]\nhide = [\"web_fetch\"]\n",
    );
    let above = project();
    let above = above.path().canonicalize().unwrap();
    let (cwd, other) = (above.join("project"), above.join("other"));
    let path = |folder: &PathBuf, name: &str| folder.join(name).display().to_string();
    let commands = [
        "terraform apply".to_owned(),
        "cat locked/a".to_owned(),
        format!("cat {}", path(&cwd, "locked/a")),
        "cat docs/a".to_owned(),
        format!("cat {}", path(&cwd, "docs/a")),
        "touch a".to_owned(),
        "make".to_owned(),
        "cd docs && cat ../locked/a".to_owned(),
        "cat ~/private/x".to_owned(),
        "cat $HOME/private/x".to_owned(),
        "cd && cat private/x".to_owned(),
        "cat < ~/private/x".to_owned(),
        "echo x >> ~/.bashrc".to_owned(),
        "echo x > ~/.config/sayso/policy.toml".to_owned(),
        "rm -rf ~".to_owned(),
        "ls".to_owned(),
    ];
    let folders = [above.clone(), other.clone(), cwd.join("docs"), cwd.join("locked"), "/".into(), "/nowhere".into()];
    let mut claims = vec![
        json!({"home": other}),
        json!({"env": {"HOME": "/nowhere", "PWD": "/tmp", "PATH": "/usr/bin:/bin"}}),
        json!({"env": {}}),
        // None of these is a folder, and `~` means something else under each of them.
        json!({"env": {"HOME": ""}}),
        json!({"env": {"HOME": "."}}),
        json!({"env": {"HOME": "~"}}),
        json!({"env": {"HOME": "$HOME"}}),
        json!({"env": {"HOME": "/nowhere\n"}}),
        json!({"home": other, "env": {"HOME": "x"}}),
        json!({"kind": "read"}),
        json!({"context": {"agent": "owner", "group": "leads", "member": "owner", "tenant": "t"}}),
        json!({"context": {"subagent": false}}),
    ];
    claims.extend(folders.iter().map(|folder| json!({"workspace": folder})));
    // Sessions that began elsewhere.
    for (number, folder) in folders.iter().enumerate() {
        let session = json!({"session": format!("s{number}")});
        served.decide(None, &json!({"command": "ls", "cwd": folder, "context": session}));
        claims.push(json!({"context": session}));
    }
    let strictness = |verdict: &str| ["allow", "ask", "deny"].iter().position(|known| *known == verdict).unwrap();
    for command in commands {
        let call = json!({"command": command, "cwd": cwd});
        let without = verdict(&served, &call);
        for claim in &claims {
            let mut with = call.clone();
            with.as_object_mut().unwrap().extend(claim.as_object().unwrap().clone());
            let said = verdict(&served, &with);
            assert!(strictness(&said) >= strictness(&without), "{command} {claim}: {without} became {said}");
        }
    }
}

#[test]
fn an_environment_that_leaves_path_out_is_not_without_one() {
    let served = Served::with("default = \"ask\"\n[allow]\nrun = [\"/usr/bin/uname\", \"/bin/uname\"]\n");
    let call = json!({"command": "uname", "cwd": "/srv/x", "env": {}});
    assert_eq!(verdict(&served, &call), "allow");
}

#[test]
fn a_session_belongs_to_who_opened_it() {
    let served = Served::with("default = \"ask\"\n[allow]\nwrite = [\"./**\"]\nrun = [\"touch\"]\n");
    let token = served.token("bot", Role::Agent, None);
    let other = served.token("rob", Role::Agent, None);
    let (mine, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mine, theirs) = (mine.path().canonicalize().unwrap(), theirs.path().canonicalize().unwrap());
    let touch = |token: Option<&str>, folder: &PathBuf| {
        let call = json!({"command": format!("touch {}", folder.join("f").display()), "cwd": folder,
            "context": {"session": "s1"}});
        served.decide(token, &call)["verdict"].clone()
    };
    // Somebody without a token is first, in a folder of their own.
    assert_eq!(touch(None, &theirs), "allow");
    assert_eq!(touch(None, &mine), "ask", "their session stays where it began");
    assert_eq!(touch(Some(&token), &mine), "allow", "the session of the same name with a token is another one");
    assert_eq!(touch(Some(&token), &theirs), "ask");
    assert_eq!(touch(Some(&other), &theirs), "allow", "and another token has another one");
    assert_eq!(touch(Some(&served.owner), &mine), "allow");
}

#[test]
fn an_answer_for_a_session_is_for_who_opened_it() {
    let served = Served::with("default = \"ask\"\n");
    let token = served.token("claude-code", Role::Agent, None);
    let call = json!({"tool": "web_search", "args": {"query": "x"}, "cwd": "/srv/x", "wait": 0,
        "context": {"session": "s1"}});
    let asked = served.decide(Some(&token), &call);
    served.say_yes(&asked, "session", "program");
    assert_eq!(served.decide(Some(&token), &call)["verdict"], "allow");
    assert_eq!(served.decide(None, &call)["verdict"], "ask", "the same name says nothing");
    let rob = served.token("rob", Role::Agent, None);
    assert_eq!(served.decide(Some(&rob), &call)["verdict"], "ask");
}

#[test]
fn nobody_fixes_the_folder_of_a_hooks_session_over_http() {
    let served = Served::with("default = \"allow\"\n");
    let folders = tempfile::tempdir().unwrap();
    let (before, after) = (folders.path().join("before"), folders.path().join("after"));
    // As a hook of an earlier version left it, and as one that begins now finds it.
    let sessions = sayso_gate::Sessions::open(&served.places).unwrap();
    assert_eq!(sessions.workspace("claude-code\0old", &before).unwrap(), before);
    for id in ["claude-code\0old", "claude-code\0new"] {
        for tenant in [json!(null), json!("t")] {
            let call = json!({"command": "ls", "cwd": "/srv/evil", "context": {"session": id, "tenant": tenant}});
            served.decide(None, &call);
        }
    }
    let sessions = sayso_gate::Sessions::open(&served.places).unwrap();
    assert_eq!(sessions.workspace("claude-code\0old", &after).unwrap(), before);
    assert_eq!(sessions.workspace("claude-code\0new", &after).unwrap(), after);
}

#[test]
fn a_tenant_that_is_made_up_begins_no_new_day() {
    for scope in ["day", "tenant"] {
        let served = Served::with(&format!("default = \"allow\"\n[limits.{scope}]\ncalls = 3\n"));
        let said = |token: Option<&str>, tenant: Value| {
            let call = json!({"command": "ls", "cwd": "/srv/x", "context": {"tenant": tenant}});
            served.decide(token, &call)["verdict"].clone()
        };
        for tenant in [json!(null), json!("a"), json!("b")] {
            assert_eq!(said(None, tenant), "allow", "{scope}");
        }
        for tenant in [json!(null), json!("a"), json!("c"), json!(" "), json!("-")] {
            assert_ne!(said(None, tenant.clone()), "allow", "{scope} {tenant}");
        }
        let token = served.token("bot", Role::Agent, Some("t"));
        assert_eq!(said(Some(&token), json!(null)), "allow", "a tenant of a token has a budget of its own");
    }
}

#[test]
fn a_name_that_is_made_up_begins_no_new_session_run_or_agent() {
    for scope in ["session", "run", "agent"] {
        let served = Served::with(&format!("default = \"allow\"\n[limits.{scope}]\ncalls = 3\n"));
        let say = |token: Option<&str>, context: Value| {
            served.decide(token, &json!({"command": "ls", "cwd": "/srv/x", "context": context}))
        };
        let named = |name: &str| json!({"session": name, "run": name, "agent": name, "tenant": name, "member": name});
        for name in ["a", "b", "c"] {
            assert_eq!(say(None, named(name))["verdict"], "allow", "{scope}");
        }
        for context in
            [named("d"), named("a"), json!({}), json!({"session": "e"}), json!({"agent": "e", "subagent": true})]
        {
            let told = say(None, context.clone());
            assert_eq!(told["verdict"], "deny", "{scope} {context}");
            assert_eq!(told["reasons"][0]["code"], "limit", "{told}");
            assert!(told["reasons"][0]["text"].as_str().unwrap().contains("without a token"), "{told}");
        }
        let token = served.token("bot", Role::Agent, None);
        let told = say(Some(&token), named("bot"));
        assert_eq!(told["verdict"], "allow", "whoever has a token has a budget of its own: {told}");
    }
}

#[test]
fn whoever_asks_under_the_owners_name_takes_no_question_from_the_owner() {
    let served = Served::with(
        "default = \"ask\"\n[approvals.leads]\nmembers = [\"owner\"]\n[[rule]]\nid = \"second\"\nask = { tool = \"web_fetch\" }\napprover = \"leads\"\n",
    );
    for (n, (tool, context)) in [
        ("web_search", json!({"agent": "owner"})),
        ("web_search", json!({"agent": "owner", "member": "owner"})),
        ("web_fetch", json!({"agent": "owner"})),
        ("web_fetch", json!({"agent": "x", "member": "owner"})),
    ]
    .into_iter()
    .enumerate()
    {
        for reply in ["deny", "allow"] {
            let call = json!({"tool": tool, "args": {"query": format!("{n} {reply}"), "url": format!("https://{n}.{reply}.example/")},
                "wait": 0, "context": context});
            let asked = served.decide(None, &call);
            let id = asked["approval"].as_str().unwrap_or_else(|| panic!("{asked}"));
            let (_, card) = served.get(&served.owner, &format!("/v1/approvals/{id}"));
            assert_eq!(card["actor"]["asker"], "anybody", "the card says that nobody proved the name: {card}");
            let path = format!("/v1/approvals/{id}/answer");
            let (status, told) = served.post(Some(&served.owner), &path, &json!({"verdict": reply}));
            assert_eq!(status, 200, "{context} {told}");
            assert_eq!(served.decide(None, &call)["verdict"], reply, "{context}");
        }
    }
}

#[test]
fn nobody_answers_what_they_asked_with_their_own_token() {
    let served = Served::with("default = \"ask\"\n");
    let ann = served.token("ann", Role::Approver, None);
    let asked = served.decide(Some(&ann), &json!({"tool": "web_search", "args": {}, "wait": 0}));
    let path = format!("/v1/approvals/{}/answer", asked["approval"].as_str().unwrap());
    assert_ne!(served.post(Some(&ann), &path, &json!({"verdict": "allow"})).0, 200);
    let by_owner = served.decide(Some(&served.owner), &json!({"tool": "web_search", "args": {"q": 1}, "wait": 0}));
    let path = format!("/v1/approvals/{}/answer", by_owner["approval"].as_str().unwrap());
    assert_ne!(served.post(Some(&served.owner), &path, &json!({"verdict": "allow"})).0, 200);
}
