//! What shells really do, against what the analysis says they would do. Random commands run in a jail; every word of
//! every program that was started, the folder it started in, every file opened and every address connected to must be
//! within the analysis, unless that says it is opaque.
//!
//! `SAYSO_JAIL_CASES` and `SAYSO_SEED` ask for more, or for others; `SAYSO_JAIL_SHELLS` and `SAYSO_JAIL_PROFILES` for
//! some only; `SAYSO_JAIL_SHOW` and `SAYSO_JAIL_SHRINK` say how many misses to print, and to make small; `SAYSO_JAIL_WHY`
//! tells why commands were opaque. `SAYSO_JAIL_KEEP` names a folder in which what the shells did is kept, so that another
//! run of the same commands only judges anew. `SAYSO_JAIL_TRY` names a file of commands (`zsh ¦ ls *`) to run instead.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failed unwrap is a failed test")]

mod generate;
mod jail;
mod referee;
#[path = "generate/template.rs"]
mod template;
#[path = "generate/values.rs"]
mod values;

use generate::Dice;
use jail::{Case, Deeds, Shell, Start};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// What kind of commands to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Profile {
    /// The whole grammar, some of it broken.
    Syntax,
    /// Values, set and used.
    Values,
    /// State of every kind, and what it does to what follows.
    Evil,
    /// What coding agents write, some of it with values in odd places.
    Real,
    /// Commands of the corpus that stands beside the repository on some machines, changed a little.
    Corpus,
}

const PROFILES: &[Profile] =
    &[Profile::Syntax, Profile::Values, Profile::Evil, Profile::Evil, Profile::Real, Profile::Real, Profile::Corpus];

/// How many commands one jail runs.
const CHUNK: u64 = 500;

/// What came of the commands of a kind.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    commands: usize,
    opaque: usize,
    starts: usize,
    files: usize,
    missed: usize,
}

/// A command that did more than the analysis said.
struct Miss {
    case: Case,
    what: Vec<String>,
}

#[derive(Default)]
struct Campaign {
    tallies: BTreeMap<(&'static str, Profile), Tally>,
    /// Why commands were opaque.
    why: BTreeMap<(&'static str, Profile, String), usize>,
    ends: BTreeMap<String, usize>,
    misses: Vec<Miss>,
}

/// The commands of the corpus; `SAYSO_CORPUS` names its folder, else it is looked for beside the repository.
fn corpus() -> &'static [String] {
    static COMMANDS: OnceLock<Vec<String>> = OnceLock::new();
    COMMANDS.get_or_init(|| {
        let folder = std::env::var_os("SAYSO_CORPUS")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
        ["real-commands.jsonl", "oneliners.jsonl"]
            .iter()
            .filter_map(|name| std::fs::read_to_string(folder.join(name)).ok())
            .flat_map(|text| {
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
            })
            .filter_map(|line| line["command"].as_str().map(str::to_owned))
            .collect()
    })
}

fn made(dice: &mut Dice, profile: Profile, shell: Shell) -> String {
    match profile {
        Profile::Syntax => generate::text(dice, 2, true),
        Profile::Values => values::values(dice),
        Profile::Evil => template::evil(dice, shell),
        Profile::Real => template::real(dice, shell),
        Profile::Corpus => template::changed(dice, shell, corpus()),
    }
}

/// Most of what is made up is bash's, and opaque in other shells, which proves nothing: for them, the first of some that
/// is not. One time out of four it is whatever comes, so that what is opaque on purpose runs, too.
fn known(dice: &mut Dice, profile: Profile, shell: Shell, files: &sayso_shell::MemoryFiles) -> String {
    const TRIES: usize = 24;
    let mut command = made(dice, profile, shell);
    let chosen = matches!(profile, Profile::Syntax | Profile::Values | Profile::Evil);
    if shell == Shell::Bash || !chosen || dice.once_in(4) {
        return command;
    }
    for _ in 0..TRIES {
        let case = Case { shell, mode: 0, command: command.replace('\0', "") };
        if !referee::is_opaque(&referee::analysed(&case, files)) {
            break;
        }
        command = made(dice, profile, shell);
    }
    command
}

/// The command of this number: the same for the same seed everywhere.
fn case(
    seed: u64,
    number: u64,
    shells: &[Shell],
    profiles: &[Profile],
    files: &sayso_shell::MemoryFiles,
) -> (Profile, Case) {
    let mut dice = Dice::new(seed.wrapping_mul(1_000_000_007).wrapping_add(number));
    let shell =
        if shells.contains(&Shell::Bash) && dice.once_in(2) { Shell::Bash } else { shells[dice.roll(shells.len())] };
    let profile = profiles[dice.roll(profiles.len())];
    let command = known(&mut dice, profile, shell, files);
    // Half of the runs see programs that succeed and print nothing.
    let mode = match dice.roll(4) {
        0 | 1 => 0,
        2 => jail::PRINTS,
        _ => dice.roll(1 << 30) as u64 | if dice.once_in(2) { jail::PRINTS } else { 0 },
    };
    let mode = if dice.once_in(8) { mode | jail::ALL_OPENS } else { mode };
    (profile, Case { shell, mode, command: command.replace('\0', "") })
}

/// Runs commands on all cores. `None`: there is no jail here.
fn campaign(seed: u64, cases: u64, shells: &[Shell], profiles: &[Profile]) -> Option<Campaign> {
    jail::run(&[])?;
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Campaign::default());
    let kept = std::env::var_os("SAYSO_JAIL_KEEP").map(PathBuf::from);
    if let Some(folder) = &kept {
        std::fs::create_dir_all(folder).unwrap();
    }
    let threads = number("SAYSO_JAIL_THREADS", std::thread::available_parallelism().map_or(1, |n| n.get() as u64 + 1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let files = referee::files();
                loop {
                    let from = next.fetch_add(1, Ordering::Relaxed) as u64 * CHUNK;
                    if from >= cases {
                        return;
                    }
                    let some: Vec<(Profile, Case)> = (from..cases.min(from + CHUNK))
                        .map(|number| case(seed, number, shells, profiles, &files))
                        .collect();
                    let (opaque, some): (Vec<_>, Vec<_>) = some
                        .into_iter()
                        .map(|(profile, case)| {
                            let analysis = referee::analysed(&case, &files);
                            (profile, case, analysis)
                        })
                        .partition(|(_, _, analysis)| referee::is_opaque(analysis));
                    let plain: Vec<Case> = some.iter().map(|(_, case, _)| case.clone()).collect();
                    let deeds = match &kept {
                        Some(folder) => jail::run_or_remember(&plain, &folder.join(format!("{seed}-{from}.jsonl"))),
                        None => jail::run(&plain),
                    };
                    let deeds = deeds.unwrap();
                    let mut campaign = Campaign::default();
                    for (profile, case, analysis) in opaque {
                        campaign.skip(profile, &case, &analysis);
                    }
                    for ((profile, case, analysis), deeds) in some.into_iter().zip(deeds) {
                        campaign.judge(profile, case, &analysis, &deeds);
                    }
                    if cases >= 50_000 {
                        // Hours may pass until the end.
                        for miss in &campaign.misses {
                            println!(
                                "  missed: {} {:?}\n    {:?}",
                                miss.case.shell.name(),
                                miss.case.command,
                                miss.what
                            );
                        }
                    }
                    let mut all = all.lock().unwrap();
                    all.add(campaign);
                    let done = all.tallies.values().map(|tally| tally.commands).sum::<usize>();
                    if cases >= 50_000 && done as u64 % 20_000 < CHUNK {
                        println!("  {done} commands, {} missed", all.misses.len());
                    }
                }
            });
        }
    });
    Some(all.into_inner().unwrap())
}

impl Campaign {
    /// What the analysis cannot see through cannot do more than it says: there is nothing to be seen by running it.
    fn skip(&mut self, profile: Profile, case: &Case, analysis: &sayso_shell::Analysis) {
        let tally = self.tallies.entry((case.shell.name(), profile)).or_default();
        tally.commands += 1;
        tally.opaque += 1;
        let why = analysis.doubts.first().map_or("?".to_owned(), |doubt| format!("{}: {}", doubt.code, doubt.text));
        *self.why.entry((case.shell.name(), profile, why)).or_default() += 1;
    }

    fn judge(&mut self, profile: Profile, case: Case, analysis: &sayso_shell::Analysis, deeds: &Deeds) {
        let what = referee::misses(analysis, deeds);
        let tally = self.tallies.entry((case.shell.name(), profile)).or_default();
        tally.commands += 1;
        tally.starts += deeds.starts.len();
        tally.files += deeds.reads.len() + deeds.writes.len() + deeds.deletes.len();
        tally.missed += usize::from(!what.is_empty());
        *self.ends.entry(deeds.end.clone()).or_default() += 1;
        if !what.is_empty() {
            self.misses.push(Miss { case, what });
        }
    }

    fn add(&mut self, other: Self) {
        for (key, more) in other.tallies {
            let tally = self.tallies.entry(key).or_default();
            tally.commands += more.commands;
            tally.opaque += more.opaque;
            tally.starts += more.starts;
            tally.files += more.files;
            tally.missed += more.missed;
        }
        for (why, count) in other.why {
            *self.why.entry(why).or_default() += count;
        }
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        self.misses.extend(other.misses);
    }

    fn print(&self) {
        for ((shell, profile), tally) in &self.tallies {
            let Tally { commands, opaque, starts, files, missed } = tally;
            println!(
                "  {shell:5} {profile:?}: {commands} commands, {opaque} opaque, {starts} programs started, {files} files touched, {missed} missed"
            );
        }
        println!("  ends: {:?}", self.ends);
        let mut why: Vec<_> = self.why.iter().filter(|_| number("SAYSO_JAIL_WHY", 0) > 0).collect();
        why.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for ((shell, profile, why), count) in why.iter().take(60) {
            println!("  opaque {shell} {profile:?} {count}: {why}");
        }
        for miss in self.misses.iter().take(number("SAYSO_JAIL_SHOW", 50) as usize) {
            println!("  {} {:?}\n    {:?}", miss.case.shell.name(), miss.case.command, miss.what);
        }
        for miss in self.misses.iter().take(number("SAYSO_JAIL_SHRINK", 5) as usize) {
            let (shrunk, what) = shrink(miss);
            println!("  shrunk: {} {:?}\n    {what:?}", shrunk.shell.name(), shrunk.command);
        }
    }
}

/// The smallest part of a command that still escapes, by running it without halves, quarters and so on of it.
fn shrink(miss: &Miss) -> (Case, Vec<String>) {
    let files = referee::files();
    let mut best = (miss.case.clone(), miss.what.clone());
    let mut size = best.0.command.len() / 2;
    while size > 0 {
        let text = &best.0.command;
        let smaller: Vec<Case> = (0..text.len())
            .step_by(size.div_ceil(2))
            .filter_map(|at| Some(format!("{}{}", text.get(..at)?, text.get((at + size).min(text.len())..)?)))
            .map(|command| Case { command, ..best.0.clone() })
            .collect();
        let Some(deeds) = jail::run(&smaller) else { return best };
        let found = smaller.into_iter().zip(&deeds).find_map(|(case, deeds)| {
            let what = referee::misses(&referee::analysed(&case, &files), deeds);
            (!what.is_empty()).then_some((case, what))
        });
        match found {
            Some(found) => best = found,
            None => size /= 2,
        }
    }
    best
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Those of which a variable says the name, or the usual ones.
fn chosen<T: Copy + std::fmt::Debug>(variable: &str, all: &[T], usual: &[T]) -> Vec<T> {
    let Ok(names) = std::env::var(variable) else { return usual.to_vec() };
    let named = |item: &&T| names.split(',').any(|name| name.eq_ignore_ascii_case(&format!("{item:?}")));
    all.iter().filter(named).copied().collect()
}

/// Prints what the commands of a file did, and what of it the analysis missed.
fn tried(path: &str) -> usize {
    let files = referee::files();
    let mut missed = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let Some((shell, command)) = line.split_once(" ¦ ") else { continue };
        let shell = Shell::ALL.into_iter().find(|known| known.name() == shell).unwrap();
        let case = Case { shell, mode: jail::ALL_OPENS, command: command.replace('⏎', "\n") };
        let deeds = jail::run(std::slice::from_ref(&case)).unwrap();
        let analysis = referee::analysed(&case, &files);
        let opaque = if referee::is_opaque(&analysis) { "opaque" } else { "" };
        let doubts: Vec<&str> = analysis.doubts.iter().map(|doubt| doubt.text.as_str()).collect();
        let Deeds { starts, reads, writes, deletes, connects, end } = &deeds[0];
        let ran: Vec<_> = starts.iter().map(|start| (&start.argv, &start.cwd)).collect();
        println!(
            "{line}\n  {end}: ran {ran:?} read {reads:?} wrote {writes:?} deleted {deletes:?} connected {connects:?}"
        );
        let misses = referee::misses(&analysis, &deeds[0]);
        println!("  {opaque} {doubts:?} missed {misses:?}");
        missed += usize::from(!misses.is_empty());
    }
    missed
}

#[test]
fn shells_do_nothing_that_the_analysis_does_not_name() {
    if let Ok(path) = std::env::var("SAYSO_JAIL_TRY") {
        assert_eq!(tried(&path), 0, "a shell did what the analysis does not name");
        return;
    }
    let shells: Vec<Shell> =
        chosen("SAYSO_JAIL_SHELLS", &Shell::ALL, &[Shell::Bash]).into_iter().filter(|shell| shell.is_there()).collect();
    let mut profiles =
        chosen("SAYSO_JAIL_PROFILES", PROFILES, &[Profile::Syntax, Profile::Values, Profile::Real, Profile::Real]);
    profiles.retain(|profile| *profile != Profile::Corpus || !corpus().is_empty());
    let began = std::time::Instant::now();
    let Some(campaign) = campaign(number("SAYSO_SEED", 1), number("SAYSO_JAIL_CASES", 5_000), &shells, &profiles)
    else {
        assert_eq!(number("SAYSO_JAIL_REQUIRED", 0), 0, "there is no jail here");
        return;
    };
    println!("  {:.1} s", began.elapsed().as_secs_f64());
    campaign.print();
    let total = campaign.tallies.values().map(|tally| tally.commands).sum::<usize>();
    println!("{} passed, {} failed", total - campaign.misses.len(), campaign.misses.len());
    assert!(campaign.misses.is_empty(), "a shell did what the analysis does not name");
    for ((shell, profile), tally) in &campaign.tallies {
        // What is opaque proves nothing.
        if *profile == Profile::Real && tally.commands > 100 {
            assert!(tally.opaque * 3 <= tally.commands, "{shell}: too much of the real profile is opaque");
        }
    }
    let starts: usize = campaign.tallies.values().map(|tally| tally.starts).sum();
    assert!(starts > total / 4, "the stubs were not found");
}

/// Each of these was believed to do something else once. That the run shows it makes sure that the referee would see it.
#[test]
fn what_was_found_once_is_seen() {
    let files = referee::files();
    let lines: Vec<Vec<&str>> = include_str!("referee/found.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(" ¦ ").collect())
        .collect();
    let mut wrong = Vec::new();
    for line in lines {
        let shell = Shell::ALL.into_iter().find(|shell| shell.name() == line[0]).unwrap();
        let case = Case { shell, mode: jail::ALL_OPENS, command: line[2].replace('⏎', "\n") };
        if !shell.is_there() {
            continue;
        }
        let Some(deeds) = jail::run(std::slice::from_ref(&case)) else { return };
        if !referee::did(&deeds[0], line[1]) {
            wrong.push(format!("{line:?}: the shell did not do that, but {:?}", deeds[0]));
        }
        let misses = referee::misses(&referee::analysed(&case, &files), &deeds[0]);
        if !misses.is_empty() {
            wrong.push(format!("{line:?}: {misses:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_jail_shows_what_was_run_opened_and_connected_to() {
    let run = |shell, command: &str| {
        let case = Case { shell, mode: 1, command: command.into() };
        jail::run(&[case]).map(|mut deeds| deeds.remove(0))
    };
    let start = |cwd: &str, words: &str| {
        let argv: Vec<String> = words.split('|').map(str::to_owned).collect();
        Start { path: format!("{}/{}", jail::STUBS, argv[0]), cwd: cwd.into(), argv }
    };
    let Some(deeds) = run(Shell::Bash, "p1 a 'b c' || p2 > out; cd /tmp && timeout 5 p3 <../w/a; rm -f /w/out") else {
        return;
    };
    let rm = Start { path: "/j/stubs/rm".into(), ..start("/tmp", "rm|-f|/w/out") };
    let wanted = [start("/w", "p1|a|b c"), start("/w", "p2"), start("/tmp", "timeout|5|p3"), start("/tmp", "p3"), rm];
    assert_eq!(deeds.starts, wanted);
    assert_eq!(
        (deeds.reads, deeds.writes, deeds.deletes),
        (vec!["/tmp/../w/a".to_owned()], vec!["/w/out".to_owned()], vec!["/w/out".to_owned()])
    );
    let deeds = run(Shell::Bash, "echo x > /dev/tcp/10.1.2.3/80").unwrap();
    assert_eq!(deeds.connects, ["10.1.2.3"]);
    for shell in Shell::ALL.into_iter().filter(|shell| shell.is_there()) {
        let deeds = run(shell, "x=$(p1; p2) && p3 $x; echo > /usr/x; umount /tmp; kill -9 1; p4").unwrap();
        let names: Vec<&str> = deeds.starts.iter().map(|start| start.argv[0].as_str()).collect();
        assert_eq!(names, ["p1", "p2", "p3", "umount", "p4"], "{shell:?}");
    }
}
