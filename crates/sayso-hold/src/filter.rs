//! System calls that a held run does not get.
//!
//! Everything else is allowed: files, processes and hosts are bounded by namespaces and Landlock. What is refused here
//! leads around those, or is a part of the kernel that ordinary programs do not need and attackers do.

use crate::plan::Level;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition as Condition,
    SeccompFilter, SeccompRule as Rule, sock_filter,
};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

const NOT_PERMITTED: u32 = libc::EPERM.cast_unsigned();
const NOT_THERE: u32 = libc::ENOSYS.cast_unsigned();

/// Refused whatever their arguments are.
const REFUSED: &[i64] = &[
    // Mounts.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTRIBUTES,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // Other namespaces and processes.
    libc::SYS_setns,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Parts of the kernel that have their own ways to files, sockets and memory.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_uselib,
    libc::SYS__sysctl,
    libc::SYS_kexec_file_load,
    libc::SYS_nfsservctl,
    libc::SYS_ustat,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[libc::SYS_kexec_file_load, libc::SYS_nfsservctl];

/// `open_tree_attr(2)`, newer than the C library's list.
const OPEN_TREE_ATTRIBUTES: i64 = 467;

/// Every flag that asks for a new namespace.
const NEW_NAMESPACES: u64 = 0x7E02_0080;

/// What types of sockets are told from flags by.
const SOCKET_TYPE: u64 = 0xF;

/// Requests to a terminal that put words into its owner's mouth, read the screen, or load parts of the kernel.
const TERMINAL_REQUESTS: [u64; 4] = [libc::TIOCSTI, libc::TIOCLINUX, libc::TIOCCONS, libc::TIOCSETD];

/// Shared memory and queues, which only a namespace separates.
const SHARED: &[i64] =
    &[libc::SYS_shmget, libc::SYS_shmat, libc::SYS_msgget, libc::SYS_semget, libc::SYS_mq_open, libc::SYS_mq_unlink];

/// What the kernel calls this architecture. On others the list of calls itself checks it.
const OWN_ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// Flags of a file that is opened to be written.
const WRITES: i32 = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;

/// Calls that open files, and which of their arguments has the flags. `openat2` has them where no filter can look.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(i64, u8)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: &[(i64, u8)] = &[(libc::SYS_openat, 2)];

/// Instructions of filters.
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// The filter of a level: one, since each costs something when it is made and at every call. Without somebody to make
/// connections there are no Unix sockets.
fn filter(level: Level, brokered: bool, report_writes: bool) -> io::Result<BpfProgram> {
    let mut refused: BTreeMap<i64, Vec<Rule>> =
        REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, Vec::new())).collect();
    refused.insert(libc::SYS_socket, sockets(level, brokered)?);
    refused.insert(
        libc::SYS_socketpair,
        vec![
            rule(&[(0, Op::Ne, family(libc::AF_UNIX))])?,
            // A datagram can be sent to any address from a pair, too.
            rule(&[(1, Op::MaskedEq(SOCKET_TYPE), kind(libc::SOCK_DGRAM))])?,
            rule(&[(1, Op::MaskedEq(SOCKET_TYPE), kind(libc::SOCK_RAW))])?,
        ],
    );
    refused.insert(
        libc::SYS_ioctl,
        TERMINAL_REQUESTS.iter().map(|request| rule(&[(1, Op::Eq, *request)])).collect::<Result<_, _>>()?,
    );
    for call in [libc::SYS_unshare, libc::SYS_clone] {
        refused.insert(call, bits(0, NEW_NAMESPACES)?);
    }
    if level == Level::Files {
        refused.extend(SHARED.iter().map(|call| (*call, Vec::new())));
        // A socket that listens without having been bound gets a port of the machine, past Landlock.
        refused.insert(libc::SYS_listen, Vec::new());
        // Another process of the same user: there is no namespace to keep it out of sight.
        refused.insert(libc::SYS_prlimit64, vec![rule(&[(0, Op::Ne, 0)])?]);
        // Data that goes with the first packet is not seen as a connection by Landlock.
        let fast = libc::MSG_FASTOPEN.cast_unsigned().into();
        refused.insert(libc::SYS_sendto, bits(3, fast)?);
        refused.insert(libc::SYS_sendmsg, bits(2, fast)?);
        refused.insert(libc::SYS_sendmmsg, bits(3, fast)?);
    }
    let mut whole = first_of_all(brokered, report_writes)?;
    whole.extend(in_pieces(refused)?);
    Ok(whole)
}

/// What is decided by the number of a call alone, before everything else.
fn first_of_all(brokered: bool, report_writes: bool) -> io::Result<BpfProgram> {
    const AT_LEAST: u16 = 0x35;
    const REFUSE: u32 = 0x0005_0000;
    const KILL: u32 = 0x8000_0000;
    const NOTIFY: u32 = 0x7FC0_0000;
    const ALLOW: u32 = 0x7FFF_0000;
    const ANY_BIT: u16 = 0x45;
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let mut first = Vec::new();
    let mut answer = |comparison: u16, with: u32, result: u32| {
        first.extend([instruction(comparison, 0, 1, with), instruction(RETURN, 0, 0, result)]);
    };
    let number = |call: i64| u32::try_from(call).map_err(io::Error::other);
    if cfg!(target_arch = "x86_64") {
        // Every call has a second number, with this bit, that a list of numbers does not know.
        answer(AT_LEAST, 0x4000_0000, REFUSE | NOT_PERMITTED);
    }
    // The flags are behind a pointer, where no filter can look; C libraries go on with `clone`.
    answer(EQUAL, number(libc::SYS_clone3)?, REFUSE | NOT_THERE);
    if brokered {
        answer(EQUAL, number(libc::SYS_connect)?, NOTIFY);
    }
    if brokered && report_writes {
        for (call, flags) in OPENS {
            // The kernel reads the flags as 32 bits, and these are the lower ones.
            let place = 16 + 8 * u32::from(*flags);
            first.extend([
                instruction(EQUAL, 0, 4, number(*call)?),
                instruction(LOAD, 0, 0, place),
                instruction(ANY_BIT, 0, 1, WRITES.cast_unsigned()),
                instruction(RETURN, 0, 0, NOTIFY),
                instruction(RETURN, 0, 0, ALLOW),
            ]);
        }
    }
    // Other architectures have other numbers.
    let mut whole = match OWN_ARCHITECTURE {
        Some(own) => {
            vec![instruction(LOAD, 0, 0, ARCHITECTURE), instruction(EQUAL, 1, 0, own), instruction(RETURN, 0, 0, KILL)]
        }
        None => Vec::new(),
    };
    whole.push(instruction(LOAD, 0, 0, NUMBER));
    whole.extend(first);
    Ok(whole)
}

/// Sockets of other families than a run needs, and in *held files* all that Landlock cannot bound.
fn sockets(level: Level, brokered: bool) -> io::Result<Vec<Rule>> {
    let families: &[i32] = match level {
        Level::Whole if brokered => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        Level::Whole => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        // A socket of this family could lead to any service of the machine.
        Level::Files => &[libc::AF_INET, libc::AF_INET6],
    };
    let others: Vec<_> = families.iter().map(|it| (0, Op::Ne, family(*it))).collect();
    let mut rules = vec![rule(&others)?];
    match level {
        Level::Whole => {
            rules.push(rule(&[(0, Op::Eq, family(libc::AF_NETLINK)), (2, Op::Ne, family(libc::NETLINK_ROUTE))])?);
            // Datagrams name their receiver one by one.
            let datagram = (1, Op::MaskedEq(SOCKET_TYPE), kind(libc::SOCK_DGRAM));
            rules.push(rule(&[(0, Op::Eq, family(libc::AF_UNIX)), datagram])?);
            let raw = (1, Op::MaskedEq(SOCKET_TYPE), kind(libc::SOCK_RAW));
            rules.push(rule(&[(0, Op::Eq, family(libc::AF_UNIX)), raw])?);
        }
        Level::Files => {
            for number in (0..16).filter(|number| *number != kind(libc::SOCK_STREAM)) {
                rules.push(rule(&[(1, Op::MaskedEq(SOCKET_TYPE), number)])?);
            }
            rules.push(rule(&[(2, Op::Ne, 0), (2, Op::Ne, family(libc::IPPROTO_TCP))])?);
        }
    }
    Ok(rules)
}

fn family(number: i32) -> u64 {
    number.cast_unsigned().into()
}

fn kind(number: i32) -> u64 {
    number.cast_unsigned().into()
}

/// One rule for each bit: any of them is enough.
fn bits(argument: u8, mask: u64) -> io::Result<Vec<Rule>> {
    (0..64)
        .map(|bit| 1_u64 << bit)
        .filter(|bit| mask & bit != 0)
        .map(|bit| rule(&[(argument, Op::MaskedEq(bit), bit)]))
        .collect()
}

/// All of these must be so. The kernel reads these arguments as 32 bits, so nothing above them may hide a match.
fn rule(conditions: &[(u8, Op, u64)]) -> io::Result<Rule> {
    let conditions = conditions
        .iter()
        .map(|(argument, op, value)| Condition::new(*argument, Length::Dword, op.clone(), *value))
        .collect::<Result<Vec<_>, _>>()
        .map_err(io::Error::other)?;
    Rule::new(conditions).map_err(io::Error::other)
}

/// The same answers with fewer comparisons. When a filter is made the kernel tries it with every call that there is, and it is
/// asked at many calls later: one list would be compared from its beginning each time, so it is cut into pieces by number.
fn in_pieces(mut rules: BTreeMap<i64, Vec<Rule>>) -> io::Result<BpfProgram> {
    const PIECE: usize = 9;
    const AT_LEAST: u16 = 0x35;
    const GO_ON: u16 = 0x05;
    let mut whole = Vec::new();
    while !rules.is_empty() {
        let next = rules.keys().nth(PIECE).copied();
        let later = next.map(|next| rules.split_off(&next)).unwrap_or_default();
        let piece = build(rules)?;
        if let Some(next) = next {
            // INVARIANT: the number of the call is still loaded: a piece that was entered is not left but with an answer.
            let (number, length) = (u32::try_from(next), u32::try_from(piece.len()));
            let instruction = |code, jf, k| sock_filter { code, jt: 0, jf, k };
            whole.push(instruction(AT_LEAST, 1, number.map_err(io::Error::other)?));
            whole.push(instruction(GO_ON, 0, length.map_err(io::Error::other)?));
        }
        whole.extend(piece);
        rules = later;
    }
    Ok(whole)
}

fn build(rules: BTreeMap<i64, Vec<Rule>>) -> io::Result<BpfProgram> {
    let here = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let refuse = SeccompAction::Errno(NOT_PERMITTED);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, here).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}

/// Applies the filter to this process and all that come from it. Returns where connections are asked for, if there is a
/// supervisor to make them: not where somebody outside has taken such calls already, as only one can.
pub(crate) fn apply(level: Level, report_writes: bool) -> io::Result<Option<OwnedFd>> {
    if level == Level::Whole {
        let mut whole: Vec<libc::sock_filter> = filter(level, true, report_writes)?
            .into_iter()
            .map(|it| libc::sock_filter { code: it.code, jt: it.jt, jf: it.jf, k: it.k })
            .collect();
        match crate::sys::filter_with_listener(&mut whole) {
            Ok(listener) => return Ok(Some(listener)),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => return Err(error),
        }
    }
    seccompiler::apply_filter(&filter(level, false, false)?).map_err(io::Error::other)?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_of_both_levels_can_be_built_and_are_short_enough_for_the_kernel() {
        for (level, brokered) in [(Level::Whole, true), (Level::Whole, false), (Level::Files, false)] {
            assert!(filter(level, brokered, brokered).unwrap().len() < 4096);
        }
    }

    #[test]
    fn no_call_is_listed_twice() {
        let mut calls: Vec<_> = REFUSED.iter().chain(REFUSED_HERE).collect();
        let count = calls.len();
        calls.sort_unstable();
        calls.dedup();
        assert_eq!(calls.len(), count);
    }
}
