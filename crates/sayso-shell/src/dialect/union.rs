//! One analysis for several shells: what any of them would do.

use super::Shells;
use crate::effect::{RunId, Target};
use crate::{Analysis, Context, analyze};

/// Works out what a command would do where any of these shells may read it. `context.dialect` does not count.
#[must_use]
pub fn analyze_in(command: &[u8], context: &Context<'_>, shells: Shells) -> Analysis {
    let mut readings: Vec<Analysis> = Vec::with_capacity(1);
    for dialect in shells.iter() {
        let reading = analyze(command, &Context { dialect, ..*context });
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    let mut readings = readings.into_iter();
    let mut all = readings.next().unwrap_or_default();
    readings.for_each(|reading| join(&mut all, reading));
    all
}

/// Adds what another shell would do: ids and pipelines are moved along.
fn join(all: &mut Analysis, mut more: Analysis) {
    let runs = u32::try_from(all.runs.len()).unwrap_or(u32::MAX);
    let pipelines = all.runs.iter().filter_map(|run| run.pipe).map(|pipe| pipe.pipeline.saturating_add(1)).max();
    let pipelines = pipelines.unwrap_or(0);
    let moved = |id: &mut RunId| id.0 = id.0.saturating_add(runs);
    for run in &mut more.runs {
        run.parent.iter_mut().for_each(moved);
        run.pipe.iter_mut().for_each(|pipe| pipe.pipeline = pipe.pipeline.saturating_add(pipelines));
    }
    for effect in &mut more.effects {
        effect.run.iter_mut().for_each(moved);
        match &mut effect.target {
            Target::Program(run) | Target::Wrapper(run) | Target::Option(run) | Target::Code { run, .. } => moved(run),
            Target::Anything | Target::Path(_) | Target::Host(_) | Target::Tool => {}
        }
    }
    all.runs.append(&mut more.runs);
    all.effects.append(&mut more.effects);
    all.doubts.append(&mut more.doubts);
    all.opaque |= more.opaque;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, NoEnvironment, NoFiles};

    fn programs(command: &str, shells: &str) -> Vec<String> {
        let context = Context {
            cwd: None,
            home: None,
            workspace: None,
            env: &NoEnvironment,
            files: &NoFiles,
            dialect: Dialect::Bash,
        };
        let analysis = analyze_in(command.as_bytes(), &context, Shells::named(shells).unwrap());
        for effect in &analysis.effects {
            assert!(effect.run.is_none_or(|run| analysis.run(run).is_some()));
        }
        let words = |run: &crate::Run| {
            run.argv.iter().map(|word| word.exact_str().unwrap_or("?").to_owned()).collect::<Vec<_>>().join(" ")
        };
        analysis.runs.iter().map(words).collect()
    }

    #[test]
    fn what_all_shells_read_alike_is_told_once() {
        assert_eq!(programs("x=a; cat $x | wc -l", "bash,zsh,sh"), ["cat a", "wc -l"]);
    }

    #[test]
    fn what_they_read_differently_is_told_for_each() {
        assert_eq!(programs("x='a b'; cat $x", "bash,zsh"), ["cat a b", "cat a b"]);
        assert_eq!(programs("x=ls; echo touch | read x; $x y", "bash"), ["echo touch", "read x", "ls y"]);
        assert_eq!(
            programs("x=ls; echo touch | read x; $x y", "bash,zsh"),
            ["echo touch", "read x", "ls y", "echo touch", "read x", "? y"]
        );
    }
}
