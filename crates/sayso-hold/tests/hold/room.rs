//! A temporary folder with everything that an attempt could want to get at, and a look at whether it did.

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub(crate) const HOLD: &str = env!("CARGO_BIN_EXE_sayso-hold");
const ATTEMPT: &str = env!("CARGO_BIN_EXE_sayso-hold-attempt");
const NOBODY: u32 = 65534;

/// Every secret has this in it.
const SECRET: &str = "s3cret";

/// Whether holds can be made here; says so if not.
pub(crate) fn can_hold() -> bool {
    let room = Room::new();
    let output = room.held(&["--write", room.text("ws").as_str()], &["true"]);
    let yes = output.status.success();
    if !yes {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(std::env::var_os("SAYSO_HOLD_REQUIRED").is_none(), "holds cannot be made here: {why}");
        eprintln!("not run: this machine cannot hold a run: {why}");
    }
    yes
}

static STAYS_ROOT: AtomicBool = AtomicBool::new(false);

/// From now on, root stays root in this process. Tests that want this have the process to themselves.
pub(crate) fn stay_root() {
    STAYS_ROOT.store(true, Ordering::SeqCst);
}

/// The user whom tests run as; root becomes nobody.
pub(crate) fn unprivileged(command: &mut Command) -> &mut Command {
    if rustix::process::geteuid().is_root() && !STAYS_ROOT.load(Ordering::SeqCst) {
        command.uid(NOBODY).gid(NOBODY)
    } else {
        command
    }
}

pub(crate) struct Room {
    folder: tempfile::TempDir,
    bin: PathBuf,
    victim: Child,
    tcp: u16,
    udp: u16,
    hits: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    terminal: (OwnedFd, PathBuf),
    shared_file: PathBuf,
}

impl Room {
    pub(crate) fn new() -> Self {
        let folder =
            tempfile::Builder::new().prefix("hold").permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in [
            "ws/.git/hooks",
            "ws/conf",
            "out",
            "home/private",
            "cache",
            "store",
            "aside",
            "bin",
            "tmp/private",
            "tmp/public",
            "tmp/agent",
        ] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for (name, text) in [
            ("ws/.env", "PASSWORD=s3cret-env\n"),
            ("ws/key.pem", "s3cret-key\n"),
            ("ws/conf/secret.env", "s3cret-conf\n"),
            ("ws/.git/config", "[core]\n"),
            ("ws/.git/HEAD", "ref: refs/heads/main\n"),
            ("ws/mise-real.toml", "[tools]\n"),
            ("ws/source.c", "int main(void) { return 0; }\n"),
            ("out/prize", "canary\n"),
            ("home/private/diary", "s3cret-diary\n"),
            ("home/.bashrc", "alias ll='ls -l'\n"),
            ("home/.gitconfig", "[url \"https://s3cret-token@git.example/\"]\n"),
            ("cache/entry", "cached\n"),
            ("tmp/private/note", "s3cret-note\n"),
            ("tmp/key", "s3cret-scratch\n"),
            ("tmp/script.sh", "echo hello\n"),
            ("tmp/public/run", "echo hello\n"),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        fs::hard_link(root.join("ws/.env"), root.join("ws/old-link")).unwrap();
        fs::hard_link(root.join("ws/.git/config"), root.join("ws/config-link")).unwrap();
        fs::hard_link(root.join("home/.gitconfig"), root.join("ws/settings-link")).unwrap();
        for (name, mode) in
            [("tmp/private", 0o700), ("tmp/key", 0o600), ("tmp/public", 0o755), ("tmp/script.sh", 0o755)]
        {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink("mise-real.toml", root.join("ws/.mise.toml")).unwrap();
        assert!(Command::new("mkfifo").arg(root.join("out/pipe")).status().unwrap().success());
        for program in [HOLD, ATTEMPT] {
            let name = Path::new(program).file_name().unwrap();
            let place = root.join("bin").join(name);
            fs::hard_link(program, &place).or_else(|_| fs::copy(program, &place).map(drop)).unwrap();
        }
        let hits = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let (tcp, udp) = listen(&root, &hits, &over);
        let shared_file = PathBuf::from(format!("/dev/shm/{}", root.file_name().unwrap().display()));
        fs::write(&shared_file, "shared").unwrap();
        // Not the programs: they may be the very files that were built.
        for entry in fs::read_dir(&root).unwrap().flatten().filter(|entry| entry.file_name() != "bin") {
            give_away(&entry.path());
        }
        give_away(&shared_file);
        let victim = unprivileged(
            Command::new("sleep")
                .arg("300")
                .env("VARIABLE", "s3cret-of-victim")
                .current_dir(root.join("out"))
                .process_group(0),
        )
        .spawn()
        .unwrap();
        let terminal = terminal();
        Self { bin: root.join("bin"), folder, victim, tcp, udp, hits, over, terminal, shared_file }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// The bounds that the attempts are made against.
    pub(crate) fn bounds(&self) -> Vec<String> {
        let at = |option: &str, name: &str| [option.to_owned(), self.text(name)];
        [
            at("--write", "ws"),
            at("--git", "ws/.git"),
            at("--read-only", "ws/.mise.toml"),
            at("--absent", "ws/.envrc"),
            at("--absent", "ws/.vscode/settings.json"),
            at("--aside", "aside"),
            at("--hide", "home"),
            at("--decoy", "ws/.env"),
            at("--decoy", "ws/conf/secret.env"),
            at("--refuse", "ws/key.pem"),
            ["--copy".to_owned(), format!("{}={}", self.text("cache"), self.text("store"))],
            ["--withhold".to_owned(), "TOKEN".to_owned()],
            ["--replace".to_owned(), "PROXY=http://proxy.example".to_owned()],
            ["--text".to_owned(), format!("{}=[user]\n", self.text("home/.gitconfig"))],
            // Everything in it was there before.
            at("--write", "tmp"),
            ["--shared".to_owned(), format!("{}=99999999999", self.text("tmp"))],
        ]
        .concat()
    }

    /// A command that runs something held.
    pub(crate) fn command(
        &self,
        options: &[impl AsRef<std::ffi::OsStr>],
        words: &[impl AsRef<std::ffi::OsStr>],
    ) -> Command {
        let mut command = Command::new(self.bin.join("sayso-hold"));
        command.args(options).arg("--").args(words).current_dir(self.path("ws")).stdin(Stdio::null());
        unprivileged(&mut command);
        command
    }

    pub(crate) fn held(&self, options: &[&str], words: &[&str]) -> Output {
        self.command(options, words).output().unwrap()
    }

    /// Makes an attempt; `None`: without a hold.
    pub(crate) fn attempt(&self, name: &str, level: Option<&str>) -> Output {
        let attempt = self.bin.join("sayso-hold-attempt");
        let mut words: Vec<std::ffi::OsString> = Vec::new();
        if let Some(level) = level {
            words.push(self.bin.join("sayso-hold").into());
            words.extend(self.bounds().into_iter().map(Into::into));
            words.extend(["--level".into(), level.into(), "--".into()]);
        }
        words.push(attempt.into());
        words.push(name.into());
        // Two descriptors that an agent could have left open: a folder and a file to write.
        let mut command = Command::new("sh");
        command.arg("-c").arg(r#"exec 5<"$OUT" 6<>"$OUT/prize"; exec "$@""#).arg("sh").args(words);
        unprivileged(&mut command);
        let shared = name.contains("shared-memory") || name.contains("queue");
        if shared {
            assert!(self.share("--share").success());
        }
        if name.contains("late") {
            let (path, hits) = (self.path("ws/late.sock"), Arc::clone(&self.hits));
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(400));
                let Ok(listener) = UnixListener::bind(&path) else { return };
                let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o777));
                if listener.accept().is_ok() {
                    hits.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        if name.contains("group") {
            // In one group of processes with somebody outside, as a shell's commands are.
            command.process_group(self.victim.id().try_into().unwrap());
        }
        let typed = name.contains("terminal") || name.contains("console");
        let input =
            if typed { File::open(&self.terminal.1).unwrap() } else { File::open(self.path("out/prize")).unwrap() };
        for (variable, path) in [
            ("WS", "ws"),
            ("OUT", "out"),
            ("HOME_", "home"),
            ("CACHE", "cache"),
            ("SOCKET", "out/s.sock"),
            ("DATAGRAM", "out/d.sock"),
            ("ASIDE", "aside"),
            ("STORE", "store"),
            ("TMP", "tmp"),
        ] {
            command.env(variable, self.path(path));
        }
        command
            .env("VICTIM", self.victim.id().to_string())
            .env("TCP", self.tcp.to_string())
            .env("UDP", self.udp.to_string())
            .env("ABSTRACT", self.path("abstract"))
            .env("TERMINAL", &self.terminal.1)
            .env("SHM_FILE", &self.shared_file)
            .env("SHM_KEY", self.victim.id().to_string())
            .env("QUEUE", format!("sayso-hold-{}", self.victim.id()))
            .env("TOKEN", "s3cret-token")
            .env("PROXY", "http://ann:s3cret@proxy.example")
            .current_dir(self.path("ws"))
            .stdin(input);
        if let Some(address) = own_address() {
            command.env("ADDRESS", address);
        }
        if level == Some("whole") {
            command.env("OWN_NETWORK", "1");
        }
        let output = command.output().unwrap();
        if shared {
            self.share("--unshare");
        }
        output
    }

    /// Makes or removes shared memory and a queue of messages, of the same user.
    fn share(&self, what: &str) -> std::process::ExitStatus {
        let mut command = Command::new(self.bin.join("sayso-hold-attempt"));
        command.arg(what).env("SHM_KEY", self.victim.id().to_string());
        command.env("QUEUE", format!("sayso-hold-{}", self.victim.id()));
        unprivileged(&mut command).status().unwrap()
    }

    /// What of the machine must not change.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        for name in ["out", "home", "cache"] {
            look(&self.path(name), true, &mut seen);
        }
        look(&self.shared_file, true, &mut seen);
        for name in ["private", "key", "script.sh", "public", "agent", "bare.sock"] {
            look(&self.path("tmp").join(name), false, &mut seen);
        }
        seen.insert("the victim".into(), self.importance_of_victim());
        seen
    }

    /// How the machine treats the process outside.
    fn importance_of_victim(&self) -> String {
        let victim = self.victim.id();
        let stat = fs::read_to_string(format!("/proc/{victim}/stat")).unwrap_or_default();
        let nice = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(16)).unwrap_or_default();
        let policy = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(38)).unwrap_or_default();
        let killed = fs::read_to_string(format!("/proc/{victim}/oom_score_adj")).unwrap_or_default();
        let mut asks = Command::new("ionice");
        let files = asks.arg("-p").arg(victim.to_string()).output().map(|it| it.stdout).unwrap_or_default();
        format!("nice {nice} policy {policy} killed {killed} files {}", String::from_utf8_lossy(&files))
    }

    /// What steers, inside the workspace.
    pub(crate) fn steering(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        for name in [
            "ws/.git/config",
            "ws/.git/hooks",
            "ws/.git/config.worktree",
            "ws/.git/info/attributes",
            "ws/.git/objects/info/alternates",
            "ws/.git/commondir",
            "ws/.git/modules",
            "ws/.envrc",
            "ws/.vscode/settings.json",
            "ws/.mise.toml",
            "ws/mise-real.toml",
            "ws/.env",
        ] {
            look(&self.path(name), false, &mut seen);
        }
        seen
    }

    /// What gives away that an attempt got through.
    pub(crate) fn evidence(
        &mut self,
        output: &Output,
        outside: &BTreeMap<PathBuf, String>,
        steering: &BTreeMap<PathBuf, String>,
    ) -> Option<String> {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if said.contains("THROUGH") || said.contains(SECRET) {
            return Some(format!("it said {said}"));
        }
        for (before, after) in [(outside, self.outside()), (steering, self.steering())] {
            if *before != after {
                let changed: Vec<_> = after.iter().filter(|(path, it)| before.get(*path) != Some(it)).collect();
                let gone: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
                return Some(format!("changed {changed:?}, gone {gone:?}"));
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
        if self.hits.load(Ordering::SeqCst) > 0 {
            return Some("somebody outside was reached".into());
        }
        if self.victim.try_wait().unwrap().is_some() {
            return Some("a process outside was killed".into());
        }
        let mut typed = [0; 64];
        rustix::io::ioctl_fionbio(&self.terminal.0, true).unwrap();
        if rustix::io::read(&self.terminal.0, &mut typed).is_ok_and(|count| count > 0) {
            return Some("another terminal was written".into());
        }
        let daemon = self.path("ws/daemon");
        if let Ok(before) = fs::read(&daemon) {
            std::thread::sleep(std::time::Duration::from_millis(200));
            if fs::read(&daemon).unwrap() != before {
                return Some("a process was left behind".into());
            }
        }
        None
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::remove_file(&self.shared_file);
    }
}

/// Another address of this machine than that of the loopback device.
pub(crate) fn own_address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: this only asks by which address one would.
    socket.connect("203.0.113.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback()).then(|| address.to_string())
}

fn listen(root: &Path, hits: &Arc<AtomicUsize>, over: &Arc<AtomicBool>) -> (u16, u16) {
    let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let ports = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let name = root.join("abstract");
    let name = name.to_str().unwrap();
    let streams = [
        UnixListener::bind(root.join("out/s.sock")).unwrap(),
        UnixListener::bind(root.join("ws/outside.sock")).unwrap(),
        UnixListener::bind(root.join("tmp/agent/s.sock")).unwrap(),
        UnixListener::bind(root.join("tmp/bare.sock")).unwrap(),
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap(),
    ];
    let datagrams = [
        UnixDatagram::bind(root.join("out/d.sock")).unwrap(),
        UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(format!("{name}-d")).unwrap()).unwrap(),
    ];
    for path in ["out/s.sock", "ws/outside.sock", "out/d.sock", "tmp/agent/s.sock", "tmp/bare.sock"] {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(0o777)).unwrap();
    }
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    streams.iter().for_each(|it| it.set_nonblocking(true).unwrap());
    datagrams.iter().for_each(|it| it.set_nonblocking(true).unwrap());
    let (hits, over) = (Arc::clone(hits), Arc::clone(over));
    std::thread::spawn(move || {
        while !over.load(Ordering::SeqCst) {
            let mut hit = tcp.accept().is_ok();
            hit |= udp.recv(&mut [0; 16]).is_ok();
            hit |= streams.iter().any(|it| it.accept().is_ok());
            hit |= datagrams.iter().any(|it| it.recv(&mut [0; 16]).is_ok());
            if hit {
                hits.fetch_add(1, Ordering::SeqCst);
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    });
    ports
}

pub(crate) fn terminal() -> (OwnedFd, PathBuf) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = PathBuf::from(ptsname(&master, Vec::new()).unwrap().to_str().unwrap());
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    drop(rustix::fs::open(&path, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
    (master, path)
}

/// Lets the user of the tests own everything.
pub(crate) fn give_away(path: &Path) {
    if !rustix::process::geteuid().is_root() || STAYS_ROOT.load(Ordering::SeqCst) {
        return;
    }
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            give_away(&entry.path());
        }
    }
}

/// Everything that can be told of a file, and of what is in it.
fn look(path: &Path, with_times: bool, seen: &mut BTreeMap<PathBuf, String>) {
    let Ok(data) = fs::symlink_metadata(path) else { return };
    let mut text = format!("mode {:o}", data.mode());
    // A link that was put back is another file with the same meaning.
    if !data.is_symlink() {
        text += &format!(" inode {}", data.ino());
    }
    if with_times && !data.is_dir() {
        text += &format!(" changed {}.{}", data.ctime(), data.ctime_nsec());
    }
    if data.is_file() {
        let mut content = String::new();
        File::open(path).unwrap().read_to_string(&mut content).unwrap();
        text += &content;
    }
    if data.is_symlink() {
        text += &fs::read_link(path).unwrap().display().to_string();
    }
    if data.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            look(&entry.path(), with_times, seen);
        }
    }
    seen.insert(path.to_path_buf(), text);
}
