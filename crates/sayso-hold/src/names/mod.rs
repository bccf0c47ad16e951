//! Hosts by name.
//!
//! Inside a hold there is no way to any network. A name that is allowed resolves to an address of its own (out of a range
//! that is set aside for tests of networks), which leads to the supervisor; the supervisor knows the name by the address
//! and dials it outside. So no variable needs to be set and no program needs to know.

pub(crate) mod dial;
pub(crate) mod dns;
pub(crate) mod hello;

use sayso_shell::bounds::Host;
use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};

/// The first of the addresses for names; the range is 198.18.0.0/15.
const FIRST: u32 = 0xC612_0001;

/// How many names get an address. A run that asks for more than this is not looking for a host.
const MOST_NAMES: u32 = 10_000;

/// With more listeners than this, one for each port has to do.
const MOST_LISTENERS: usize = 60;

/// Which hosts may be reached, and the addresses they have inside.
#[derive(Debug)]
pub(crate) struct Names {
    patterns: Vec<Pattern>,
    address_of: HashMap<String, Ipv4Addr>,
    name_of: HashMap<Ipv4Addr, String>,
    /// Whether names that are not allowed get an address too, because somebody is asked about them.
    asks: bool,
}

#[derive(Debug)]
struct Pattern {
    /// Lower case, without `*.` and without a dot at the end.
    name: String,
    below: bool,
    address: Option<Ipv4Addr>,
    ports: BTreeSet<u16>,
}

/// Whether this can be the name of a host in bounds.
pub(crate) fn is_pattern(name: &str) -> bool {
    let name = name.strip_prefix("*.").unwrap_or(name);
    name.parse::<Ipv4Addr>().is_ok_and(|address| !address.is_loopback())
        || (!name.is_empty()
            && name.len() <= 253
            && name.split('.').all(|label| {
                (1..=63).contains(&label.len())
                    && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            })
            && !name.split('.').next_back().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit())))
}

/// Whether an address is one of those that names get.
pub(crate) fn is_for_names(address: Ipv4Addr) -> bool {
    address.to_bits() >> 17 == FIRST >> 17
}

/// The list of hosts of this machine with none but its own in it: the addresses of others lead nowhere inside, and names that
/// stand here would never be asked for. `None`: there are no others.
pub(crate) fn own_hosts(text: &str, own_name: &str) -> Option<String> {
    let mut own = String::new();
    let mut others = false;
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let address = words.next().and_then(|word| word.parse::<IpAddr>().ok());
        if address.is_none_or(|it| it.is_loopback() || it.is_unspecified() || it.is_multicast()) {
            own.push_str(line);
            own.push('\n');
            continue;
        }
        others = true;
        // Programs look up the name of the machine they run on, which often has an address of the network here.
        let is_own =
            |name: &&str| name.strip_prefix(own_name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        for name in words.filter(|name| !own_name.is_empty() && is_own(name)) {
            own.push_str("127.0.0.1 ");
            own.push_str(name);
            own.push('\n');
        }
    }
    others.then_some(own)
}

/// A name as it is compared.
pub(crate) fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

impl Names {
    pub(crate) fn new(hosts: &[Host]) -> Self {
        let patterns: Vec<Pattern> = hosts
            .iter()
            .map(|host| Pattern {
                name: plain(host.name.strip_prefix("*.").unwrap_or(&host.name)),
                below: host.name.starts_with("*."),
                address: host.name.parse().ok(),
                ports: if host.ports.is_empty() {
                    BTreeSet::from([80, 443])
                } else {
                    host.ports.iter().copied().collect()
                },
            })
            .collect();
        let exact: Vec<String> =
            patterns.iter().filter(|it| !it.below && it.address.is_none()).map(|it| it.name.clone()).collect();
        let mut names = Self { patterns, address_of: HashMap::new(), name_of: HashMap::new(), asks: false };
        for name in exact {
            names.resolve(&name);
        }
        names
    }

    /// Gives every name an address. That opens nothing: who may be connected to is another question.
    pub(crate) fn ask_about_others(&mut self) {
        self.asks = true;
    }

    /// The address of an allowed name.
    pub(crate) fn resolve(&mut self, name: &str) -> Option<Ipv4Addr> {
        self.resolve_if(name, || true)
    }

    /// The address of a name that is allowed, or of one that somebody is there to be asked about.
    pub(crate) fn resolve_if(&mut self, name: &str, attended: impl FnOnce() -> bool) -> Option<Ipv4Addr> {
        let name = plain(name);
        let can_be_asked = self.asks && is_pattern(&name) && !name.starts_with('*');
        let allowed = self.patterns.iter().any(|pattern| pattern.matches(&name));
        if !allowed && (!can_be_asked || !attended()) {
            return None;
        }
        if let Some(address) = self.address_of.get(&name) {
            return Some(*address);
        }
        let count = u32::try_from(self.address_of.len()).ok().filter(|count| *count < MOST_NAMES)?;
        let address = Ipv4Addr::from(FIRST + count);
        self.address_of.insert(name.clone(), address);
        self.name_of.insert(address, name);
        Some(address)
    }

    /// Who is meant by a connection to this address.
    pub(crate) fn who(&self, address: Ipv4Addr) -> Option<String> {
        if self.patterns.iter().any(|pattern| pattern.address == Some(address)) {
            return Some(address.to_string());
        }
        self.name_of.get(&address).cloned()
    }

    /// Whether this port of a host may be reached.
    pub(crate) fn allows(&self, name: &str, port: u16) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(name) && pattern.ports.contains(&port))
    }

    /// Addresses that are allowed as such.
    pub(crate) fn literal_addresses(&self) -> Vec<Ipv4Addr> {
        self.patterns.iter().filter_map(|pattern| pattern.address).collect()
    }

    /// Where to listen. A name gets listeners on its own address, so that its ports stay free on all others; names that
    /// are not known yet, and too many names, share those on every address.
    pub(crate) fn listeners(&self) -> Vec<(Ipv4Addr, u16)> {
        let mut shared: BTreeSet<u16> =
            self.patterns.iter().filter(|pattern| pattern.below).flat_map(|pattern| pattern.ports.clone()).collect();
        if self.asks {
            shared.extend([80, 443]);
            shared.extend(self.patterns.iter().flat_map(|pattern| pattern.ports.iter()));
        }
        let own: BTreeSet<(Ipv4Addr, u16)> = self
            .patterns
            .iter()
            .filter_map(|pattern| {
                Some((pattern, pattern.address.or_else(|| self.address_of.get(&pattern.name).copied())?))
            })
            .flat_map(|(pattern, address)| pattern.ports.iter().map(move |port| (address, *port)))
            .collect();
        let everywhere = |ports: BTreeSet<u16>| ports.into_iter().map(|port| (Ipv4Addr::UNSPECIFIED, port));
        if own.len() + shared.len() > MOST_LISTENERS {
            let ports: BTreeSet<u16> = shared.into_iter().chain(own.into_iter().map(|(_, port)| port)).collect();
            return everywhere(ports).take(MOST_LISTENERS).collect();
        }
        let own: Vec<_> = own.into_iter().filter(|(_, port)| !shared.contains(port)).collect();
        everywhere(shared).chain(own).collect()
    }
}

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        if self.below {
            name.strip_suffix(&self.name)
                .and_then(|front| front.strip_suffix('.'))
                .is_some_and(|front| !front.is_empty())
        } else {
            self.name == name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, ports: &[u16]) -> Host {
        Host { name: name.into(), ports: ports.to_vec() }
    }

    #[test]
    fn the_list_of_hosts_keeps_what_is_this_machine() {
        let plain = "127.0.0.1 localhost\n::1 localhost ip6-localhost\nff02::1 ip6-allnodes\n# 10.0.0.1 x\n";
        assert_eq!(own_hosts(plain, "box"), None);
        let more = format!("{plain}172.17.0.2 box box.lan boxer\n10.0.0.7 db.corp.example db\n");
        assert_eq!(own_hosts(&more, "box").unwrap(), format!("{plain}127.0.0.1 box\n127.0.0.1 box.lan\n"));
    }

    #[test]
    fn a_name_matches_itself_or_what_is_below_it_and_never_a_sibling() {
        let mut names = Names::new(&[host("example.org", &[]), host("*.corp.example", &[8443])]);
        assert!(names.resolve("EXAMPLE.org.").is_some());
        assert_eq!(names.resolve("example.org"), names.resolve("example.org."));
        assert!(names.resolve("a.b.corp.example").is_some());
        for other in ["corp.example", "evilcorp.example", "www.example.org", "example.org.evil", ".corp.example", ""] {
            assert_eq!(names.resolve(other), None, "{other}");
        }
        assert!(names.allows("example.org", 443) && !names.allows("example.org", 22));
        assert!(names.allows("a.corp.example", 8443) && !names.allows("a.corp.example", 443));
    }

    #[test]
    fn an_address_leads_back_to_the_name_it_was_given_for() {
        let mut names = Names::new(&[host("*.example", &[]), host("10.1.2.3", &[5432])]);
        let address = names.resolve("a.example").unwrap();
        assert_eq!(names.who(address).as_deref(), Some("a.example"));
        assert_eq!(names.who(Ipv4Addr::new(10, 1, 2, 3)).as_deref(), Some("10.1.2.3"));
        assert_eq!(names.who(Ipv4Addr::LOCALHOST), None);
    }

    #[test]
    fn ports_are_shared_only_where_a_name_is_not_known_before() {
        let names = Names::new(&[host("a.example", &[22]), host("*.b.example", &[443])]);
        assert_eq!(names.listeners(), [(Ipv4Addr::UNSPECIFIED, 443), (Ipv4Addr::new(198, 18, 0, 1), 22)]);
    }

    #[test]
    fn where_somebody_is_asked_every_name_has_an_address_and_none_more_is_allowed() {
        let mut names = Names::new(&[host("a.example", &[22])]);
        assert_eq!(names.resolve("b.example"), None);
        names.ask_about_others();
        let address = names.resolve("b.example").unwrap();
        assert_eq!(names.who(address).as_deref(), Some("b.example"));
        assert!(!names.allows("b.example", 443) && !names.allows("b.example", 22) && names.allows("a.example", 22));
        assert_eq!(names.listeners(), [22, 80, 443].map(|port| (Ipv4Addr::UNSPECIFIED, port)));
        for odd in ["*.example", "a b", "", "1.2.3", "127.0.0.1"] {
            assert_eq!(names.resolve(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_is_no_host_name_is_refused() {
        for good in ["a", "a.b-c.d", "*.x.y", "10.0.0.1", "_srv.x"] {
            assert!(is_pattern(good), "{good}");
        }
        for bad in ["", "*", "*.", "a..b", "a b", "a/b", "127.0.0.1", "1.2.3", "a\n", "::1", "*.*.x"] {
            assert!(!is_pattern(bad), "{bad}");
        }
    }
}
