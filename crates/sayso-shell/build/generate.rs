//! Rust of programs: what is alike is written once, and names are found by a hash that is worked out here.

use crate::text::{Act, Command, Document, Facets, GoesBy, Hides, Operands, Options, Program, Role, Secret, Variable};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Options that functions of the crate ask for by name.
const USED: [&str; 3] = ["hack", "ssh", "tar"];

/// What stands in the file so far.
#[derive(Default)]
struct Rust {
    out: String,
    /// The name of each static, by its type and what it holds.
    written: HashMap<(String, String), String>,
}

/// The source of all tables. `files` are the names of the texts.
pub(crate) fn generate(document: &Document, files: &[&str]) -> Result<String, String> {
    let mut rust = Rust::default();
    let mut specs = Vec::new();
    for program in &document.programs {
        specs.push(rust.spec(&program.command, files));
    }
    rust.list("SPECS", "Spec", &specs);
    rust.places(&document.programs)?;
    rust.facets(&document.facets)?;
    rust.tables(&document.options)?;
    rust.goes_by(&document.goes_by)?;
    rust.listens(document)?;
    rust.keeps_lines(document)?;
    rust.secrets(&document.secrets);
    rust.numbers(&document.numbers)?;
    rust.env(&document.env)?;
    rust.plain_lists(document);
    Ok(rust.out)
}

impl Rust {
    fn list(&mut self, name: &str, kind: &str, items: &[String]) {
        let _ = writeln!(self.out, "pub(super) static {name}: [{kind}; {}] = [", items.len());
        for item in items {
            let _ = writeln!(self.out, "{item},");
        }
        self.out.push_str("];\n");
    }

    /// The name of a static that holds this.
    fn shared(&mut self, kind: &str, value: String) -> String {
        let next = self.written.len();
        let Self { out, written } = self;
        let name = written.entry((kind.to_owned(), value)).or_insert_with_key(|(kind, value)| {
            let name = format!("S{next}");
            let _ = writeln!(out, "static {name}: {kind} = {value};");
            name
        });
        name.clone()
    }

    fn shared_list(&mut self, kind: &str, items: &[String]) -> String {
        if items.is_empty() {
            return "&[]".to_owned();
        }
        let name = self.shared(&format!("[{kind}; {}]", items.len()), format!("[{}]", items.join(", ")));
        format!("&{name}")
    }

    fn texts(&mut self, words: &[String]) -> String {
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        self.shared_list("&str", &words)
    }

    fn spec(&mut self, command: &Command, files: &[&str]) -> String {
        let tables: Vec<String> = command.options.iter().map(|options| format!("&{}", self.table(options))).collect();
        let subs: Vec<String> = command.subs.iter().map(|sub| self.spec(sub, files)).collect();
        let acts: Vec<String> = command.acts.iter().map(|act| self.act(act)).collect();
        let file = files.get(command.at.file).copied().unwrap_or_default();
        let function = |name: &Option<String>| match name {
            None => "None".to_owned(),
            Some(name) => format!("Some({})", path_of(name, file)),
        };
        format!(
            "Spec {{ names: {}, aliased: {}, style: Style::from_bits({}), options: {}, subs: {}, operands: {}, acts: {}, \
             judge: {}, always: {}, initials: {} }}",
            self.texts(&command.names),
            command.aliased,
            command.style.bits(),
            self.shared_list("&Table", &tables),
            self.shared_list("Spec", &subs),
            self.operands(&command.operands),
            self.shared_list("Act", &acts),
            function(&command.judge),
            function(&command.always),
            command.names.iter().fold(0, |all, name| all | initial(name)),
        )
    }

    fn table(&mut self, options: &Options) -> String {
        let spellings: Vec<String> = options.spellings.iter().map(|s| {
            format!(
                "Spelling {{ at: {}, len: {}, canonical_at: {}, canonical_len: {}, takes: Takes::{:?}, does: {}, next: {} }}",
                s.at, s.len, s.canonical_at, s.canonical_len, s.takes, does(s.does), s.next
            )
        }).collect();
        let risky = options.spellings.iter().any(|spelling| spelling.does.risky());
        let spellings = self.shared_list("Spelling", &spellings);
        let value = format!(
            "Table {{ text: {:?}, spellings: {spellings}, heaps: {:?}, risky: {risky} }}",
            options.text,
            options.heaps()
        );
        self.shared("Table", value)
    }

    fn operands(&mut self, operands: &Operands) -> String {
        let first: Vec<String> = operands.first.iter().map(role).collect();
        let last = operands.last.as_ref().map_or_else(|| "None".to_owned(), |last| format!("Some({})", role(last)));
        let first = self.shared_list("Role", &first);
        format!(
            "Operands {{ first: {first}, rest: {}, last: {last}, absent: Absent::{:?} }}",
            role(&operands.rest),
            operands.absent
        )
    }

    fn act(&mut self, act: &Act) -> String {
        match act {
            Act::Named(code) => format!("Act::Named(Code::{code:?})"),
            Act::NamedUnless(code, flags) => format!("Act::NamedUnless(Code::{code:?}, {})", self.texts(flags)),
            Act::ProjectIf(files) => format!("Act::ProjectIf({})", self.texts(files)),
            other => format!("Act::{other:?}"),
        }
    }

    /// Where each name stands, and by which hash it is found.
    fn places(&mut self, programs: &[Program]) -> Result<(), String> {
        let mut places = Vec::new();
        let mut names = Vec::new();
        for (spec, Program { command, family }) in programs.iter().enumerate() {
            for (name, written) in command.names.iter().enumerate() {
                if name > 255 || spec > usize::from(u16::MAX) {
                    return Err(format!("too many names: {written}"));
                }
                let family = u8::from(family.starts_others)
                    | u8::from(family.takes_data) << 1
                    | u8::from(family.takes_addresses) << 2;
                places.push(format!("Place {{ spec: {spec}, name: {name}, family: {family} }}"));
                names.push(written.as_str());
            }
        }
        self.list("PLACES", "Place", &places);
        self.slots("SLOTS_OF_PLACES", &names);
        Ok(())
    }

    fn facets(&mut self, facets: &[(String, Facets)]) -> Result<(), String> {
        let mut text = String::new();
        let mut entries = Vec::new();
        for (name, facets) in facets {
            let start = u16::try_from(text.len()).map_err(|_| "too many names with facets".to_owned())?;
            let length = name.len();
            entries.push(format!(
                "Entry {{ start: {start}, length: {length}, facets: Facets::from_bits({}) }}",
                facets.bits()
            ));
            text.push_str(name);
        }
        let _ = writeln!(self.out, "pub(super) static FACET_NAMES: &str = {text:?};");
        self.list("FACET_ENTRIES", "Entry", &entries);
        let names: Vec<&str> = facets.iter().map(|(name, _)| name.as_str()).collect();
        self.slots("SLOTS_OF_FACETS", &names);
        Ok(())
    }

    /// A hash table: one more than the index of a name, or 0; what collides stands in the next slot.
    fn slots(&mut self, name: &str, names: &[&str]) {
        let size = (names.len() * 3).next_power_of_two();
        let mut slots = vec![0_usize; size];
        for (index, name) in names.iter().enumerate() {
            let mut at = crate::text::hash(name.as_bytes()) % size;
            while slots.get(at).is_some_and(|slot| *slot != 0) {
                at = (at + 1) % size;
            }
            if let Some(slot) = slots.get_mut(at) {
                *slot = index + 1;
            }
        }
        let _ = writeln!(self.out, "pub(super) static {name}: [u16; {size}] = {slots:?};");
    }

    /// Names of which each has a number.
    fn index(&mut self, name: &str, of: &[(&str, usize)]) -> Result<(), String> {
        let too_many = |_| format!("too many names of {name}");
        let mut text = String::new();
        let mut entries = Vec::new();
        for (named, value) in of {
            let start = u16::try_from(text.len()).map_err(too_many)?;
            let value = u16::try_from(*value).map_err(too_many)?;
            entries.push(format!("index::Named {{ start: {start}, length: {}, value: {value} }}", named.len()));
            text.push_str(named);
        }
        let names: Vec<&str> = of.iter().map(|(named, _)| *named).collect();
        self.list(&format!("{name}_ENTRIES"), "index::Named", &entries);
        self.slots(&format!("{name}_SLOTS"), &names);
        let _ = writeln!(
            self.out,
            "pub(super) static {name}_BY_NAME: index::Names = \
             index::Names {{ names: {text:?}, entries: &{name}_ENTRIES, slots: &{name}_SLOTS }};"
        );
        Ok(())
    }

    fn goes_by(&mut self, goes_by: &[(String, GoesBy)]) -> Result<(), String> {
        let mut rows: Vec<&GoesBy> = Vec::new();
        let mut of = Vec::new();
        for (name, files) in goes_by {
            let row = rows.iter().position(|row| *row == files).unwrap_or(rows.len());
            if row == rows.len() {
                rows.push(files);
            }
            of.push((name.as_str(), row));
        }
        let row = |(key, row): (usize, &&GoesBy)| {
            let (names, home) = (self.texts(&row.here), self.texts(&row.home));
            format!("Steered {{ key: {key}, names: {names}, home: {home}, repository: {} }}", row.repository)
        };
        let rows: Vec<String> = rows.iter().enumerate().map(row).collect();
        self.list("GOES_BY", "Steered", &rows);
        self.index("GOES_BY", &of)
    }

    fn listens(&mut self, document: &Document) -> Result<(), String> {
        let mut rows = Vec::new();
        for listens in &document.listens {
            let words = listens.up_to.map_or_else(|| "usize::MAX".to_owned(), |number| number.to_string());
            let told_by = self.texts(&listens.unless);
            rows.push(format!("Listener {{ told_by: {told_by}, words: {words}, piped: {} }}", listens.piped));
        }
        self.list("LISTENERS", "Listener", &rows);
        let names: Vec<(&str, usize)> =
            document.listens.iter().enumerate().map(|(row, listens)| (listens.name.as_str(), row)).collect();
        self.index("LISTENERS", &names)
    }

    fn keeps_lines(&mut self, document: &Document) -> Result<(), String> {
        let mut rows = Vec::new();
        for keeps in &document.keeps_lines {
            let options = self.texts(&keeps.options);
            let pattern =
                keeps.pattern.map_or_else(|| "None".to_owned(), |kind| format!("Some(Expressions::{kind:?})"));
            rows.push(format!("KeepsLines {{ options: {options}, pattern: {pattern} }}"));
        }
        self.list("KEEPS_LINES", "KeepsLines", &rows);
        let names: Vec<(&str, usize)> =
            document.keeps_lines.iter().enumerate().map(|(row, keeps)| (keeps.name.as_str(), row)).collect();
        self.index("KEEPS_LINES", &names)
    }

    fn secrets(&mut self, secrets: &[Secret]) {
        let mut rows = Vec::new();
        for Secret { commands, hides } in secrets {
            let hides = match hides {
                Hides::Option(takes, options) => {
                    format!("Hides::Option({}, credential::Takes::{takes})", self.texts(options))
                }
                other => format!("Hides::{other:?}"),
            };
            rows.push(format!("Credential {{ commands: {}, hides: {hides} }}", self.texts(commands)));
        }
        self.list("CREDENTIALS", "Credential", &rows);
    }

    fn numbers(&mut self, numbers: &[(String, String)]) -> Result<(), String> {
        let functions: Vec<String> = numbers.iter().map(|(_, function)| format!("number::{function}")).collect();
        self.list("NUMBERS", "number::Says", &functions);
        let names: Vec<(&str, usize)> =
            numbers.iter().enumerate().map(|(row, (name, _))| (name.as_str(), row)).collect();
        self.index("NUMBERS", &names)
    }

    /// What variables do, a bit each: by their names, and by how they begin and end.
    fn env(&mut self, variables: &[Variable]) -> Result<(), String> {
        let (mut names, mut begins, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for Variable { name, does } in variables {
            let bit = *does as usize;
            let add = |all: &mut Vec<(String, usize)>, name: &str| match all.iter_mut().find(|(other, _)| other == name)
            {
                Some((_, bits)) => *bits |= bit,
                None => all.push((name.to_owned(), bit)),
            };
            match (name.strip_suffix('*'), name.strip_prefix('*')) {
                (Some(begin), _) => add(&mut begins, begin),
                (_, Some(end)) => add(&mut ends, end),
                _ => add(&mut names, name),
            }
        }
        let rows = |all: &[(String, usize)]| -> Vec<String> { all.iter().map(|row| format!("{row:?}")).collect() };
        self.list("ENV_BEGINS", "(&str, u8)", &rows(&begins));
        self.list("ENV_ENDS", "(&str, u8)", &rows(&ends));
        let names: Vec<(&str, usize)> = names.iter().map(|(name, bits)| (name.as_str(), *bits)).collect();
        self.index("ENV", &names)
    }

    /// What is looked through from its beginning: parts of programs, commands that are fed a secret, rehearsals.
    fn plain_lists(&mut self, document: &Document) {
        let part =
            |(facets, pattern): &(Facets, String)| format!("(Facets::from_bits({}), {pattern:?})", facets.bits());
        let parts: Vec<String> = document.parts.iter().map(part).collect();
        self.list("PARTS", "(Facets, &str)", &parts);
        let fed: Vec<String> = document.fed.iter().map(|pair| format!("{pair:?}")).collect();
        self.list("FED", "(&str, &str)", &fed);
        let rehearses: Vec<String> = document.rehearses.iter().map(|option| format!("{option:?}")).collect();
        self.list("REHEARSES", "&str", &rehearses);
    }

    /// Options by which functions read words of their own.
    fn tables(&mut self, options: &[(String, std::rc::Rc<Options>)]) -> Result<(), String> {
        for name in USED {
            let found = options.iter().find(|(other, _)| other == name).map(|(_, options)| options);
            let table = self.table(found.ok_or_else(|| format!("no text has options called {name}"))?);
            let _ = writeln!(self.out, "pub(super) const {}_OPTIONS: &Table = &{table};", name.to_uppercase());
        }
        Ok(())
    }
}

/// The bit of a name's first letter, as `program/spec.rs` has it.
fn initial(name: &str) -> u32 {
    1 << (name.bytes().next().unwrap_or_default() % 32)
}

fn does(does: crate::text::Does) -> String {
    match does {
        crate::text::Does::Named(code) => format!("Does::Named(Code::{code:?})"),
        other => format!("Does::{other:?}"),
    }
}

fn role(role: &Role) -> String {
    format!("Role::{role:?}")
}

/// A function that a text names: one of the module that stands where the text does, or a path from `program`.
fn path_of(name: &str, file: &str) -> String {
    if name.contains("::") {
        return format!("super::{name}");
    }
    let room = file.trim_start_matches("programs/").trim_end_matches(".prog").replace('/', "::");
    format!("super::{room}::{name}")
}
