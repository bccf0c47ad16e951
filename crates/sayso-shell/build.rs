//! Makes tables in Rust of the texts in `programs/`, so that nothing is read when a hook starts.

#[path = "src/program/text/mod.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    unused_imports,
    clippy::enum_variant_names,
    reason = "the reader is shared with the crate, which uses the rest of it"
)]
mod text;

#[path = "build/generate.rs"]
mod generate;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use text::{Source, Words};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=programs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/program/text");
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            for problem in problems {
                println!("cargo::error={problem}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Vec<String>> {
    let mut found = Vec::new();
    find(Path::new("programs"), &mut found).map_err(|error| vec![format!("programs: {error}")])?;
    found.sort();
    let sources: Vec<Source<'_>> = found.iter().map(|(name, text)| Source { name, text }).collect();
    let document = text::read(&sources, Words::BuiltIn)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let files: Vec<&str> = sources.iter().map(|source| source.name).collect();
    let rust = generate::generate(&document, &files).map_err(|error| vec![error])?;
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default().join("programs.rs");
    std::fs::write(&out, rust).map_err(|error| vec![format!("{}: {error}", out.display())])
}

/// Every text below a folder, with its name.
fn find(folder: &Path, found: &mut Vec<(String, String)>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "prog") {
            found.push((path.display().to_string(), std::fs::read_to_string(&path)?));
        }
    }
    Ok(())
}
