//! Variables that came with the call: as if they were set before the command.

use super::Walker;
use crate::certain::value::Known;
use crate::certain::variable::steers_new_shell;
use crate::effect::Span;
use crate::program::Code;
use crate::value::Scalar;
use crate::value::scope::{Entry, Held};
use crate::word::{Text, Word};

/// More variables than this, or longer ones, are not followed.
const MOST: usize = 256;
const MOST_BYTES: usize = 64 * 1024;

impl Walker<'_> {
    /// Takes note of them before anything is walked.
    pub(super) fn take_given(&mut self) {
        let given = self.context.env.given();
        if given.is_empty() {
            return;
        }
        for (name, value) in given {
            self.given_bytes = self.given_bytes.saturating_add(name.len()).saturating_add(value.len());
            if self.given.len() >= MOST || self.given_bytes > MOST_BYTES {
                let text = "More variables come with the call than are followed.";
                return self.opaque(Code::Environment, text, Span::default());
            }
            if steers_new_shell(name.as_bytes()) {
                let text = format!("`{name}`, which comes with the call, changes what the shell itself does.");
                self.opaque(Code::Environment, &text, Span::default());
            }
            let held = Held::Scalar(Scalar::exact(value.as_bytes(), Known::Given));
            self.notice(name.as_bytes(), &held, Span::default());
            if !is_set_by_bash(name) {
                self.arm(name.as_bytes(), &held);
                let entry = Entry { exported: true, ..Entry::new(held) };
                self.scope.set(name.as_bytes(), Some(entry));
            }
            self.given.push((Text::from(name.as_bytes()), Word::Exact(Text::from(value.as_bytes()))));
        }
    }

    /// A program sees them unless the command sets them otherwise.
    pub(super) fn hand_on_given(&mut self, env: &mut Vec<(Text, Word)>) {
        if self.given.is_empty() {
            return;
        }
        self.charge(self.given_bytes);
        let own = env.len();
        for (name, value) in &self.given {
            if !env.iter().take(own).any(|(known, _)| known == name) {
                env.push((name.clone(), value.clone()));
            }
        }
    }
}

/// Whether bash gives the variable a value of its own when it starts.
fn is_set_by_bash(name: &str) -> bool {
    matches!(name, "IFS" | "PWD" | "OLDPWD" | "PPID" | "SECONDS" | "RANDOM" | "SRANDOM" | "LINENO" | "EPOCHSECONDS")
        || matches!(name, "BASHPID" | "BASH_SUBSHELL" | "HISTCMD" | "OPTIND" | "SHLVL" | "_")
}

#[cfg(test)]
mod tests {
    use crate::{Analysis, Context, Dialect, Environment, NoFiles, analyze};

    struct Brings(Vec<(String, String)>);

    impl Environment for Brings {
        fn get(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        }

        fn given(&self) -> &[(String, String)] {
            &self.0
        }
    }

    fn with(command: &str, variables: &[(&str, &str)]) -> Analysis {
        let env = Brings(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
        let context =
            Context { cwd: None, home: None, workspace: None, env: &env, files: &NoFiles, dialect: Dialect::Bash };
        analyze(command.as_bytes(), &context)
    }

    fn doubts(command: &str, variables: &[(&str, &str)]) -> Vec<&'static str> {
        with(command, variables).doubts.iter().map(|doubt| doubt.code.as_str()).collect()
    }

    #[test]
    fn what_comes_with_a_call_is_set_before_each_program() {
        for command in ["make", "true; make", "bash -c make", "timeout 5 make", "(make)"] {
            let inside = doubts(command, &[("MAKEFILES", "x")]);
            assert!(inside.contains(&"environment"), "{command}: {inside:?}");
            assert!(!doubts(command, &[("CI", "1")]).contains(&"environment"), "{command}");
        }
        assert_eq!(
            with("make", &[("CI", "1")]).runs,
            with("CI=1 make", &[])
                .runs
                .into_iter()
                .map(|mut run| {
                    let bare = with("make", &[]).runs.remove(0);
                    (run.span, run.spans) = (bare.span, bare.spans);
                    run
                })
                .collect::<Vec<_>>()
        );
        assert_eq!(doubts("PAGER=cat git log", &[("PAGER", "evil")]), doubts("PAGER=cat git log", &[]));
    }

    #[test]
    fn what_comes_with_a_call_counts_as_assigned_before_it() {
        for command in [
            "[[ $X -eq 1 ]]",
            "((X))",
            "echo $((X))",
            "echo ${!X}",
            "echo ${a[$X]}",
            "[ -v \"$X\" ]",
            "bash -c '((X))'",
            "f() { ((X)); }; f",
            "Y=$X; ((Y))",
        ] {
            let analysis = with(command, &[("X", "a[$(id)]")]);
            assert!(analysis.opaque, "{command}");
            assert!(doubts(command, &[("X", "a[$(id)]")]).contains(&"evaluates-again"), "{command}");
            assert!(!with(command, &[("X", "1")]).opaque, "{command}");
        }
        for command in ["$X", "eval \"$X\"", "bash -c \"$X\"", "sh -c 'eval $X'", "timeout 5 $X"] {
            let analysis = with(command, &[("X", "rm -r y")]);
            let removes = |run: &crate::Run| run.argv.first().and_then(crate::Word::exact_str) == Some("rm");
            assert!(analysis.runs.iter().any(removes), "{command}: {:?}", analysis.runs);
        }
        // The command's own value counts.
        assert!(!with("X=1; ((X))", &[("X", "a[$(id)]")]).opaque);
        assert!(!with("unset X; ((X))", &[("X", "a[$(id)]")]).opaque);
    }

    #[test]
    fn what_the_shell_goes_by_makes_all_of_it_opaque() {
        for name in ["BASH_ENV", "LD_PRELOAD", "BASH_FUNC_x%%", "SHELLOPTS", "POSIXLY_CORRECT"] {
            assert!(with("echo", &[(name, "x")]).opaque, "{name}");
        }
        assert!(!with("echo", &[("MAKEFILES", "x")]).opaque);
    }

    #[test]
    fn long_environments_and_long_commands_end_within_the_limits() {
        let names: Vec<String> = (0..250).map(|n| format!("V{n}")).collect();
        let long = "x".repeat(200);
        let variables: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), long.as_str())).collect();
        let analysis = with(&"make;".repeat(10_000), &variables);
        assert!(analysis.opaque, "what is left out is said");
        assert!(analysis.runs.len() < 1_000, "{}", analysis.runs.len());
        let longer = "x".repeat(70_000);
        assert!(with("make", &[("A", &longer)]).opaque);
    }
}
