//! Commands that have a facet though their program, with other words, has not: patterns, as a policy's sets hold them.

use super::{Facets, index};

const PARTS: &[(Facets, &[&str])] = &[
    (Facets::READER, &["tar --list", "unzip {-l,-v,-Z,-t}"]),
    (Facets::SHELL, &["{busybox,toybox} {sh,ash,hush}"]),
    (
        Facets::BUILDS,
        &[
            "cargo {build,check,clippy,test,nextest,fmt,doc,bench}",
            "go {build,test,vet,fmt}",
            "meson {compile,setup,test}",
            "mvn {compile,test,package,verify}",
            "gradle {build,test,check,assemble}",
            "swift {build,test}",
            "dotnet {build,test}",
            "bazel {build,test}",
            "buck2 {build,test}",
        ],
    ),
    (
        Facets::READS_REPOSITORY,
        &[
            "git {status,log,diff,show,branch,tag,remote,ls-files,ls-tree,ls-remote}",
            "git {rev-parse,rev-list,describe,blame,annotate}",
            "git {shortlog,cat-file,check-ignore,check-attr,count-objects,diff-files}",
            "git {diff-index,diff-tree,for-each-ref,grep}",
            "git {merge-base,name-rev,range-diff,show-branch,show-ref,symbolic-ref}",
            "git {var,verify-commit,verify-tag,version,help}",
            // A lone `git stash` puts work away.
            "git {whatchanged,cherry,config,fsck,reflog,notes,worktree,submodule,bisect}",
            "git stash {list,show}",
        ],
    ),
    (
        Facets::READS_PACKAGES,
        &[
            "npm {ls,list,ll,la,outdated,view,info,show,audit,test,t,help,root,prefix,bin}",
            "npm {explain,why,fund,ping,version,query}",
            "npm {config,pkg,doctor,search}",
        ],
    ),
];

/// The commands that have this facet, as patterns: names of programs in order, then programs with the words that it takes.
#[must_use]
pub fn commands(facet: Facets) -> Vec<String> {
    let mut names: Vec<String> = index::with(facet)
        .filter(|(name, _)| !index::ANY_ENDING.iter().any(|begin| name.starts_with(begin) && name != begin))
        .map(|(name, facets)| if facets.has(Facets::ANY_ENDING) { format!("{name}*") } else { name.to_owned() })
        .collect();
    names.sort_unstable();
    let parts = PARTS.iter().filter(|(of, _)| of.has(facet)).flat_map(|(_, parts)| *parts);
    names.extend(parts.map(|part| (*part).to_owned()));
    names
}
