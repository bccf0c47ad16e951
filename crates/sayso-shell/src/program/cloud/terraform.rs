//! terraform and opentofu.

use crate::effect::{Carry, NamedBy, Verb};
use crate::option::{Style, Table, options};
use crate::program::{Act, Code, Spec, View};

const WORDS: Style = Style::WORDS;
const PROVIDERS: Act = Act::Connects("providers");

pub(super) const SPECS: &[Spec] = &[Spec::new(&["terraform", "tofu", "terragrunt"])
    .style(WORDS)
    .options(&[options!("-chdir DIR : cd
        -v -version, -h -help")])
    .subs(&[
        Spec::new(&["version", "metadata"]).style(WORDS).options(&[READ]),
        // Providers are programs in the project's own folder; they say what a configuration may hold.
        Spec::new(&["validate", "graph"]).style(WORDS).options(&[READ]).acts(&[Act::Builds]),
        Spec::new(&["show"]).style(WORDS).options(&[READ]).operands(crate::program::Operands::READ).acts(&[Act::Reads("terraform.tfstate"), Act::Builds]),
        Spec::new(&["output"]).style(WORDS).options(&[READ, options!("-raw, -state FILE")]).acts(&[Act::Reads("terraform.tfstate"), PROVIDERS]),
        Spec::new(&["fmt"]).style(WORDS).options(&[options!("-check, -diff, -recursive, -list [B], -write [B], -no-color")]).judge(fmt),
        Spec::new(&["plan"]).style(WORDS).options(&[PLAN, options!("-out FILE, -generate-config-out FILE : makes")]).acts(&[PROVIDERS, Act::Named(Code::RunsCode)]),
        Spec::new(&["init", "get"])
            .style(WORDS)
            .options(&[options!("
                -backend [B], -backend-config [C], -force-copy, -from-module [S], -get [B], -input [B], -lock [B], -lock-timeout [T], -no-color, -plugin-dir [D], -reconfigure, -migrate-state, -upgrade
                -lockfile [M], -ignore-remote-version, -test-directory [D], -update, -json
            ")])
            .acts(&[PROVIDERS, Act::Named(Code::Installs), Act::WritesBelow(".terraform"), Act::Writes(".terraform.lock.hcl")]),
        Spec::new(&["apply", "destroy", "refresh", "import", "taint", "untaint", "force-unlock", "test"])
            .style(WORDS)
            .options(&[PLAN, options!("-auto-approve, -backup [F], -state-out [F], -allow-missing, -force, -filter [F], -verbose")])
            .acts(&[PROVIDERS, Act::Named(Code::ChangesService), Act::Writes("terraform.tfstate")]),
        Spec::new(&["state"]).style(WORDS).subs(&[
            Spec::new(&["list", "show", "pull"]).style(WORDS).options(&[READ, options!("-state [F], -id [ID]")]).acts(&[Act::Reads("terraform.tfstate"), PROVIDERS]),
            Spec::new(&["mv", "rm", "push", "replace-provider"]).style(WORDS.and(Style::HARMLESS)).acts(&[PROVIDERS, Act::Named(Code::ChangesService)]),
        ]),
        Spec::new(&["workspace"]).style(WORDS).subs(&[
            Spec::new(&["list", "show"]).style(WORDS).acts(&[PROVIDERS]),
            Spec::new(&["new", "select", "delete"]).style(WORDS.and(Style::HARMLESS)).acts(&[PROVIDERS, Act::Named(Code::ChangesService)]),
        ]),
        Spec::new(&["providers"]).style(WORDS.and(Style::FREE)).subs(&[
            Spec::new(&["schema"]).style(WORDS).options(&[READ]).acts(&[Act::Builds]),
            Spec::new(&["lock", "mirror"]).style(WORDS.and(Style::HARMLESS)).acts(&[PROVIDERS, Act::Named(Code::Installs)]),
        ]),
        Spec::new(&["console"]).style(WORDS).options(&[PLAN]).acts(&[Act::Code("terraform")]),
        Spec::new(&["login", "logout"]).style(WORDS.and(Style::HARMLESS)).acts(&[PROVIDERS, Act::Named(Code::ChangesSettings)]),
        Spec::new(&["run-all", "run", "hclfmt"]).style(WORDS.and(Style::HARMLESS)).acts(&[PROVIDERS, Act::Named(Code::ChangesService)]),
    ])];

const READ: &Table = options!("-json, -no-color, -no-tests, -test-directory [D], -draw-cycles, -type [T], -plan [F]");
const PLAN: &Table = options!("
    -destroy, -refresh-only, -refresh [B], -replace [R], -target [R], -exclude [R], -var [V], -compact-warnings, -detailed-exitcode, -input [B], -json, -lock [B], -lock-timeout [T], -no-color, -parallelism [N]
    -state [F]
    -var-file [FILE] : reads
");

/// It rewrites files unless it only checks.
fn fmt(view: &mut View<'_>) {
    let checks = view.has("-check") || view.value("-write").is_some_and(|value| value.exact() == Some(b"false"));
    let carry = || Carry::Named { code: Code::ChangesFiles.as_str(), by: NamedBy::Words(vec!["fmt".to_owned()]) };
    let targets = view.operands();
    if targets.is_empty() {
        view.touches(Verb::Read, ".", true);
        if !checks {
            view.path_effect(Verb::Write, &crate::word::Word::Exact(".".into()), 0, true, carry());
        }
    }
    for at in targets {
        let Some(word) = view.word(at) else { continue };
        view.reads_below(word, at);
        if !checks && word.exact() != Some(b"-") {
            view.path_effect(Verb::Write, word, at, true, carry());
        }
    }
}
