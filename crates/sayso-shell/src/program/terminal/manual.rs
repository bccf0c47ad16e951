//! man and its like: they show text, by a pager or browser that an option may choose.

use crate::effect::NamedBy;
use crate::option::{Style, options};
use crate::program::{Act, Code, Spec, View};

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&["man"])
        .options(&[options!("
            -d --debug, -D --default, --warnings [W], -f --whatis, -k --apropos, -K --global-apropos, -l --local-file, -w --where --path --location, -W --where-cat --location-cat, -c --catman, -R --recode E
            -L --locale L, -m --systems S, -S -s --sections L, -e --extension E, -i --ignore-case, -I --match-case, --regex, --wildcard, --names-only, -a --all, -u --update, --no-subpages
            -r --prompt S, -7 --ascii, -E --encoding E, --no-hyphenation --nh, --no-justification --nj, -t --troff, -T --troff-device [D], -Z --ditroff, -V, --usage
            -P --pager PAGER : shell
            -H --html [BROWSER] : runs
            -X --gxditview [R], -p --preprocessor S : runs
            -C --config-file FILE, -M --manpath PATH : runs
        ")])
        .style(Style::GNU)
        .judge(man),
    Spec::new(&["info", "pinfo"])
        .options(&[options!("
            -k --apropos S, -d --directory DIR, -f --file FILE, -h, -n --node N, -O --show-options --usage, --strict-node-location, --subnodes, -v --variable V, -w --where --location, -a --all, --vi-keys, -x, --index-search S
            --dribble FILE, -o --output FILE : writes
            --init-file FILE, --restore FILE : runs
        ")]),
    Spec::new(&["tldr", "cheat", "eg", "navi", "howdoi"])
        .style(Style::HARMLESS)
        .options(&[options!("-f --render FILE, -c --config FILE, --config-path FILE : reads", "-l --list, -u --update, -p --platform P, -L --language L", "-s --source URL : redirects")])
        .acts(&[Act::Connects("tldr pages")]),
];

/// `man -l file` shows a file of this machine. groff may do what it says only with its unsafe mode, which man never sets.
fn man(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        if view.has("--local-file") || word.exact().is_none_or(|word| word.contains(&b'/')) {
            view.reads(word, at);
        }
    }
    // `-P ''` falls back to the default pager.
    if view.has("--pager") {
        view.named(Code::RunsCommand, NamedBy::Flag("--pager".to_owned()), 0);
    }
}
