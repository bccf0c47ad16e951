//! Who may do what: every address, for everybody, as a table. What is not in it fails the test.

use super::*;
use crate::Role;
use crate::guard::Named;

/// Of each address: whoever has no token, an agent, an approver, an admin of a tenant, an admin, the owner with the key.
const WHO: [&str; 6] = ["nobody", "agent", "approver", "tenant's admin", "admin", "owner"];

/// `200` and such: let in. `401`: said nothing of who they are. `403`: may not.
#[rustfmt::skip]
const TABLE: [(&str, &str, &str, [u16; 6]); 47] = [
    ("get",    "/v1/health",                    "",                            [200, 200, 200, 200, 200, 200]),
    ("get",    "/v1/ready",                     "",                            [200, 200, 200, 200, 200, 200]),
    ("get",    "/metrics",                      "",                            [200, 200, 200, 403, 200, 200]),
    ("get",    "/v1/openapi.json",              "",                            [200, 200, 200, 200, 200, 200]),
    ("post",   "/v1/session",                   r#"{"via":"terminal"}"#,       [400, 400, 400, 400, 400, 400]),
    ("delete", "/v1/session",                   "",                            [401, 403, 200, 200, 200, 200]),
    ("post",   "/v1/decisions",                 r#"{"tool":"x"}"#,             [200, 200, 200, 200, 200, 200]),
    ("post",   "/v1/outcomes",                  r#"{"record":"x"}"#,           [200, 200, 200, 200, 200, 200]),
    ("post",   "/v1/try",                       r#"{"tool":"x"}"#,             [401, 403, 403, 403, 200, 200]),
    ("post",   "/v1/plans",                     r#"{"steps":[]}"#,             [400, 400, 400, 400, 400, 400]),
    ("get",    "/v1/plans",                     "",                            [401, 403, 200, 200, 200, 200]),
    ("get",    "/v1/plans/{id}",                "",                            [404, 404, 404, 404, 404, 404]),
    ("get",    "/v1/policy/layers",             "?agent=x&workspace=/nowhere", [401, 403, 403, 403, 200, 200]),
    ("post",   "/v1/tools/filter",              r#"{"tools":["x"]}"#,          [200, 200, 200, 200, 200, 200]),
    ("get",    "/v1/approvals",                 "",                            [401, 403, 200, 200, 200, 200]),
    ("get",    "/v1/approvals/{id}",            "",                            [404, 404, 404, 404, 404, 404]),
    ("get",    "/v1/approvals/{id}/preview",    "?width=exact",                [401, 403, 404, 404, 404, 404]),
    ("get",    "/v1/approvals/{id}/context",    "",                            [401, 403, 404, 404, 404, 404]),
    ("get",    "/v1/approvals/{id}/rule",       "",                            [401, 403, 403, 403, 404, 404]),
    ("post",   "/v1/approvals/{id}/answer",     r#"{"verdict":"allow"}"#,      [401, 403, 404, 404, 404, 404]),
    ("post",   "/v1/approvals/{id}/escalate",   "",                            [401, 403, 404, 404, 404, 404]),
    ("post",   "/v1/route",                     r#"{}"#,                       [200, 200, 200, 200, 200, 200]),
    ("post",   "/v1/links/question",            r#"{"link":"x"}"#,             [410, 410, 410, 410, 410, 410]),
    ("post",   "/v1/links/answer",              r#"{"link":"x","verdict":"allow"}"#, [410, 410, 410, 410, 410, 410]),
    ("get",    "/v1/grants",                    "",                            [401, 403, 403, 200, 200, 200]),
    ("delete", "/v1/grants/{id}",               "",                            [401, 403, 403, 404, 404, 404]),
    ("get",    "/v1/limits",                    "",                            [401, 403, 403, 200, 200, 200]),
    ("get",    "/v1/sessions",                  "",                            [401, 403, 403, 200, 200, 200]),
    ("get",    "/v1/sessions/{id}",             "",                            [401, 403, 403, 404, 404, 404]),
    ("get",    "/v1/runs",                      "",                            [401, 403, 403, 200, 200, 200]),
    ("get",    "/v1/runs/{id}",                 "",                            [401, 403, 403, 404, 404, 404]),
    ("get",    "/v1/status",                    "",                            [401, 403, 200, 200, 200, 200]),
    ("get",    "/v1/mode",                      "",                            [401, 403, 200, 200, 200, 200]),
    ("post",   "/v1/mode",                      r#"{"run":"enforce"}"#,        [401, 403, 403, 403, 200, 200]),
    ("get",    "/v1/team",                      "",                            [401, 403, 403, 200, 200, 200]),
    ("get",    "/v1/policy",                    "?workspace=/nowhere",         [401, 403, 403, 403, 200, 200]),
    ("post",   "/v1/policy/validate",           r#"{"text":""}"#,              [401, 403, 403, 200, 200, 200]),
    ("get",    "/v1/policy/versions",           "",                            [401, 403, 403, 403, 200, 200]),
    ("get",    "/v1/policy/versions/{version}", "",                            [401, 403, 403, 403, 404, 404]),
    ("post",   "/v1/policy/try",                r#"{"text":"default = 7"}"#,   [401, 403, 403, 403, 422, 422]),
    ("post",   "/v1/policy/activate",           r#"{"text":"default = 7"}"#,   [401, 403, 403, 403, 422, 422]),
    ("post",   "/v1/policy/rollback",           r#"{"version":"x"}"#,          [401, 403, 403, 403, 404, 404]),
    ("get",    "/v1/audit",                     "",                            [401, 403, 403, 200, 200, 200]),
    ("get",    "/v1/audit/counts",              "",                            [401, 403, 403, 200, 200, 200]),
    ("get",    "/v1/audit/verify",              "",                            [401, 403, 403, 403, 200, 200]),
    ("get",    "/v1/audit/export",              "?format=jsonl",               [401, 403, 403, 200, 200, 200]),
    ("get",    "/v1/stream",                    "",                            [401, 200, 200, 200, 200, 200]),
];

const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];

fn request(method: &str, path: &str, more: &str, token: Option<&str>) -> Request<Body> {
    let path = path.replace("{id}", "nothing").replace("{version}", "nothing");
    let (query, body) = if more.starts_with('?') { (more, "") } else { ("", more) };
    let request = Request::builder().method(method.to_uppercase().as_str()).uri(format!("{path}{query}"));
    let request = request.header("host", "127.0.0.1:7171").header("content-type", "application/json");
    let request = match token {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    };
    request.body(Body::from(body.to_owned())).unwrap()
}

impl Server {
    /// One of each.
    async fn everybody(&self) -> [Option<String>; 6] {
        let of = |name: &str, role, tenant| Some(self.made(name, role, tenant));
        [
            None,
            of("bot", Role::Agent, None),
            of("alice", Role::Approver, None),
            of("carol", Role::Admin, Some("acme")),
            of("root", Role::Admin, None),
            Some(self.token().await),
        ]
    }

    /// Whoever signs out needs another token afterwards: the owner gets one for that alone.
    async fn for_sign_out(&self, token: &Option<String>, (who, method, path): (&str, &str, &str)) -> Option<String> {
        match (who, method, path) {
            ("owner", "delete", "/v1/session") => Some(self.token().await),
            _ => token.clone(),
        }
    }

    /// The status alone: a stream never ends.
    async fn status_of(&self, way_in: WayIn, request: Request<Body>) -> u16 {
        self.over(way_in).answer(request).await.status().as_u16()
    }
}

#[test]
fn every_address_that_is_described_is_in_the_table() {
    let described: Value = serde_json::from_str(&super::super::openapi::OPENAPI).unwrap();
    let mut addresses = BTreeSet::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        addresses.extend(methods.as_object().unwrap().keys().map(|method| (method.as_str(), path.as_str())));
    }
    assert_eq!(addresses, TABLE.iter().map(|(method, path, ..)| (*method, *path)).collect());
}

#[tokio::test]
async fn each_address_lets_in_whom_the_table_says() {
    let server = Server::trusting("default = \"ask\"\n");
    let everybody = server.everybody().await;
    for (method, path, more, expected) in TABLE {
        for ((who, token), expected) in WHO.iter().zip(&everybody).zip(expected) {
            for way_in in [WayIn::Loopback(PORT), WayIn::Socket] {
                let token = server.for_sign_out(token, (who, method, path)).await;
                let told = server.status_of(way_in, request(method, path, more, token.as_deref())).await;
                assert_eq!(told, expected, "{who}: {method} {path} {way_in:?}");
            }
        }
    }
}

#[tokio::test]
async fn tokens_of_a_store_that_is_not_trusted_are_agents_whatever_they_say() {
    let server = Server::new("default = \"ask\"\n");
    let everybody = server.everybody().await;
    for (method, path, more, expected) in TABLE {
        let owners = expected[5];
        for (who, token) in WHO.iter().zip(&everybody) {
            let expected = match *who {
                "nobody" => expected[0],
                "owner" => owners,
                "tenant's admin" if path == "/metrics" => 403,
                _ => expected[1],
            };
            let token = server.for_sign_out(token, (who, method, path)).await;
            let told = server.status_of(WayIn::Loopback(PORT), request(method, path, more, token.as_deref())).await;
            assert_eq!(told, expected, "{who}: {method} {path}");
        }
    }
}

#[tokio::test]
async fn over_tls_nobody_is_let_in_without_a_token_but_to_sign_in() {
    let server = Server::trusting("default = \"ask\"\n");
    let named = Box::leak(Box::new(Named { port: PORT, hosts: vec!["127.0.0.1".to_owned()] }));
    for (method, path, more, expected) in TABLE {
        let open = ["/v1/health", "/v1/session", "/v1/links/question", "/v1/links/answer"].contains(&path);
        let told = server.status_of(WayIn::Tls(named), request(method, path, more, None)).await;
        assert_eq!(told, if open { expected[0] } else { 401 }, "{method} {path}");
    }
}

#[tokio::test]
async fn no_other_method_does_anything_at_any_address() {
    let server = Server::trusting("default = \"ask\"\n");
    let owner = server.token().await;
    for (_, path, more, _) in TABLE {
        let known: Vec<&str> = TABLE.iter().filter(|row| row.1 == path).map(|row| row.0).collect();
        for method in METHODS.iter().filter(|method| !known.contains(method)) {
            // A head is a get without its answer's body.
            if *method == "head" && known.contains(&"get") {
                continue;
            }
            let told = server.status_of(WayIn::Loopback(PORT), request(method, path, more, Some(&owner))).await;
            assert_eq!(told, 405, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_token_that_is_not_good_is_refused_everywhere() {
    let server = Server::trusting("default = \"ask\"\n");
    server.made("gone", Role::Admin, None);
    for (method, path, more, _) in TABLE {
        for token in ["", "x", "sayso_", "null"] {
            let told = server.status_of(WayIn::Socket, request(method, path, more, Some(token))).await;
            assert!([401, 429].contains(&told), "{token:?}: {method} {path}: {told}");
        }
    }
}
