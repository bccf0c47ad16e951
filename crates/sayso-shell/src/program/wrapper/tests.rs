//! Every wrapper is opened: lines of `command => what it does`.

use super::testing::{check, shown_with};
use crate::effect::Stdin;
use crate::program::Prints;

#[test]
fn wrappers_that_only_start_what_follows_need_no_yes_of_their_own() {
    check(
        "
        nice git status => start git status; only
        nice -n 5 git status => start git status; only
        nice -5 git status => start git status; only
        nohup ./x -v => start ./x -v; only
        timeout 5 cargo test => start cargo test; only
        timeout -k 5 --signal=KILL 10s cargo test --all => start cargo test --all; only
        timeout --sig KILL 10 rm -rf x => start rm -rf x; only
        stdbuf -oL -e0 make => start make; only
        setsid -f x => start x; only
        time -p make => start make; only
        time -v -o log make => write /w/log (writes-file --output); start make; only
        ionice -c 3 -n 7 rsync a b => start rsync a b; only
        chrt -f 10 x => start x; only
        taskset -c 0-3 make => start make; only
        command git status => start git status; only
        command -v git =>
        busybox rm -rf x => start rm -rf x; only
        xvfb-run -a npm test => start npm test; only
        unbuffer make => start make; only
        setarch -R ./x => start ./x; only
        hyperfine -w 3 'ls -l' 'rm x' => shell {ls -l}; shell {rm x}; only
        ",
    );
}

#[test]
fn env_is_opened_with_its_assignments_and_split_strings() {
    check(
        "
        env A=1 B=2 git status => start A=1 B=2 git status; only
        env -i PATH=/x sh -c 'id' => start HOME=?? PATH=/x sh -c id; only
        env -u A -C dir make => start in dir make; only
        env - x => start x; only
        env A=$x git log => start A=? git log; only
        env => may (shows-secrets program)
        env -0 => may (shows-secrets program)
        env -S 'rm -rf x' => start rm -rf x; only
        env -S'rm -rf x' y => start rm -rf x y; only
        env --split-string='A=1 sh -c \"id\"' => start A=1 sh -c \"id\"; only
        env -vS 'rm x' y => start rm x y; only
        env -S '-S \"rm x\"' => start rm x; only
        env --split='rm x' => start rm x; only
        env -S '${X}' => start ??
        env -S $x => start ??
        env $x git => may (dynamic-option nothing); start ? git; only
        "
        .replace("sh -c \"id\";", "sh -c id;")
        .as_str(),
    );
}

#[test]
fn many_split_strings_are_not_followed() {
    let line = format!("env {}x", "-S -v ".repeat(5000));
    assert!(super::testing::shown(&line).contains("start ??"));
}

#[test]
fn shells_run_text_scripts_and_standard_input() {
    check(
        "
        bash -c 'rm x' a b => shell {rm x}; only
        bash -lc 'rm x' => shell {rm x}; only
        bash -c -x 'rm x' => shell {rm x}; only
        bash -euo pipefail -c 'rm x' => shell {rm x}; only
        bash -oc pipefail 'rm x' => shell {rm x}; only
        bash -norc -c 'rm x' => shell {rm x}; only
        bash --norc -ec 'rm x' => shell {rm x}; only
        bash -- x.sh -c y => read /w/x.sh; script x.sh
        bash x.sh => read /w/x.sh; script x.sh
        bash -n x.sh => read /w/x.sh; only
        bash -o noexec x.sh => read /w/x.sh; only
        zsh --no-exec x.zsh => read /w/x.zsh; only
        bash -n +n x.sh => read /w/x.sh; script x.sh
        bash --rcfile f -i => read /w/f; read /home/u/.bash_history; write /home/u/.bash_history; code sh (runs-code program); script f
        bash -c $x => shell {??}
        bash $x => shell {??}
        bash => code sh (runs-code program)
        sh -c 'id' => shell {id}; only
        zsh -c 'id' => shell {id}; only
        bash --version =>
        bash -s a => code sh (runs-code program)
        bash --frob x => may (unknown-option --frob); read /w/x; script x
        fish -c 'id' => code fish (inline-code --command)
        busybox sh -c 'id' => start sh -c id; only
        ",
    );
    let pipe = |prints| shown_with("sh", Stdin::Pipe, None, prints);
    assert_eq!(pipe(Prints::Unknown), "code sh (runs-code -s)");
    assert_eq!(pipe(Prints::Exact("rm x".into())), "shell {rm x}; only");
    assert_eq!(shown_with("bash", Stdin::Text, Some("rm x\n"), Prints::Unknown), "shell {rm x\n}; only");
    assert_eq!(shown_with("bash -s a", Stdin::File, None, Prints::Unknown), "code sh (runs-code -s)");
}

#[test]
fn wrappers_that_change_the_user_or_the_place_need_a_yes_of_their_own() {
    check(
        "
        sudo rm -rf x => start rm -rf x
        sudo -u bob -- A=1 rm x => start A=1 rm x
        sudo -nE make install => start make install
        sudo -i => code sh (runs-code program)
        sudo -e /etc/hosts => may (runs-command --edit); read /etc/hosts; write /etc/hosts
        sudo -l =>
        sudo --chr /x ls => start elsewhere ls
        doas -u bob rm x => start rm x
        su -c 'rm x' bob => shell {rm x}
        su - bob => code sh (runs-code program)
        runuser -u bob -- rm x => start rm x
        chroot /x rm y => start elsewhere in /x rm y
        unshare -r rm y => start rm y
        nsenter -t 1 -m rm y => start elsewhere rm y
        bwrap --ro-bind / / --dev /dev rm y => start elsewhere rm y
        gosu bob rm y => start rm y
        systemd-run --user rm y => start rm y
        capsh --print =>
        runcon -t x_t rm y => start rm y
        runcon a:b:c:d rm y => start rm y
        cgexec -g cpu:x rm y => start rm y
        dotenvx run -f x -- rm y => read /w/x; start rm y
        ",
    );
}

#[test]
fn wrappers_that_only_set_something_for_a_command_are_opened() {
    check(
        "
        arch =>
        arch -x86_64 rm y => start rm y; only
        arch -arch arm64 rm y => start rm y; only
        choom -n 0 -- rm y => start rm y; only
        uclampset -m 1 rm y => start rm y; only
        numactl -N 0 --membind=0 rm y => start rm y; only
        ifne rm y => start rm y; only
        gnice -n 5 rm y => start rm y; only
        gnohup rm y => start rm y; only
        cross-env A=1 B=2 rm y => start A=1 B=2 rm y; only
        dotenv -- rm y => read /w/.env; start rm y; only
        dotenv run rm y => read /w/.env; start rm y; only
        ",
    );
}

#[test]
fn what_an_exec_form_starts_is_opened() {
    check(
        "
        doppler run -p x -- rm y => may (shows-secrets program); start rm y
        aws-vault exec prod rm y => may (shows-secrets program); start rm y
        chamber exec svc other -- rm y => may (shows-secrets program); start rm y
        op run --env-file=x -- rm y => may (shows-secrets program); start rm y
        mise exec node@20 -- rm y => may (runs-command exec); start rm y
        asdf exec rm y => may (runs-code program); start rm y
        nvm exec 18 rm y => may (runs-code program); start rm y
        volta run --node 18 -- rm y => may (runs-code program); start rm y
        lerna exec -- rm y => may (runs-command exec); start rm y
        nx exec -- rm y => may (runs-command exec); start rm y
        ",
    );
}

#[test]
fn what_looks_like_a_command_behind_a_program_that_is_hardly_known_counts_too() {
    check(
        "
        sg docker -c 'rm y' => shell {rm y}
        sg - docker rm y => shell {rm y}
        newgrp docker => code sh (runs-code program)
        stack exec rm -- -rf y => may (runs-command exec); start rm -rf y
        stack exec -- rm y => may (runs-command exec); start rm y
        honcho run rm y => may (serves program); start rm y
        pm2 start 'rm -rf y' => may (serves program); shell {rm -rf y}
        pm2 start --name x rm -- y => may (serves program); start rm y
        pkgx +node -- rm y => may (installs program); connect <package index>; start rm y
        frobnicate exec --deep rm y => start rm y
        frobnicate -- rm y => start rm y
        frobnicate -c 'rm y; id' => shell {rm y; id}
        frobnicate --cmd='rm y' => shell {rm y}
        frobnicate run test =>
        frobnicate run test --watch =>
        frobnicate rm y =>
        frobnicate -m 'make it better' =>
        ",
    );
}

#[test]
fn wrappers_that_repeat_a_command_are_opened() {
    check(
        "
        xargs rm -f => start rm -f ?; only
        xargs => start echo ?; only
        xargs -0 -n1 -P 4 grep x => start grep x ?; only
        xargs -I{} cp {} d/{} => start cp ? d/?; only
        xargs -I % sh -c 'rm %' => start sh -c rm ?; only
        xargs -i mv {} x => start mv ? x; only
        xargs -a names rm => read /w/names; start rm ?; only
        xargs sh -c 'x' => start sh -c x ?; only
        parallel gzip ::: a b => start gzip ?; only
        parallel -j4 'convert {} {.}.png' => start convert ? ?; only
        parallel 'rm {}; id' => shell {??}
        parallel => shell {??}
        watch -n 1 git status => shell {git status}; only
        watch -x rm x => start rm x; only
        flock /tmp/l rm x => write /tmp/l; start rm x; only
        flock -n /tmp/l -c 'rm x' => write /tmp/l; shell {rm x}; only
        script -q -c 'rm x' /dev/null => shell {rm x}
        script -qc 'rm x' out => write /w/out; shell {rm x}
        entr -r make => start make; only
        expect -c 'spawn id' => code expect (inline-code -c)
        at now => may (changes-system program); code sh (runs-code program)
        ",
    );
    let names = Prints::Names(crate::effect::Listing::all("/w/src".into()));
    assert_eq!(shown_with("xargs wc -l", Stdin::Pipe, None, names.clone()), "start wc -l ?</w/src>; only");
    assert_eq!(shown_with("xargs -I{} cat {}", Stdin::Pipe, None, names), "start cat ?</w/src>; only");
    assert_eq!(shown_with("xargs rm", Stdin::Pipe, None, Prints::Exact("a b\n".into())), "start rm a b; only");
}

#[test]
fn tracers_start_what_they_look_at() {
    check(
        "
        strace -f -o out rm x => write /w/out (writes-file --output); start rm x; only
        strace -o '|sh' ls => write /w/|sh (writes-file --output); shell {sh}; start ls; only
        valgrind --leak-check=full ./x a => start ./x a; only
        gdb -batch -ex bt ./x core => read /w/x
        gdb -batch -ex run --args ./x y => code gdb (inline-code -ex); read /w/x; start ./x y
        gdb -batch -ex 'shell id' => shell {id}
        gdb --batch --ex='!id' => shell {id}
        gdb ./x => read /w/x; code gdb (runs-code program)
        gdb -batch -x f => read /w/f; code gdb (runs-code -x)
        perf stat -r 3 make => start make; only
        ",
    );
}
