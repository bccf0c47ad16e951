//! Compilers, linkers and tools for object files.

use super::{Act, Code, Operands, Role, Spec, View};
use crate::effect::{Carry, Verb};
use crate::option::{Style, Table, options};
use crate::word::Word;

const GCC: &Table = options!("
    -c, -S, -E, -v, -#, -pipe, -save-temps, -pass-exit-codes, -g [LEVEL], -O [LEVEL], -W [WARNING], -w, -f [FEATURE], -m [MACHINE], -std STD, -ansi
    -pedantic, -pedantic-errors, -D MACRO, -U MACRO, -I DIR, -L DIR, -l LIB, -M, -MM, -MD, -MMD, -MG, -MP, -MT T, -MQ T, -pthread, -static
    -static-libgcc, -static-libstdc++, -shared, -shared-libgcc, -rdynamic, -s, -r, -nostdlib, -nostdinc, -nostdinc++, -nodefaultlibs
    -nostartfiles, -no-pie, -pie, -static-pie, -p, -pg, -x LANG, -P, -C, -H, -d [LETTERS], -undef, -trigraphs, -iquote DIR, -isystem DIR
    -idirafter DIR, -iprefix P, -iwithprefix D, -iwithprefixbefore D, -isysroot DIR, -imultilib D, --sysroot DIR, -arch A, -target T, --target T
    -stdlib S, -framework F, -F DIR, -dumpversion, -dumpfullversion, -dumpmachine, -dumpspecs, -print-search-dirs, -print-file-name F
    -print-libgcc-file-name, -print-prog-name P, -print-multi-lib, -print-multiarch, -print-sysroot, --help [CLASS], --target-help, --version
    -Q, -t, -z KEYWORD, -u SYM, -e ENTRY, -remap, -fuse-ld NAME, --std S, --coverage, -coverage, -ferror-limit N, --verbose, -h
    -Xpreprocessor O, -b M, -V V, -emit-llvm, -flto [N], -nologo, --param P, -print-targets, -print-resource-dir, -print-target-triple, -fsyntax-only
    -ObjC, -index-store-path P, -working-directory D, -current_version V, -compatibility_version V, -install_name N, -dynamiclib, -bundle, -undefined A
    -include FILE, -imacros FILE : reads
    -T SCRIPT : recipe
    -o FILE : makes
    -MF FILE : makes
    -MJ FILE : makes
    -dumpdir D, -dumpbase D, -dumpbase-ext D, -aux-info FILE : makes
    -B DIR, --prefix DIR : runs
    -specs FILE, --specs FILE : runs
    -wrapper CMD : runs
    -fplugin P, -fpass-plugin P : runs
    -ld-path P, --ld-path P : runs
    -no-canonical-prefixes
    -Xclang O, -Xlinker O, -Xassembler O, -mllvm O : runs-command
");

/// Linkers and assemblers.
const LD: &Table = options!("
    -L [DIR], -l [LIB], -e --entry E, -r --relocatable -i, -s --strip-all, -S --strip-debug, -x --discard-all, -X --discard-locals, -m EMU, -shared --shared
    -Bshareable, -Bstatic, -Bdynamic, -Bsymbolic, -static --static, -pie --pie, -no-pie --no-pie, -soname --soname -h N, -rpath --rpath P, -rpath-link --rpath-link P
    -dynamic-linker --dynamic-linker P, -z KEY, -Ttext A, -Tdata A, -Tbss A, --gc-sections, --no-gc-sections, --print-gc-sections, --as-needed, --no-as-needed
    --whole-archive, --no-whole-archive, --start-group, --end-group, -E --export-dynamic, -u --undefined S, --defsym S, --build-id [S], --hash-style S
    --eh-frame-hdr, -v, -V, --version, --help, --verbose [N], -t --trace, -n --nmagic, -N --omagic, -q --emit-relocs, --no-undefined, --no-allow-shlib-undefined
    --allow-shlib-undefined, --allow-multiple-definition, --relax, --no-relax, --sort-section S, -b --format F, --oformat F, -A A, -EB, -EL, --sysroot [D]
    -nostdlib, -O [N], --warn-common, --fatal-warnings, --no-fatal-warnings, -M --print-map, --cref, --demangle [S], --no-demangle, --threads [N], --icf [M]
    --error-limit [N], --color-diagnostics [W], --no-warn-mismatch, --print-memory-usage, --orphan-handling M, --exclude-libs L, --wrap S, --push-state, --pop-state
    --discard-none, --section-start S, -y --trace-symbol S, -G N, -a [O], -g, --gdwarf-2, --gdwarf-3, --gdwarf-4, --gdwarf-5, --gstabs, --gen-debug, -march [A]
    -mcpu [C], -mfpu [F], -mthumb, -mtune [C], -mfloat-abi [F], -mabi [A], -mlittle-endian, -mbig-endian, -mattr [A], --32, --64, --x32, -W --no-warn, --warn
    -D [D], -f F, -J, -K, -R, -Z, --noexecstack, --execstack, -F F, -U [U], -w [W], -a32, -w-all, -felf32, -felf64, -fbin, -fwin64, -fmacho64
    --reduce-memory-overheads, --no-keep-memory, --sort-common, --no-dynamic-linker, --no-export-dynamic, --retain-symbols-file F, --spare-dynamic-tags N, -Y P
    -I [DIR], -P [FILE] : reads
    --version-script F, --dynamic-list F, --just-symbols F : reads
    -o --output FILE, -Map --Map FILE, --dependency-file FILE, --out-implib FILE, --MD FILE, -MD [FILE], -MF FILE : makes
    -plugin P, --plugin P, -plugin-opt O, --plugin-opt O, --run -run : runs
    -T --script FILE, -c --mri-script FILE, --default-script -dT FILE : recipe
");

pub(super) const SPECS: &[Spec] = &[
    Spec::new(&[
        "gcc", "g++", "cc", "c++", "c99", "c89", "clang", "clang++", "cpp", "gfortran", "gcc-9", "gcc-10", "gcc-11", "gcc-12", "gcc-13", "gcc-14", "g++-9",
        "g++-10", "g++-11", "g++-12", "g++-13", "g++-14", "clang-14", "clang-15", "clang-16", "clang-17", "clang-18", "clang-19", "x86_64-linux-gnu-gcc",
        "aarch64-linux-gnu-gcc", "arm-none-eabi-gcc", "emcc", "em++", "musl-gcc", "icc", "tcc", "nvcc", "hipcc",
    ])
    .style(Style::EXACT.and(Style::PASSES).and(Style::JOINS))
    .options(&[GCC])
    .operands(Operands::TEXT)
    .judge(cc),
    Spec::new(&["nasm", "yasm"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::PASSES))
        .options(&[options!("
            -f F, -g, -F F, -D [M], -d [M], -U [M], -u [M], -E, -e, -a, -M, -MG, -MP, -MT T, -MQ T, -X F, -O [N], -w [W], -W [W], -v, -s, -t, -y, -h
            -I DIR, -i DIR, -p FILE, -P FILE : reads
            -o FILE, -l FILE, -Z FILE, -MF FILE, -MD FILE : makes
        ")])
        .operands(Operands::READ)
        .judge(assembles),
    Spec::new(&["ld", "lld", "gold", "ld.lld", "mold", "as"])
        .style(Style::EXACT.and(Style::RISKY).and(Style::PASSES).and(Style::JOINS))
        .options(&[LD])
        .operands(Operands::READ)
        .judge(assembles),
    Spec::new(&["ar", "gcc-ar", "llvm-ar"])
        .style(Style::EXACT.and(Style::RISKY))
        .options(&[options!("
            -d, -m, -p, -q, -r, -s, -t, -x, -a, -b, -c, -D, -f, -i, -l, -N, -o, -O, -P, -S, -T, -u, -U, -v, -V, -M, -h, -X N
            --target T, --thin, --version, --help, --record-libdeps L
            --output DIR : makes-below
            --plugin P : runs
        ")])
        .operands(Operands::TEXT)
        .judge(archives),
    Spec::new(&["ranlib", "strip", "llvm-strip", "llvm-ranlib"])
        .style(Style::GNU.and(Style::RISKY))
        .options(&[options!("
            -s --strip-all, -g -S -d --strip-debug, --strip-dwo, --strip-unneeded, -K --keep-symbol N, -N --strip-symbol N, -R --remove-section N
            -x --discard-all, -X --discard-locals, -p --preserve-dates, -D --enable-deterministic-archives, -U --disable-deterministic-archives
            -w --wildcard, -v --verbose, -V --version, -h, -F --target B, -I --input-target B, -O --output-target B, --keep-file-symbols, -M
            --only-keep-debug, --info, -t, --keep-section-symbols, --merge-notes, --no-merge-notes, --keep-section N, -u, -r, -T, -c, -n, -q
            -o FILE : makes
            --plugin P : runs
        ")])
        .operands(Operands::EDIT)
        .judge(response_files),
    Spec::new(&["install_name_tool", "patchelf", "codesign"]).style(Style::HARMLESS).options(&[options!("
        -o FILE : makes
    ")]).operands(Operands::EDIT).judge(response_files),
    Spec::new(&["objcopy", "llvm-objcopy"])
        .style(Style::HARMLESS)
        .operands(Operands::then(&[Role::Edit], Role::Write))
        .judge(response_files),
    Spec::new(&[
        "objdump", "nm", "readelf", "size", "addr2line", "c++filt", "otool", "dwarfdump", "llvm-objdump", "llvm-nm", "llvm-readelf",
        "llvm-dwarfdump", "eu-readelf", "pahole", "gprof",
    ])
    .style(Style::HARMLESS)
    .options(&[options!("--plugin NAME : runs")])
    .operands(Operands::READ)
    .judge(response_files),
    // `ldd` starts the program it looks at.
    Spec::new(&["ldd"])
        .options(&[options!("-v --verbose, -u --unused, -d --data-relocs, -r --function-relocs")])
        .operands(Operands::READ)
        .judge(ldd),
    Spec::new(&["gcov", "gcov-dump", "llvm-cov", "vtool"]).style(Style::HARMLESS).operands(Operands::READ).acts(&[Act::WritesBelow(".")]),
    Spec::new(&[
        "ghc", "ocamlc", "ocamlopt", "fpc", "gnatmake", "dmd", "ldc2", "nim", "valac",
        "scalac", "csc", "mcs", "fsc", "vbc", "erlc", "elixirc", "tinygo", "odin", "v",
    ])
        .style(Style::EXACT.and(Style::HARMLESS).and(Style::RISKY).and(Style::FREE).and(Style::PASSES))
        .options(&[options!("
            -o --output FILE : makes
            -d DIR : makes-below
            -run, --run : runs-code
        ")])
        .operands(Operands::READ)
        .judge(response_files)
        .subs(&[
            Spec::new(&["run", "-r", "r", "repl"]).style(Style::HARMLESS.and(Style::LEADING)).acts(&[Act::Named(Code::RunsCode)]),
            Spec::new(&["eval", "i", "interactive", "play"])
                .style(Style::HARMLESS.and(Style::LEADING))
                .acts(&[Act::Named(Code::InlineCode)]),
            Spec::new(&[
                "build", "test", "check", "fmt", "version", "env", "build-exe", "build-lib", "c", "cpp", "doc",
                "init", "cc", "c++", "targets", "libc", "ast-check",
            ])
                .style(Style::HARMLESS)
                .operands(Operands::READ),
        ]),
    Spec::new(&["javac"])
        .style(Style::WORDS.and(Style::RISKY).and(Style::PASSES).and(Style::COLON))
        .options(&[options!("
            -g [K], -nowarn, -verbose, -deprecation, -encoding E, -source --source V, -target --target V, --release -release V, -Werror, -parameters
            -Xlint [K], -Xdoclint [K], -Xmaxerrs N, -Xmaxwarns N, -Xpkginfo [O], -Xprefer [O], -Xstdout F, -proc [M], -implicit [M], --enable-preview
            --add-modules M, --add-exports E, --add-reads R, --add-opens O, --limit-modules M, -m --module M, --module-version V, -profile P, -X
            --patch-module P, -version, -help, --help-lint, --help, --version, -full-version, -A [O]
            -cp -classpath --class-path P, -sourcepath --source-path P, -p --module-path P, --module-source-path P : reads-below
            -bootclasspath --boot-class-path P, -extdirs P, -endorseddirs P, --system P, --upgrade-module-path P : reads-below
            -d DIR, -s DIR, -h DIR : makes-below
            -processor C, -processorpath --processor-path P, --processor-module-path P, -Xplugin [P] : runs-code
            -J [O] : runs
        ")])
        .operands(Operands::READ)
        .judge(response_files),
    Spec::new(&["kotlinc", "kotlinc-jvm"])
        .style(Style::WORDS.and(Style::RISKY).and(Style::PASSES))
        .options(&[options!("
            -include-runtime, -jvm-target V, -language-version V, -api-version V, -module-name N, -no-jdk, -no-reflect, -no-stdlib, -nowarn, -verbose
            -version, -h, -help, -progressive, -Werror, -Wextra, -opt-in A, -java-parameters, -X, -jdk-home P, -expression-dummy
            -cp -classpath P, -kotlin-home P : reads-below
            -d F : makes-below
            -P O, -script, -e -expression CODE, -Xplugin P, -J [O], -script-templates T : runs-code
        ")])
        .operands(Operands::READ)
        .judge(response_files),
    Spec::new(&["swiftc"])
        .style(Style::WORDS.and(Style::RISKY).and(Style::PASSES).and(Style::JOINS))
        .options(&[options!("
            -O, -Onone, -Osize, -Ounchecked, -g, -gnone, -v, -version, --version, -help, -h, -parse, -typecheck, -emit-library, -emit-executable
            -emit-object, -c, -emit-module, -emit-ir, -emit-sil, -emit-assembly, -S, -dump-ast, -parse-as-library, -whole-module-optimization -wmo, -static
            -enable-testing, -module-name N, -target T, -swift-version V, -D D, -j N, -l L, -framework F, -strict-concurrency S, -warnings-as-errors
            -suppress-warnings, -enable-library-evolution, -incremental, -num-threads N, -static-stdlib, -static-executable, -enable-bare-slash-regex
            -I DIR, -L DIR, -F DIR, -sdk DIR, -import-objc-header FILE : reads-below
            -o FILE, -emit-module-path FILE, -emit-objc-header-path FILE, -output-file-map F : makes
            -Xcc F, -Xlinker F, -Xfrontend F, -Xllvm F, -Xclang-linker F, -load-plugin-library F, -load-plugin-executable F, -plugin-path D : runs-command
            -tools-directory D, -toolchain-stdlib-rpath, -use-ld U, -ld-path P, -interpret, -repl : runs
        ")])
        .operands(Operands::READ)
        .judge(response_files),
    Spec::new(&["java", "scala", "kotlin", "groovy", "jshell", "jrunscript"])
        .style(Style::WORDS.and(Style::LEADING).and(Style::HARMLESS).and(Style::RISKY))
        .options(&[options!("
            -version, -showversion, -help, -h, -cp -classpath --class-path P, -D [PROP], -X [OPT], -ea, -da, -server, -client
            -p --module-path P, --add-modules M, --add-opens O, --add-exports E, --enable-preview, --source V
            -javaagent [A], -agentlib [A], -agentpath [A] : runs-code
            -jar FILE : last
            -m --module M : last
            -e CODE : last
        ")])
        .judge(java),
    Spec::new(&["javap", "jar", "jdeps", "jmap", "jstack", "jstat", "jinfo", "jcmd", "javadoc"])
        .style(Style::HARMLESS)
        .operands(Operands::READ)
        .judge(jar),
    Spec::new(&[
        "protoc", "flatc", "thrift", "capnp", "bison", "yacc", "flex", "lex", "m4", "swig", "cython", "antlr4",
        "rpcgen", "windres", "moc", "uic", "rcc", "glib-compile-resources", "wayland-scanner",
    ])
        .style(Style::HARMLESS.and(Style::RISKY).and(Style::PASSES))
        .options(&[options!("-o --output FILE : makes", "--plugin P : runs")])
        .operands(Operands::READ)
        .acts(&[Act::WritesBelow(".")]),
    Spec::new(&["ccache", "sccache", "distcc"]).style(Style::LEADING).options(&[options!("
        -s --show-stats, -h, -V, -p --show-config, -v --verbose, --print-stats, --show-adv-stats
        -C --clear, -c --cleanup, -z --zero-stats, --stop-server, --start-server : changes-system
    ")]).judge(super::pip::starts_operands),
];

/// `@file` holds more options and operands, which nobody sees.
pub(super) fn response_files(view: &mut View<'_>) {
    for at in view.operands() {
        if view.word(at).and_then(Word::exact).is_some_and(|word| word.len() > 1 && word.starts_with(b"@")) {
            view.named(Code::DynamicOption, crate::effect::NamedBy::Nothing, at);
        }
    }
}

/// An assembler reads its source from standard input too, and a source takes in other files.
fn assembles(view: &mut View<'_>) {
    response_files(view);
    super::source::on_stdin(view, matches!(view.name, "as" | "nasm" | "yasm"));
}

/// `ar rcs lib.a x.o`, `ar -rcs lib.a x.o`: letters, the archive, members. `ar -M` follows a script, which writes where it
/// says.
fn archives(view: &mut View<'_>) {
    response_files(view);
    let dashed = view.seen.iter().any(|seen| !seen.opt.name.starts_with("--"));
    for (n, at) in view.operands().into_iter().enumerate().skip(usize::from(!dashed)) {
        let Some(word) = view.word(at) else { continue };
        view.reads(word, at);
        if n <= usize::from(!dashed) {
            view.writes(word, at);
        }
    }
    let key = view.operand(0).and_then(Word::exact);
    let options = view.inv.argv.iter().skip(1).filter_map(|word| word.exact()?.strip_prefix(b"-"));
    if key.into_iter().chain(options).any(follows_script) {
        view.code("ar", Code::InlineCode, crate::effect::NamedBy::Nothing, 0);
    }
}

/// Whether these are letters of ar, and `M` is one of them.
fn follows_script(letters: &[u8]) -> bool {
    letters.contains(&b'M') && letters.iter().all(|letter| b"dmpqrtxabcDfiMlNoOPsSTuUVv".contains(letter))
}

/// What is compiled, and where it goes: `a.out` and object files without `-o`.
fn cc(view: &mut View<'_>) {
    for at in view.operands() {
        let Some(word) = view.word(at) else { continue };
        match word.exact() {
            Some(bytes) if bytes.starts_with(b"@") => {}
            _ => view.reads(word, at),
        }
    }
    response_files(view);
    super::source::on_stdin(view, view.name == "cpp");
    let stops = view.has_any(&[
        "-E",
        "-M",
        "-MM",
        "--version",
        "-dumpversion",
        "-dumpmachine",
        "--help",
        "-fsyntax-only",
        "-v",
    ]);
    if view.operand_count() > 0 && !stops && !view.has("-o") {
        writes_beside(view);
    }
    // What goes to the preprocessor word by word may be a file to write; on macOS `-fopenmp` goes there too.
    for (at, value) in view.values("-Xpreprocessor") {
        if value.exact() != Some(b"-fopenmp") {
            view.named_by_flag(Code::WritesFile, "-Xpreprocessor", at);
        }
    }
    for name in ["-f", "-W", "-m"] {
        for (at, value) in view.values(name) {
            let Some(text) = value.exact_str() else { continue };
            let runs = ["plugin", "pass-plugin", "l,", "a,", "p,"].iter().any(|p| text.starts_with(p))
                && (name == "-f" || text.contains("plugin") || text.contains("-dynamic-linker"));
            if runs {
                view.named_by_flag(Code::RunsCommand, name, at);
            }
        }
    }
}

/// Without `-o`: `a.out`, or for each source an object file of its name in the working directory.
fn writes_beside(view: &mut View<'_>) {
    let suffix = match (view.has("-c"), view.has("-S")) {
        (_, true) => ".s",
        (true, _) => ".o",
        _ => return view.touches(Verb::Write, "a.out", false),
    };
    for at in view.operands() {
        let Some(source) = view.word(at).and_then(Word::exact_str) else {
            return view.touches(Verb::Write, ".", true);
        };
        let name = source.rsplit('/').next().unwrap_or(source);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        view.touches(Verb::Write, &format!("{stem}{suffix}"), false);
    }
}

fn java(view: &mut View<'_>) {
    for name in ["-jar", "-m", "-e"] {
        if let Some((at, value)) = view.values(name).pop() {
            if name == "-jar" {
                view.path_effect(Verb::Read, &value, at, false, Carry::Plain);
            }
            view.code("java", Code::RunsCode, crate::effect::NamedBy::Program, at);
            view.hands_on(0);
            return;
        }
    }
    if view.operand_count() > 0 || !view.has_any(&["-version", "--version", "-help", "--help", "-h"]) {
        view.code("java", Code::RunsCode, crate::effect::NamedBy::Program, 0);
        view.hands_on(0);
    }
}

fn ldd(view: &mut View<'_>) {
    if view.operand_count() > 0 {
        view.code("unknown", Code::RunsCode, crate::effect::NamedBy::Program, 0);
    }
}

/// `jar xf` and `jar cf` write; `jar tf` lists.
fn jar(view: &mut View<'_>) {
    let mode = view.operand(0).and_then(Word::exact).unwrap_or_default();
    let lists = view.name != "jar" || mode.starts_with(b"t") || view.has_any(&["-t", "--list"]);
    if !lists || view.name == "javadoc" {
        view.touches(Verb::Write, ".", true);
    }
}
