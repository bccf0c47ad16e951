//! Bundlers and compilers of scripts that presets know, each with the options that it has.

use super::lint::takes_paths;
use super::{Act, Code, Spec};
use crate::option::{Style, Table, options};

const STYLE: Style = Style::EXACT.and(Style::NEGATES).and(Style::RISKY).and(Style::FREE).and(Style::GLOBAL);
const SUB: Style = Style::EXACT.and(Style::NEGATES);

const VITE: &Table = options!("
    -h --help, -v --version, --base U, -l --logLevel L, --clearScreen, -d --debug [F], -f --filter F, -m --mode M, --target T, --assetsDir D
    --assetsInlineLimit N, --ssr [E], --sourcemap [M], --minify [M], --manifest [N], --ssrManifest [N], --emptyOutDir, -w --watch, --app, --profile
    --force, --configLoader L
    --outDir DIR : makes-below
    -c --config FILE : runs-code
    --host [H], --port P, --open [P], --cors, --strictPort : serves
");

const WEBPACK: &Table = options!("
    -h --help [V], -v --version, --mode M, --env E, --node-env E, --color, -w --watch, --progress [T], -j --json [F], -d --devtool D, -t --target T, --name N
    --analyze, --fail-on-warnings, --stats [S], --profile, --bail, --cache [T], --entry E, --no-watch, --config-node-env E, --no-stats, --no-devtool, --no-target
    --hot [V], --no-hot, --optimization-minimize, --watch-options-stdin, --disable-interpret, --performance, --infrastructure-logging-level L, --parallelism N
    -o --output-path DIR : makes-below
    --output-filename F, --output-chunk-filename F, --output-public-path P
    -c --config FILE, --config-name N, -m --merge, -e --extends F, --plugin P, --resolve-loader-modules M, --module-bind M : runs-code
    --output-clean : changes-files
");

const ROLLUP: &Table = options!("
    -h --help, -v --version, -e --external I, -f --format F, -g --globals P, -i --input F, -m --sourcemap [M], -n --name N, -w --watch, --amd.id I, --amd.autoId
    --amd.define N, --assetFileNames P, --banner T, --chunkFileNames P, --compact, --context V, --entryFileNames P, --environment V, --esModule, --exports M
    --extend, --failAfterWarnings, --filterLogs F, --footer T, --freeze, --indent, --inlineDynamicImports, --interop T, --intro T, --outro T, --logLevel L
    --minifyInternalExports, --namespaceToStringTag, --noConflict, --perf, --preserveEntrySignatures, --preserveModules, --preserveModulesRoot, --preserveSymlinks
    --silent, --strict, --strictDeprecations, --treeshake [T], --validate, --waitForBundleInput, --watch.clearScreen, --watch.exclude F, --watch.include F
    --watch.skipWrite, --bundleConfigAsCjs, --configImportAttributesKey N, --generatedCode F, --hoistTransitiveImports, --importAttributesKey N
    --maxParallelFileOps N, --sourcemapExcludeSources, --sourcemapBaseUrl U, --stdin
    -o --file F : makes
    -d --dir D : makes-below
    -c --config [F] : runs-code
    -p --plugin P, --configPlugin P : runs-code
    --watch.onStart CMD, --watch.onBundleStart CMD, --watch.onBundleEnd CMD, --watch.onEnd CMD, --watch.onError CMD : runs-command
");

const ESBUILD: &Table = options!("
    -h --help, --version, --bundle, --define [V], --external [M], --format [F], --minify, --minify-whitespace, --minify-identifiers, --minify-syntax
    --packages [P], --platform [P], --sourcemap [M], --splitting, --target [T], --watch [M], --allow-overwrite, --analyze [V], --asset-names [N], --banner [T]
    --certfile F, --charset [C], --chunk-names [N], --color [V], --conditions [C], --cors-origin [O], --drop [L], --drop-labels [L], --entry-names [N]
    --footer [T], --global-name [N], --ignore-annotations, --jsx [M], --jsx-factory [F], --jsx-fragment [F], --jsx-import-source [P], --jsx-dev
    --jsx-side-effects, --keep-names, --keyfile F, --legal-comments [M], --line-limit [N], --loader [L], --log-level [L], --log-limit [N], --log-override [O]
    --main-fields [F], --mangle-props [R], --mangle-quoted, --out-extension [E], --preserve-symlinks, --public-path [P], --pure [N], --reserve-props [R]
    --resolve-extensions [E], --source-root [P], --sourcefile [F], --sources-content [V], --supported [F], --tree-shaking [V], --tsconfig-raw [J], --alias [V]
    --abs-paths [P], --abs-working-dir [D]
    --inject [F], --tsconfig [F], --node-paths [P] : reads
    --outfile [F], --metafile [F], --mangle-cache [F] : makes
    --outdir [D], --outbase [D] : makes-below
    --serve [A], --servedir [D], --serve-fallback [F] : serves
");

const SWC: &Table = options!("
    -h --help, -V --version, -f --filename F, -s --source-maps [V], -q --quiet, -w --watch, --delete-dir-on-start, --only G, --ignore G, --copy-files, -D
    --include-dotfiles, --no-swcrc, --env-name N, --sync, --workers N, --log-watch-compilation, --extensions E, --out-file-extension E, --source-root R
    --source-map-target T, --source-file-name N, --strip-leading-paths, -C --config V, --only-changed
    --config-file F : recipe
    -o --out-file F : makes
    -d --out-dir D : makes-below
    --plugin P : runs-code
");

const NEXT: &Table = options!("
    -h --help, -v --version, -d --debug, --profile, --no-lint, --no-mangling, --experimental-app-only, --experimental-build-mode M, --turbo, --turbopack, --webpack
    --experimental-debug-memory-usage, --experimental-analyze, --debug-prerender, --dir D, --file F, --ext E, --quiet, --max-warnings N, --format F, --strict
    --no-cache, --cache, --cache-strategy S, --error-on-unmatched-pattern, --no-inline-config, --report-unused-disable-directives S, --verbose, --rulesdir D
    -o --output-file F, --cache-location F : makes
    -c --config F, --resolve-plugins-relative-to D : runs-code
    --fix, --fix-type T : changes-files
    -p --port P, -H --hostname H, --experimental-https, --keepAliveTimeout N, --experimental-upload-trace U : serves
");

const BUILDS: &[&str] = &[
    "build",
    "optimize",
    "lint",
    "info",
    "typegen",
    "telemetry",
    "compile",
    "bundle",
    "configtest",
    "version",
    "help",
    "b",
];
const SERVES: &[&str] = &["dev", "serve", "server", "start", "preview", "watch", "s", "w"];
const CHANGES: &[&str] = &["init", "create", "new", "generate", "plugin", "loader", "i", "upgrade", "codemod"];

macro_rules! bundler {
    ($names:expr, $table:expr) => {
        Spec::new($names)
            .style(STYLE)
            .options(&[$table])
            .acts(&[Act::Project])
            .subs(&[
                Spec::new(BUILDS).style(SUB).options(&[$table]).judge(takes_paths),
                Spec::new(SERVES).style(SUB).options(&[$table]).acts(&[Act::Named(Code::Serves)]),
                Spec::new(CHANGES).style(SUB).options(&[$table]).acts(&[Act::Named(Code::Installs)]),
            ])
            .judge(takes_paths)
    };
}

pub(super) const SPECS: &[Spec] = &[
    bundler!(&["webpack", "rspack", "rsbuild"], WEBPACK),
    bundler!(&["vite"], VITE),
    bundler!(&["next"], NEXT),
    bundler!(&["swc"], SWC),
    Spec::new(&["rollup"]).style(STYLE).options(&[ROLLUP]).acts(&[Act::Project]).judge(takes_paths),
    Spec::new(&["esbuild"]).style(STYLE.and(Style::COLON)).options(&[ESBUILD]).acts(&[Act::Project]).judge(takes_paths),
];
