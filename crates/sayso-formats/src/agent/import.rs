//! Rules of agents as lists of the policy language, which knows no order: of two that overlap the stricter wins.

use super::{AgentRules, Defaults, On, Order, Redirects, Rule};
use crate::import::{Draft, quoted, tool_pattern};
use sayso_policy::Verdict;

impl AgentRules {
    pub(crate) fn import(&self, draft: &mut Draft) {
        draft.essential(&[]);
        let mut defaults = Known::from(self.defaults);
        let mut said: Vec<(&Rule, Silenced)> = Vec::new();
        for rule in &self.rules {
            if self.order == Order::First && (defaults.silences(rule) || !rule.narrowed && rule.settles(&mut defaults))
            {
                continue;
            }
            if rule.verdict != Verdict::Allow
                && self.order == Order::First
                && said.iter().any(|(rule, _)| rule.verdict == Verdict::Allow)
            {
                draft.lose(format!("`{}` comes after an allow; here the stricter of the two wins", rule.text));
            }
            said.push((rule, Silenced { commands: self.order == Order::First && defaults.is_settled(0) }));
        }
        // A tool that is allowed carries what it does; where that is not allowed, it cannot be.
        let open = [defaults.now.read_outside, defaults.now.write_outside, defaults.now.connect, defaults.now.command];
        if defaults.now.tool == Verdict::Allow && open.iter().any(|verdict| *verdict != Verdict::Allow) {
            draft.lose("unknown tools ask here, because what they do might not be allowed");
            defaults.now.tool = Verdict::Ask;
        }
        let mut allowed = Vec::new();
        for (rule, silenced) in said {
            rule.import(draft, &defaults.now, silenced, &mut allowed);
        }
        defaults.write(draft, self.title);
        if self.redirects == Redirects::Ask && !draft.is_empty("allow", "write") {
            draft.lose("redirecting to a file asks, as all writing does here");
            draft.list("ask", "write", "@anything", "redirects");
        }
        draft.lose("what an allowed command or tool reads, writes and connects to is judged too");
        self.close(draft, defaults.now.command, &allowed);
    }

    /// Sayso wants no yes for programs that only start others, and allows variables that change nothing; agents do not.
    fn close(&self, draft: &mut Draft, default: Verdict, allowed: &[String]) {
        if default == Verdict::Allow || allowed.is_empty() || allowed.iter().any(|text| text == "@anything") {
            return;
        }
        let transparent = self.transparent.iter().map(|name| quoted(&format!("!{name}")));
        let except = allowed.iter().map(|text| quoted(&format!("!{text}"))).chain(transparent);
        let list = std::iter::once(quoted("*")).chain(except).collect::<Vec<_>>().join(", ");
        draft.table(format!("[[rule]] # anything no rule allows, including programs that start others\nid = \"no-rule\"\n{default} = {{ run = [{list}] }}"));
        draft.table(format!("[[rule]] # a variable before a command\nid = \"sets-variable\"\n{default} = {{ run = \"*\" }}\nwhen = {{ env = \"*\" }}"));
    }
}

/// What a rule says nothing of, because one before it speaks of all there is.
#[derive(Clone, Copy)]
struct Silenced {
    commands: bool,
}

/// Defaults, and which of them a rule has settled.
struct Known {
    now: Defaults,
    settled: [bool; 5],
}

impl From<Defaults> for Known {
    fn from(now: Defaults) -> Self {
        Self { now, settled: [false; 5] }
    }
}

/// The number of tools among what rules speak of.
const TOOLS: usize = 4;

/// What a rule speaks of, as a number.
fn kinds(on: &On) -> &'static [usize] {
    match on {
        On::Everything => &[0, 1, 2, 3, TOOLS],
        On::Command(_) => &[0],
        On::Read(_) => &[1],
        On::Write(_) => &[2],
        On::Host(_) => &[3],
        On::Tool(_) | On::Arguments { .. } => &[],
    }
}

impl Known {
    fn set(&mut self, kind: usize, verdict: Verdict) {
        let Some(settled) = self.settled.get_mut(kind) else { return };
        if std::mem::replace(settled, true) {
            return;
        }
        match kind {
            0 => self.now.command = verdict,
            1 => (self.now.read_inside, self.now.read_outside) = (verdict, verdict),
            2 => (self.now.write_inside, self.now.write_outside) = (verdict, verdict),
            3 => self.now.connect = verdict,
            _ => self.now.tool = verdict,
        }
    }

    fn is_settled(&self, kind: usize) -> bool {
        self.settled.get(kind).copied().unwrap_or(false)
    }

    /// A rule behind one that speaks of all there is says nothing. Tools are settled by what speaks of everything alone.
    fn silences(&self, rule: &Rule) -> bool {
        self.is_settled(TOOLS) || {
            let kinds = kinds(&rule.on);
            !kinds.is_empty() && kinds.iter().all(|kind| self.is_settled(*kind))
        }
    }

    fn write(&self, draft: &mut Draft, title: &str) {
        let now = &self.now;
        let origin = format!("no rule of {title}");
        let verbs = [
            ("run", now.command, now.command),
            ("read", now.read_inside, now.read_outside),
            ("write", now.write_inside, now.write_outside),
            ("delete", now.write_inside, now.write_outside),
            ("connect", now.connect, now.connect),
            ("tool", now.tool, now.tool),
        ];
        let mut table = Vec::new();
        for (verb, inside, outside) in verbs {
            match (inside, outside) {
                (Verdict::Allow, Verdict::Allow) => draft.list("allow", verb, "@anything", origin.as_str()),
                (Verdict::Allow, _) => draft.list("allow", verb, "./**", origin.as_str()),
                _ => {}
            }
            let least = inside.max(outside).max(Verdict::Ask);
            table.push(format!("{verb} = \"{least}\""));
        }
        draft.defaults(&table, &origin);
    }
}

impl Rule {
    /// Whether it speaks of all of a kind and so is the default for what no rule before it named.
    fn settles(&self, defaults: &mut Known) -> bool {
        let all = match &self.on {
            On::Everything => true,
            On::Command(commands) => commands.iter().any(super::pattern::Command::is_any),
            On::Read(places) | On::Write(places) => places.iter().any(super::pattern::Place::is_any),
            On::Host(hosts) => hosts.iter().any(super::pattern::Host::is_any),
            On::Tool(_) | On::Arguments { .. } => false,
        };
        if all {
            kinds(&self.on).iter().for_each(|kind| defaults.set(*kind, self.verdict));
        }
        all
    }

    /// What is said of what it speaks of where no rule does.
    fn default(&self, defaults: &Defaults) -> Verdict {
        match &self.on {
            On::Command(_) => defaults.command,
            On::Read(_) => defaults.read_inside.max(defaults.read_outside),
            On::Write(_) => defaults.write_inside.max(defaults.write_outside),
            On::Host(_) => defaults.connect,
            On::Everything | On::Tool(_) | On::Arguments { .. } => {
                defaults.tool.max(defaults.command).max(defaults.read_outside).max(defaults.write_outside)
            }
        }
    }

    fn import(&self, draft: &mut Draft, defaults: &Defaults, silenced: Silenced, allowed: &mut Vec<String>) {
        let table = match self.verdict {
            Verdict::Allow => "allow",
            // An ask would take the place of a default that denies.
            Verdict::Ask if self.default(defaults) == Verdict::Deny => {
                draft.lose(format!("what `{}` would ask about is denied here", self.text));
                "deny"
            }
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        let origin = format!("{} ({})", self.source, self.text);
        let allows = self.verdict == Verdict::Allow;
        match &self.on {
            On::Everything => draft.everything(table, &origin),
            On::Command(commands) => {
                for command in commands {
                    let texts = if allows { command.permit_texts() } else { command.restrict_texts() };
                    let Some(texts) = texts else {
                        self.unsaid(draft, table);
                        continue;
                    };
                    texts.iter().for_each(|text| draft.list(table, "run", text, origin.as_str()));
                    if allows {
                        allowed.extend(texts);
                    }
                }
            }
            On::Read(places) => places.iter().for_each(|place| draft.list(table, "read", &place.text, origin.as_str())),
            On::Write(places) => {
                for place in places {
                    draft.list(table, "write", &place.text, origin.as_str());
                    draft.list(table, "delete", &place.text, origin.as_str());
                }
            }
            On::Host(hosts) => hosts.iter().for_each(|host| draft.list(table, "connect", &host.text, origin.as_str())),
            On::Tool(names) => {
                let mut names = if allows { draft.permitted(names) } else { names.clone() };
                if allows && silenced.commands {
                    names.retain(|name| !super::pattern::wild(name, "bash_execute"));
                }
                names.iter().for_each(|name| draft.list(table, "tool", &tool_pattern(name), origin.as_str()));
                if names.iter().any(|name| super::pattern::wild(name, "bash_execute")) {
                    draft.list(table, "run", "@anything", origin.as_str());
                    allowed.extend(allows.then(|| "@anything".to_owned()));
                }
            }
            On::Arguments { .. } if allows => draft.lose(format!("what `{}` allows is not allowed here", self.text)),
            On::Arguments { tools, .. } => {
                draft.lose(format!("`{}` checks arguments; here it applies to every call of the tool", self.text));
                tools.iter().for_each(|tool| draft.list(table, "tool", &tool_pattern(tool), origin.as_str()));
                if tools.iter().any(|name| super::pattern::wild(name, "bash_execute")) {
                    draft.list(table, "run", "@anything", origin.as_str());
                }
            }
        }
    }

    /// An allow is left out, anything else is for every command.
    fn unsaid(&self, draft: &mut Draft, table: &'static str) {
        if self.verdict == Verdict::Allow {
            draft.lose(format!("what `{}` allows is not allowed here", self.text));
        } else {
            draft.lose(format!("`{}` cannot be expressed; here it applies to every command", self.text));
            draft.list(table, "run", "@anything", self.source.to_string());
        }
    }
}
