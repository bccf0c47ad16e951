//! Clients of MySQL, Redis, MongoDB and their like.

use super::sqlite::from_stdin;
use crate::effect::{Carry, NamedBy, Verb};
use crate::option::{Style, options};
use crate::program::{Act, Code, Spec, View};
use crate::script::{self, Finding};

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["mysql", "mariadb", "mycli"])
        .style(Style::GNU.and(Style::RISKY))
        .options(&[options!("
            -u --user U, -p --password [P], -P --port N, -D --database D, -B --batch, -N --skip-column-names, -s --silent, -r --raw, -t --table, -v --verbose, -H --html, -X --xml, -f --force, -C --compress
            -A --no-auto-rehash, -E --vertical, -q --quick, -n --unbuffered, -V, --default-character-set C, --protocol P, --ssl-mode M, --connect-timeout N, --column-names, -w --wait, -i --ignore-spaces
            --safe-updates -U, --skip-ssl, --ssl, --binary-mode, --no-defaults
            -S --socket PATH
            -h --host HOST : connects
            -e --execute SQL
            --defaults-file FILE, --defaults-extra-file FILE, --ssl-ca FILE, --ssl-cert FILE, --ssl-key FILE : reads
            --tee FILE : writes
            --pager [CMD], --init-command SQL, --plugin-dir DIR, --default-auth P : runs
            --local-infile [V] : changes-files
        ")])
        .judge(mysql),
    Spec::new(&["mysqldump", "mariadb-dump", "mysqlcheck", "mysqlshow", "mysqladmin", "mysqlimport"])
        .style(Style::GNU.and(Style::RISKY))
        .options(&[options!("
            -u --user U, -p --password [P], -P --port N, -A --all-databases, -B --databases, -d --no-data, --single-transaction, --routines, -R, --triggers, --events, -q --quick, --lock-tables, --opt
            --skip-lock-tables, --no-create-info, -t, --add-drop-table, --set-gtid-purged V, --column-statistics N, -S --socket P, -v --verbose, -h --host HOST, -f --force, -s --silent, --no-tablespaces
            -r --result-file FILE : makes
            -T --tab DIR : writes-below
            --defaults-file FILE, --defaults-extra-file FILE : reads
        ")])
        .judge(mysql_tool),
    Spec::new(&["redis-cli", "valkey-cli", "keydb-cli"])
        .style(Style::WORDS.and(Style::LEADING).and(Style::RISKY))
        .options(&[options!("
            -p N, -a P, --user U, --pass P, --askpass, -n N, -r N, -i N, -x, -X TAG, -d D, -D D, -c, -e, -4, -6, --tls, --sni H, --insecure, --raw, --no-raw, --quoted-input, --csv, --json, --quoted-json, --show-pushes V
            --stat, --latency, --latency-history, --latency-dist, --lru-test N, --bigkeys, --memkeys, --hotkeys, --scan, --pattern P, --quoted-pattern P, --count N, --no-auth-warning, --intrinsic-latency N, -2, -3, --verbose
            -h HOST, -u URI : connects
            -s SOCKET, --replica, --pipe, --pipe-timeout N
            --rdb FILE, --functions-rdb FILE : writes
            --eval FILE, --ldb, --ldb-sync-mode : runs-code
            --cacert FILE, --cacertdir DIR, --cert FILE, --key FILE : reads
            --cluster C : changes-service
        ")])
        .judge(redis),
    Spec::new(&["mongosh", "mongo"])
        .style(Style::GNU.and(Style::RISKY))
        .options(&[options!("
            --quiet, --norc, --nodb, -u --username U, -p --password P, --port N, --authenticationDatabase D, --authenticationMechanism M, --tls, --json [V], --retryWrites, --apiVersion V
            --host HOST : connects
            --eval JS : inline
            -f --file FILE : runs-code
            --tlsCAFile FILE, --tlsCertificateKeyFile FILE : reads
        ")])
        .judge(mongo),
    Spec::new(&["mongodump", "mongoexport", "mongorestore", "mongoimport", "cqlsh", "clickhouse-client", "clickhouse", "influx", "neo4j-admin", "cypher-shell", "sqlplus", "sqlcmd", "isql", "bcp", "snowsql", "trino", "presto", "beeline", "hive", "spark-sql", "impala-shell", "etcdctl-shell", "surreal", "kcat", "kafka-topics", "kafka-console-producer", "kafka-console-consumer"])
        .style(Style::HARMLESS.and(Style::RISKY))
        .acts(&[Act::Connects("database"), Act::Named(Code::ChangesService)]),
];

/// Commands of the client itself stand between statements: `\!`, `system`, `source`, `tee`, `pager`.
fn client_commands(text: &[u8]) -> bool {
    let names: &[&[u8]] = &[b"system", b"source", b"tee", b"pager", b"edit", b"delimiter"];
    let backslash = text.windows(2).any(|two| matches!(two, b"\\!" | b"\\." | b"\\T" | b"\\P" | b"\\e"));
    let named = text.split(|&byte| matches!(byte, b'\n' | b';')).any(|line| {
        let word =
            line.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default().to_ascii_lowercase();
        names.contains(&word.as_slice())
    });
    let files = text.to_ascii_lowercase();
    backslash
        || named
        || files.windows(7).any(|window| window == b"outfile" || window == b"infile ")
        || files.windows(9).any(|window| window == b"load_file")
}

fn mysql(view: &mut View<'_>) {
    if view.has_any(&["--version", "--help", "-V"]) {
        return;
    }
    server(view, "MySQL");
    let mut texts = view.values("--execute");
    if texts.is_empty() {
        match from_stdin(view) {
            Some(text) => texts.push(text),
            None => crate::wrapper::interactive(view, "sql", 0),
        }
    }
    for (at, text) in texts {
        match script::text_of(&text) {
            Some(text) if client_commands(&text) => {
                view.named(Code::UnclearScript, NamedBy::Nothing, at);
                view.doubt(Code::UnclearScript, "a command of the client that may run or write".to_owned(), at);
            }
            Some(text) => {
                if script::sqlite(&text).contains(&Finding::Change) {
                    view.named_by_flag(Code::ChangesService, "--execute", at);
                }
            }
            None => {
                view.named(Code::UnclearScript, NamedBy::Nothing, at);
                view.doubt(Code::UnclearScript, "SQL of unknown text may change data and run commands".to_owned(), at);
            }
        }
    }
}

fn server(view: &mut View<'_>, label: &str) {
    if !view.has_any(&["--host", "--socket", "-h", "-u", "-s"]) {
        view.connects_configured(label, 0);
    }
}

fn mysql_tool(view: &mut View<'_>) {
    for (at, host) in view.values("--host") {
        view.connects(&host, at);
    }
    server(view, "MySQL");
    if matches!(view.inv.name, "mysqladmin" | "mysqlimport") {
        view.named(Code::ChangesService, NamedBy::Program, 0);
    }
}

/// Commands that only read.
const REDIS_READS: &str = "get mget getrange strlen exists type ttl pttl keys scan hget hmget hgetall hkeys hvals hlen hexists hscan hstrlen lrange llen lindex lpos smembers sismember smismember scard srandmember sscan \
    sinter sunion sdiff zrange zrevrange zrangebyscore zrevrangebyscore zrangebylex zscore zmscore zrank zrevrank zcard zcount zlexcount zscan xrange xrevrange xlen xinfo xpending info ping echo dbsize time lastsave role \
    memory object command client cluster slowlog latency getbit bitcount bitpos pfcount geopos geodist geohash geosearch randomkey dump touch json.get json.mget json.type ft.search ft.info ts.get ts.range";

fn redis(view: &mut View<'_>) {
    server(view, "Redis");
    if view.has_any(&["--pipe", "-x", "-X"]) {
        view.named_by_flag(Code::ChangesService, "--pipe", 0);
    }
    match view.operand(0) {
        Some(word) => {
            let reads = word
                .exact_str()
                .is_some_and(|word| REDIS_READS.split(' ').any(|known| word.eq_ignore_ascii_case(known)));
            // `client kill`, `cluster reset`, `memory purge`, `slowlog reset` change something.
            let second = view.operand_str(1).unwrap_or_default().to_ascii_lowercase();
            let changes = matches!(
                second.as_str(),
                "kill"
                    | "reset"
                    | "purge"
                    | "pause"
                    | "setname"
                    | "failover"
                    | "forget"
                    | "meet"
                    | "addslots"
                    | "delslots"
                    | "flushslots"
                    | "reply"
                    | "unblock"
                    | "tracking"
                    | "no-evict"
            );
            if !reads || changes {
                let by = word.exact_str().map_or(NamedBy::Nothing, |word| NamedBy::Words(vec![word.to_owned()]));
                view.named(Code::ChangesService, by, 0);
            }
        }
        None if view.has_any(&[
            "--scan",
            "--bigkeys",
            "--stat",
            "--latency",
            "--memkeys",
            "--hotkeys",
            "--version",
            "--help",
            "--rdb",
        ]) => {}
        None => match from_stdin(view) {
            Some(_) => view.named(Code::UnclearScript, NamedBy::Nothing, 0),
            None => crate::wrapper::interactive(view, "redis", 0),
        },
    }
}

/// The first operand is a database or URL, the others are scripts.
fn mongo(view: &mut View<'_>) {
    let mut named = view.has("--host");
    for (n, at) in view.operands().into_iter().enumerate() {
        let Some(word) = view.word(at) else { continue };
        let file = word.exact_str().is_some_and(|text| [".js", ".mjs", ".cjs"].iter().any(|end| text.ends_with(end)));
        if n == 0 && !file {
            if word.exact_str().is_none_or(|text| text.contains("://") || text.contains('.') || text.contains(':')) {
                named = true;
                view.connects(word, at);
            }
        } else {
            view.path_effect(Verb::Read, word, at, false, Carry::Plain);
            view.code("javascript", Code::RunsCode, NamedBy::Program, at);
        }
    }
    if !named && !view.has_any(&["--nodb", "--version", "--help"]) {
        view.connects_configured("MongoDB", 0);
    }
    if view.operand_count() < 2 && !view.has_any(&["--eval", "--file", "--version", "--help"]) {
        crate::wrapper::interactive(view, "javascript", 0);
    }
}
