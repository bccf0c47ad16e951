//! Links the binary statically where the machine can, with plain `cargo build` and `cargo install`.
//!
//! An agent starts a process for each of its calls. A dynamic loader that finds, maps and relocates libraries costs
//! such a process more than its own work does. Rust's `crt-static` would do, but only together with an explicit
//! target: without one it also reaches procedural macros, which cannot be static. So only the link of the binary is
//! changed here: the system's libraries are named by stubs that lead to their static forms.
//!
//! Where there are no static libraries (or no glibc at all) the binary is linked as ever.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the standard library links from the system on Linux with glibc; `gcc_s` is the unwinder.
const LIBRARIES: [&str; 6] = ["c", "m", "rt", "pthread", "dl", "util"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| {
        println!("cargo::rerun-if-env-changed={name}");
        std::env::var(name).unwrap_or_default()
    };
    let here = variable("HOST") == variable("TARGET");
    let glibc = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let asked_for = variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    let Ok(out) = std::env::var("OUT_DIR") else { return };
    if !here || !glibc || asked_for {
        return;
    }
    let linker = Some(variable("RUSTC_LINKER")).filter(|linker| !linker.is_empty()).unwrap_or_else(|| "cc".to_owned());
    match stubs(&linker, Path::new(&out)) {
        Some(last) => {
            // For the binary alone: a test that finds half of its C library here crashes before it begins.
            println!("cargo::rustc-link-arg-bins=-L{out}");
            // Behind everything else on the command line, so that they win. Without a position to be independent of
            // there is nothing to relocate at each start.
            println!("cargo::rustc-link-arg-bins=-static");
            println!("cargo::rustc-link-arg-bins=-no-pie");
            for library in last {
                println!("cargo::rustc-link-arg-bins={}", library.display());
            }
            if let Some(script) =
                order(&variable("PROFILE"), &variable("RUSTC_LINKER"), &variable("CARGO_ENCODED_RUSTFLAGS"))
            {
                println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
            }
            // Rust's start asks where the stack ends, to tell an overflow from other crashes. glibc answers from
            // `/proc/self/maps`, which costs a hook more than its judgement does. An answer other than 0 is "not known",
            // and the process crashes as before, with a plainer message.
            println!("cargo::rustc-link-arg-bin=sayso-hook=-Wl,--defsym=pthread_getattr_np=getpid");
        }
        None => println!("cargo::warning=no static C library here: `sayso hook` will start more slowly"),
    }
}

/// The script that lays what a hook uses side by side. The linkers that Rust itself takes (lld, or GNU's where there is
/// none) know how to add it to their own; others may not.
fn order(profile: &str, linker: &str, flags: &str) -> Option<PathBuf> {
    println!("cargo::rerun-if-changed=hook.ld");
    let script = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).join("hook.ld");
    let usual = linker.is_empty() && !flags.contains("link");
    (profile == "release" && usual && script.exists()).then_some(script)
}

/// Writes a stub for each library. Returns those that the others need last; `None` if one is missing.
fn stubs(linker: &str, folder: &Path) -> Option<[PathBuf; 3]> {
    let stub = |name: &str, text: String| std::fs::write(folder.join(format!("lib{name}.a")), text).ok();
    for name in LIBRARIES {
        let found = archive(linker, name)?;
        stub(name, format!("INPUT(\"{}\")\n", found.display()))?;
    }
    let last = [archive(linker, "gcc_eh")?, archive(linker, "gcc")?, archive(linker, "c")?];
    let unwinder = last.each_ref().map(|path| format!("\"{}\"", path.display())).join(" ");
    stub("gcc_s", format!("INPUT({unwinder})\n"))?;
    Some(last)
}

/// Where the compiler driver finds a static library.
fn archive(linker: &str, name: &str) -> Option<PathBuf> {
    let output = Command::new(linker).arg(format!("-print-file-name=lib{name}.a")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.exists()).then_some(path)
}
