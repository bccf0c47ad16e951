//! Secrets are taken out before anything is stored.
//!
//! Written by hand and not with regular expressions: a hook would spend most of its life compiling them. It errs on
//! the side of taking out too much.

mod command;
mod fed;
mod function;
mod key;
mod login;
mod name;
mod table;
#[cfg(test)]
mod tests;
mod value;

pub use key::{keys, may_hold_keys};
pub(super) use value::Room;
pub use value::arguments;

use command::Command;
use fed::{Fed, ends_command, fed_commands};
use function::{calls_with_secret, is_next_argument, is_number, sets_by_name};
use key::{without_known_keys, without_private_keys, without_url_password};
use login::{without_login, without_login_at, without_pgpass};
pub(crate) use name::is_secret_name;
use name::{ends_in_tokens, is_secret_key, is_seed, is_some_key, may_name_secret};
use sayso_shell::program::credential::Takes;
use sayso_shell::program::{Facets, facets};
use std::borrow::Cow;
use table::{HOLDING, LOGIN_SETTINGS, NAMING, PARAMETERS, SAID_BEFORE, USERS};

/// What stands in a secret's place.
const REDACTED: &str = "[redacted]";
/// What is taken out of a command is taken out of its effects too, if it has so many letters; and not more than so many.
const SHORTEST: usize = 4;
const MOST_TAKEN: usize = 256;

/// Text without secrets: values of assignments and options with a secret's name, what stands in headers that sign in,
/// passwords in URLs and their parameters, private keys, and keys of well-known formats.
#[must_use]
pub fn text(text: &str) -> String {
    redacted(text).0
}

/// The same, and what was taken out of it, word by word.
fn redacted(text: &str) -> (String, Vec<String>) {
    redacted_within(None, text)
}

/// The same of what a program is told, where it takes secrets as words behind others.
fn redacted_within(program: Option<&str>, text: &str) -> (String, Vec<String>) {
    let text = without_private_keys(text);
    let fed = fed_commands(&text);
    let manifest = text.contains("kind: Secret") || text.contains("\"kind\"") && text.contains("\"Secret\"");
    let command = program.map(Command::within).unwrap_or_default();
    let out = String::with_capacity(text.len());
    let mut redactor = Redactor { out, fed, manifest, command, within: program, ..Redactor::default() };
    for piece in pieces(&text) {
        match piece {
            Piece::Between(between) => redactor.between(between),
            Piece::Word(word) => redactor.word(word),
        }
    }
    // Where it stands a second time nothing may name it.
    (without(redactor.out, &redactor.taken), redactor.taken)
}

/// Text without what was taken out of another: a secret of a command stands in its effects too, where nothing tells it from
/// a file or a host.
fn without(text: String, taken: &[String]) -> String {
    let mut text = text;
    for secret in taken {
        if !text.contains(secret.as_str()) || REDACTED.contains(secret.as_str()) {
            continue;
        }
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(secret.as_str()) {
            let (before, after) =
                (rest.get(..at).unwrap_or_default(), rest.get(at + secret.len()..).unwrap_or_default());
            let inside = |c: char| c.is_alphanumeric();
            // `src` was taken out, and `srcs` is another word.
            let goes_on = before.ends_with(inside) && secret.starts_with(inside)
                || after.starts_with(inside) && secret.ends_with(inside);
            out.push_str(before);
            out.push_str(if goes_on { secret } else { REDACTED });
            rest = after;
        }
        out.push_str(rest);
        text = out;
    }
    text
}

/// What is said of a command, without secrets, and without what is one in the command itself.
pub(crate) fn said_of(command: &str, said: &str) -> String {
    without(self::text(said), &redacted(command).1)
}

/// What is not in `kept` any more of `word`.
fn taken_out<'w>(word: &'w str, kept: &str) -> Option<&'w str> {
    // Most words are kept whole.
    let (before, after) = if kept.contains('[') { kept.split_once(REDACTED)? } else { return None };
    let after = after.rsplit(REDACTED).next().unwrap_or_default();
    let taken = word.strip_prefix(before).unwrap_or(word);
    Some(taken.strip_suffix(after).unwrap_or(taken))
}

/// Goes through a text piece by piece.
#[derive(Default)]
struct Redactor<'a> {
    out: String,
    expecting: Expecting,
    /// What is hidden now ends where?
    hiding: Option<Until>,
    /// The last piece between words, the last word, and the one before it.
    before: &'a str,
    last: &'a str,
    last_but_one: &'a str,
    /// What `INSERT INTO users(name, password) VALUES ('ann', 'x')` has said so far.
    inserts: Inserts,
    /// The quote in which a secret's name stood.
    header_quote: Option<char>,
    /// The command so far.
    command: Command<'a>,
    /// Its number in the text, and those that read or print what another one reads as its secret.
    number: usize,
    fed: Vec<(usize, Fed)>,
    /// A user was named: a password may be.
    named_user: bool,
    /// This is still the address that began a word or two ago.
    in_address: bool,
    /// A login without a password was seen: it may follow behind a comma.
    half_login: bool,
    /// `PASSWORD FOR ann` was begun.
    for_somebody: bool,
    /// The word `login` was seen in what may be a netrc.
    netrc: bool,
    /// The word that ends a here-document which the command reads its secret from.
    document: Option<&'a str>,
    /// The program whose standard input, or one of whose words, this is, and the word that ends it.
    within: Option<&'a str>,
    ends_within: Option<&'a str>,
    /// The next word ends a here-document.
    opens_document: bool,
    /// Blanks before the first word of this line.
    indent: usize,
    /// The text holds a manifest of a kind that is secret.
    manifest: bool,
    /// A value is made by this command, whose words are none.
    substituted: bool,
    /// What this command prints goes into a secret's variable, or stands in a secret's place.
    prints_secret: bool,
    /// What was hidden.
    taken: Vec<String>,
}

/// How far a statement is that puts rows into a table.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Inserts {
    #[default]
    Nothing,
    /// Its columns are named.
    Rows,
    /// One of them is a secret's.
    Secrets,
    /// Its values follow.
    Values,
}

/// Where something hidden ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Word,
    /// The quote that began it; escaped, if the first was.
    Quote(char, bool),
    /// The quote in which the header stands, or the end of the line.
    Line(Option<char>),
    /// The end of a substitution.
    Parenthesis,
    /// The end of an object or a list, so many levels up.
    Brace(usize),
    /// The end of a here-document.
    Document,
    /// The first line that is indented no further.
    Indented(usize),
}

impl<'a> Redactor<'a> {
    fn between(&mut self, between: &'a str) {
        // What stands between most words, and changes nothing where nothing is hidden.
        if between == " " && self.hiding.is_none() {
            self.out.push(' ');
            self.before = between;
            return;
        }
        let continued = self.last.ends_with('\\') && between.starts_with('\n');
        let indent =
            between.rsplit_once('\n').map(|(_, blanks)| blanks.bytes().take_while(|byte| *byte == b' ').count());
        // `password: |`, and the value on the lines below; `KEY || 'x'`.
        let opens_block = self.expecting == Expecting::Block
            || self.expecting == Expecting::Line && matches!(between.trim_matches([' ', '\n']), "|" | ">");
        let instead = self.expecting == Expecting::Sign && matches!(between, " || '" | " || \"" | " || `");
        let first = between.chars().next().unwrap_or(' ');
        self.hiding = match self.hiding {
            // `PASSWORD=a,b` and `PASSWORD=a"b c"` are one word.
            Some(Until::Word) if between == "," || continued => Some(Until::Word),
            Some(Until::Word) if is_quote(first) && between.len() == 1 => Some(Until::Quote(first, false)),
            Some(Until::Quote(quote, escaped)) => {
                let at_escape = self.last.ends_with('\\') && first == quote;
                let ends = between.contains(quote) && (escaped || !at_escape || between.matches(quote).count() > 1);
                if ends { None } else { Some(Until::Quote(quote, escaped)) }
            }
            Some(Until::Line(quote)) => {
                let ends = between.contains('\n') || quote.is_some_and(|quote| between.contains(quote));
                if ends { None } else { Some(Until::Line(quote)) }
            }
            Some(Until::Parenthesis) if !between.contains(')') => Some(Until::Parenthesis),
            Some(until @ (Until::Brace(_) | Until::Document)) => Some(until),
            Some(Until::Indented(than)) if indent.is_none_or(|indent| indent > than) => Some(Until::Indented(than)),
            _ if self.document.is_some() && between.contains('\n') => Some(Until::Document),
            _ => None,
        };
        if between != "&" || self.before.contains(char::is_whitespace) && !self.last.contains("://") {
            self.in_address = false;
        }
        if ends_command(between, self.last) {
            self.expecting = if instead { Expecting::Value } else { Expecting::Nothing };
            self.command = self.within.map(Command::within).unwrap_or_default();
            self.named_user = false;
            self.prints_secret = false;
            self.number += 1;
            self.netrc = self.netrc && between.trim().is_empty();
            self.inserts = Inserts::Nothing;
        }
        // `grep 'token:' file`: nothing follows it in its quotes.
        let mut signs = between.chars();
        if self.last.ends_with(':')
            && self.header_quote.is_some_and(|quote| signs.next() == Some(quote))
            && signs.next().is_some_and(char::is_whitespace)
        {
            self.expecting = Expecting::Nothing;
        }
        self.substituted &= !between.contains([')', '\n']);
        let reads = self.is(Fed::Reads);
        if between.contains("<<") && (reads || self.is(Fed::Prints) || self.substituted) {
            self.expecting = if between.contains("<<<") { Expecting::Value } else { Expecting::Delimiter };
        } else if between.contains("<(") && reads {
            self.expecting = Expecting::Value;
        }
        self.opens_document = between.contains("<<") && !between.contains("<<<");
        if opens_block && self.hiding.is_none() {
            let below = between.contains('\n');
            self.hiding = below.then_some(Until::Indented(self.indent));
            self.expecting = if below { Expecting::Nothing } else { Expecting::Block };
        }
        self.indent = indent.unwrap_or(self.indent);
        self.out.push_str(between);
        self.before = between;
    }

    fn word(&mut self, word: &'a str) {
        if self.hiding == Some(Until::Document) && self.document == Some(word) {
            (self.hiding, self.document) = (None, None);
            self.out.push_str(word);
        } else if self.ends_within == Some(word) && self.before.ends_with('\n') {
            (self.within, self.ends_within) = (None, None);
            self.command = Command::default();
            self.hiding = None;
            self.out.push_str(word);
        } else if let Some(Until::Brace(depth)) = self.hiding {
            self.out.push_str(REDACTED);
            let opened = depth + word.matches(['{', '[']).count();
            let left = opened.saturating_sub(word.matches(['}', ']']).count());
            self.hiding = (left > 0).then_some(Until::Brace(left));
        } else if self.hiding.is_some() {
            self.out.push_str(REDACTED);
            self.take(word);
        } else {
            let expecting = std::mem::take(&mut self.expecting);
            // Whatever the word was kept for, no known key stays in it.
            let kept = self.redact(word, expecting);
            let kept = without_known_keys(&kept);
            if let Some(taken) = taken_out(word, &kept) {
                self.take(taken);
            }
            self.out.push_str(&kept);
        }
        if std::mem::take(&mut self.opens_document)
            && let Some(program) = self.command.takes_operands()
        {
            (self.within, self.ends_within) = (Some(program), Some(word.trim_matches(['-', '\\'])));
        }
        // `printf -v TOKEN %s x`, `printf 'password %s' x`
        let is_told = self.last == "-v" && is_secret_name(word) || word.starts_with('%') && is_secret_name(self.last);
        self.prints_secret |= is_told && self.command.prints();
        self.command.add(word);
        self.named_user |= USERS.contains(&word.split('=').next().unwrap_or(word));
        self.netrc |= word == "login";
        self.in_address |= has_scheme(word);
        self.last_but_one = std::mem::replace(&mut self.last, word);
        self.inserts = match self.inserts {
            _ if word.eq_ignore_ascii_case("insert") || word.eq_ignore_ascii_case("replace") => Inserts::Rows,
            Inserts::Rows if may_name_secret(word) && is_secret_name(word) => Inserts::Secrets,
            Inserts::Secrets if word.eq_ignore_ascii_case("values") => Inserts::Values,
            before => before,
        };
    }

    /// Notes what was hidden; what is too short stands anywhere.
    fn take(&mut self, taken: &str) {
        if taken.len() >= SHORTEST && self.taken.len() < MOST_TAKEN {
            self.taken.push(taken.to_owned());
        }
    }

    fn is(&self, fed: Fed) -> bool {
        self.fed.contains(&(self.number, fed))
    }

    fn redact(&mut self, word: &'a str, expecting: Expecting) -> Cow<'a, str> {
        // `$'x'`, and a line that goes on: the value comes behind it.
        let nothing_yet = word.trim_matches(['\\', '$', '=', ':', ']']).is_empty();
        match expecting {
            // `--password $(echo x)`, `--askpass <(printf x)`
            Expecting::Value | Expecting::Path
                if self.before.ends_with('(') && facets(word).has(Facets::PRINTS_WORDS) =>
            {
                self.hiding = Some(Until::Parenthesis);
                return word.into();
            }
            // `TOKEN=$(gh auth token)`: a program, whose words are judged as in any command.
            Expecting::Value | Expecting::Path
                if self.before.ends_with("<(") || self.before.ends_with('(') && self.last.ends_with('$') =>
            {
                self.substituted = true;
                self.command = Command::default();
                return word.into();
            }
            Expecting::Block if word.bytes().all(|byte| matches!(byte, b'-' | b'+' | b'0'..=b'9')) => {
                self.expecting = Expecting::Block;
                return word.into();
            }
            Expecting::Block if word.starts_with('{') => {
                let depth = word.matches('{').count().saturating_sub(word.matches('}').count());
                self.hiding = (depth > 0).then_some(Until::Brace(depth));
                self.take(word);
                return REDACTED.into();
            }
            Expecting::Block => {}
            // `setenv("TOKEN", "x")`
            Expecting::Sign if is_next_argument(self.before) && sets_by_name(self.last_but_one) => {
                return self.hide(Until::Word).into();
            }
            // `<entry key="password">x</entry>`
            Expecting::Sign
                if matches!(self.before, "\">" | "'>") && NAMING.contains(&self.last_but_one.trim_end_matches('=')) =>
            {
                return self.hide(Until::Word).into();
            }
            // `env.TOKEN ?? "x"`
            Expecting::Sign if word == "??" => {
                self.expecting = Expecting::Value;
                return word.into();
            }
            // `auth=("ann", "x")`
            Expecting::Value if self.before.starts_with('(') && self.last.ends_with('=') => {
                self.hiding = Some(Until::Parenthesis);
                return REDACTED.into();
            }
            Expecting::Value | Expecting::Line if nothing_yet => {
                self.expecting = expecting;
                return word.into();
            }
            // `IDENTIFIED WITH mysql_native_password BY 'x'`
            Expecting::Value if word.eq_ignore_ascii_case("by") => {
                self.expecting = expecting;
                return word.into();
            }
            // `IDENTIFIED BY PASSWORD 'x'`
            Expecting::Value if self.last.eq_ignore_ascii_case("by") && word.eq_ignore_ascii_case("password") => {
                self.expecting = expecting;
                return word.into();
            }
            // `docker build --secret id=npm,src=.npmrc`: which one it is.
            Expecting::Value
                if self.last == "--secret"
                    && ["id=", "src=", "source=", "type="].iter().any(|begin| word.starts_with(begin)) =>
            {
                return word.into();
            }
            // `gh variable set TOKEN --body x`: the secret may be what the option takes.
            Expecting::Value if word.starts_with('-') && self.before.chars().all(char::is_whitespace) => {
                self.expecting = expecting;
                return self.hide(Until::Word).into();
            }
            Expecting::Delimiter => {
                self.document = Some(word.trim_matches(['-', '\\']));
                return word.into();
            }
            // What makes it none of a file's name is the option before it.
            Expecting::Path if is_path(word) => return word.into(),
            Expecting::Password if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => {
                return word.into();
            }
            Expecting::Element if !self.before.starts_with('>') => {}
            Expecting::Joined if !self.before.starts_with(is_quote) => {}
            Expecting::Value | Expecting::Path | Expecting::Joined | Expecting::Password | Expecting::Element => {
                return self.hide(Until::Word).into();
            }
            Expecting::Pair => {
                self.expecting = Expecting::Value;
                return self.hide(Until::Word).into();
            }
            Expecting::Line => return self.hide(Until::Line(self.header_quote)).into(),
            Expecting::Login => return self.login(word).into(),
            Expecting::Sign if word.eq_ignore_ascii_case("for") => {
                self.for_somebody = true;
                return word.into();
            }
            // `db.auth("ann", "x")`, `x.setPassword("x")`
            Expecting::Sign if matches!(self.before, "(\"" | "('") && calls_with_secret(self.last) => {
                self.hiding = Some(Until::Parenthesis);
                self.take(word);
                return REDACTED.into();
            }
            // `["password"] "x"`
            Expecting::Sign if word.trim_matches([']', '\\']).is_empty() => {
                self.expecting = Expecting::Value;
                return word.into();
            }
            // `key="Password" value="x"`, `"name": "Authorization", "value": "x"`
            Expecting::Sign if HOLDING.iter().any(|name| word.trim_end_matches('=').eq_ignore_ascii_case(name)) => {
                self.expecting = if word.ends_with('=') { Expecting::Value } else { Expecting::Sign };
                return word.into();
            }
            Expecting::Sign if word.trim_start_matches(']').starts_with([':', '=']) => {
                let value = word.trim_start_matches([']', ':', '=', '>']);
                if value.starts_with(['{', '[']) && !value.contains(['}', ']']) {
                    self.hiding = Some(Until::Brace(value.matches(['{', '[']).count()));
                    return REDACTED.into();
                }
                let next = if word.starts_with(':') { Expecting::Line } else { Expecting::Value };
                if value.trim_matches(['\\', '$']).is_empty() {
                    self.expecting = next;
                    return word.into();
                }
                return self.hide(Until::Word).into();
            }
            // `PASSWORD 'x'` in SQL, `login ann password x` in a netrc.
            Expecting::Sign
                if SAID_BEFORE.iter().any(|said| self.last.eq_ignore_ascii_case(said))
                    && (self.netrc || matches!(self.before.trim_start_matches([' ', '(']), "'" | "\"")) =>
            {
                return self.hide(Until::Word).into();
            }
            Expecting::Sign | Expecting::Nothing => {}
        }
        if std::mem::take(&mut self.for_somebody) {
            self.expecting = Expecting::Sign;
            return word.into();
        }
        if std::mem::take(&mut self.half_login) && self.before == "," {
            return REDACTED.into();
        }
        if let Some(kept) = self.of_program(word) {
            return kept.into();
        }
        if self.inserts == Inserts::Values && self.before.ends_with(is_quote) {
            return self.hide(Until::Word).into();
        }
        if let Some(kept) = self.login_setting(word) {
            return kept.into();
        }
        if (self.in_address || has_scheme(word))
            && let Some((before, value)) = word.rsplit_once('=')
            && !value.is_empty()
            && names_parameter(before)
        {
            return format!("{}={REDACTED}", without_url_password(before)).into();
        }
        if self.manifest && matches!(word.trim_end_matches(':'), "data" | "stringData") {
            self.expecting = if word.ends_with(':') { Expecting::Block } else { Expecting::Sign };
            return word.into();
        }
        if let Some((name, value)) = word.split_once('=').filter(|(name, value)| is_seed(name) && !is_number(value)) {
            self.expecting = if value.is_empty() { Expecting::Password } else { Expecting::Nothing };
            let hidden = if value.is_empty() { "" } else { self.hide(Until::Word) };
            return format!("{name}={hidden}").into();
        }
        // `TOKENS=(a b)`
        if word.strip_suffix('=').is_some_and(ends_in_tokens) {
            self.expecting = Expecting::Value;
            return word.into();
        }
        // Most words name nothing, and every word of a record is looked at: asked once.
        let may_name = may_name_secret(word);
        let assignment = if may_name { assignment(word) } else { None };
        if assignment.is_some() || may_name && is_secret_name(word) {
            self.header_quote = self.before.chars().last().filter(|c| is_quote(*c));
        }
        if let Some((name, sign, value)) = assignment {
            let line = sign == ":" || is_header(name);
            // `Authorization: Bearer x`, `TOKEN="x y"`, `"password": "x"`: the value is in the next piece.
            if value.trim_matches(['\\', '$']).is_empty() {
                self.expecting = match line {
                    _ if is_pwd(last_part(name)) => Expecting::Path,
                    true => Expecting::Line,
                    false => Expecting::Value,
                };
                return word.into();
            }
            // `printf 'TOKEN=%s\n' x`
            if value.starts_with('%') && self.command.prints() {
                self.expecting = Expecting::Value;
            }
            if is_some_key(last_part(name)) && is_path(value) {
                return word.into();
            }
            let header = is_header(last_part(name)) && !last_part(name).starts_with('-');
            let hidden = self.hide(if header { Until::Line(self.header_quote) } else { Until::Word });
            return format!("{name}{sign}{hidden}").into();
        }
        self.expecting = match following(word, may_name) {
            _ if self.names_next(word, may_name) => Expecting::Value,
            Expecting::Nothing if self.named_user && matches!(word, "-p" | "-P") => Expecting::Password,
            // `<password>x</password>`
            Expecting::Sign if self.before.ends_with('<') => Expecting::Element,
            next => next,
        };
        if let Some(kept) = without_pgpass(word) {
            return kept.into();
        }
        if let Some(kept) = without_login_at(word, self.command.is_slashed()).or_else(|| self.slashed_alone(word)) {
            return kept.into();
        }
        without_url_password(word)
    }

    /// `user = "ann:x"`, as curl reads it, and `user=ann:x`.
    fn login_setting(&mut self, word: &str) -> Option<String> {
        let names = |name: &str| LOGIN_SETTINGS.iter().any(|known| name.eq_ignore_ascii_case(known));
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| names(name)) {
            let login = without_login_at(value, true).or_else(|| value.contains(':').then(|| without_login(value)));
            return login.map(|login| format!("{name}={login}"));
        }
        let behind = self.last == "=" && names(self.last_but_one) || self.last.strip_suffix('=').is_some_and(names);
        (behind && word.contains(':')).then(|| without_login(word))
    }

    /// `sqlplus ann/x` without the password, and `sqlplus ann/"x"`, where it comes next.
    fn slashed_alone(&mut self, word: &str) -> Option<String> {
        let (user, password) =
            word.split_once('/').filter(|(user, _)| !user.is_empty() && !user.contains(['=', '.']))?;
        if word.starts_with(['-', '@', '~']) || password.contains(['/', '.']) || !self.command.is_slashed_alone() {
            return None;
        }
        if password.is_empty() {
            self.expecting = Expecting::Joined;
            return Some(word.to_owned());
        }
        Some(format!("{user}/{REDACTED}"))
    }

    /// What the program of this command takes as a secret here.
    fn of_program(&mut self, word: &str) -> Option<String> {
        if word.starts_with(['-', '/'])
            && let Some((takes, name, value)) = self.command.option(word)
        {
            if value.is_empty() {
                self.expecting = match takes {
                    Takes::Secret => Expecting::Value,
                    Takes::Joined => Expecting::Joined,
                    Takes::Login => Expecting::Login,
                    Takes::Pair => Expecting::Pair,
                };
                return Some(word.to_owned());
            }
            let value = match takes {
                Takes::Login => self.login(value),
                Takes::Secret | Takes::Joined | Takes::Pair => self.hide(Until::Word).to_owned(),
            };
            return Some(format!("{name}{value}"));
        }
        let assigned = word.rsplit_once('=').filter(|(_, value)| !value.is_empty());
        // `k='x'`: the value is in the next piece.
        if word.ends_with('=') && !word.starts_with('-') && self.command.hides_assignments() {
            self.expecting = Expecting::Value;
            return Some(word.to_owned());
        }
        if let Some((name, _)) = assigned.filter(|_| self.command.hides_assignments())
            && (!word.starts_with('-') || name.contains('='))
        {
            return Some(format!("{name}={}", self.hide(Until::Word)));
        }
        if word.starts_with('-') || assigned.is_some() {
            return None;
        }
        let prints = (self.is(Fed::Prints) || self.prints_secret)
            && self.command.prints()
            && !word.starts_with('%')
            && !self.before.contains('>');
        (prints || self.command.hides_next_operand()).then(|| self.hide(Until::Word).to_owned())
    }

    /// A login without its password, which may come behind a comma.
    fn login(&mut self, word: &str) -> String {
        self.half_login = !word.contains([':', '%']);
        without_login(word)
    }

    /// Whether the next word is a secret for the sake of the words before it.
    fn names_next(&self, word: &str, may_name: bool) -> bool {
        // `IDENTIFIED BY 'x'`
        if word.eq_ignore_ascii_case("by") {
            return self.last.eq_ignore_ascii_case("identified");
        }
        // `PRAGMA key='x'`
        if self.last.eq_ignore_ascii_case("pragma") {
            return matches!(word.trim_end_matches('=').to_ascii_lowercase().as_str(), "key" | "rekey" | "hexkey");
        }
        // `setenv TOKEN x`, `yarn config set npmAuthToken x`
        may_name
            && !word.starts_with('-')
            && word.split(['.', ':']).any(is_secret_name)
            && self.command.names_operands()
    }

    /// Hides this word, and what belongs to it.
    fn hide(&mut self, until: Until) -> &'static str {
        let quote = self.before.chars().last().filter(|c| is_quote(*c));
        self.hiding = match (until, quote) {
            (Until::Word | Until::Line(None), Some(quote)) => Some(Until::Quote(quote, self.last.ends_with('\\'))),
            (until, _) => Some(until),
        };
        REDACTED
    }
}

/// Whether an address stands in a word. Most words hold no colon, and every word of a record is looked at.
fn has_scheme(word: &str) -> bool {
    word.contains(':') && word.contains("://")
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

/// What the word behind this one is. `may_name`: it may be a secret's name.
fn following(word: &str, may_name: bool) -> Expecting {
    if !may_name {
        return match word {
            "-u" | "-U" => Expecting::Login,
            _ if word.eq_ignore_ascii_case("bearer") => Expecting::Value,
            _ => Expecting::Nothing,
        };
    }
    let lower = word.to_ascii_lowercase();
    if lower == "-u" {
        return Expecting::Login;
    }
    if is_seed(&lower) {
        return Expecting::Password;
    }
    let option = word.starts_with('-') && !word.contains('=') && is_secret_name(word);
    // `npm config set //host/:_authToken x`
    let of_npm =
        word.starts_with("//") && [":_authtoken", ":_auth", ":_password"].iter().any(|end| lower.ends_with(end));
    if option && is_some_key(word) {
        return Expecting::Path;
    }
    if lower == "bearer" || option || of_npm {
        return Expecting::Value;
    }
    match is_secret_name(word) || is_pwd(word) {
        true if is_some_key(word) => Expecting::Sign,
        // `aws configure set aws_secret_access_key x`: a name that nothing but a setting has.
        true if word.contains('_') && !word.contains(['/', '.']) && names_a_setting(&lower) => Expecting::Value,
        true => Expecting::Sign,
        false => Expecting::Nothing,
    }
}

fn names_a_setting(lower: &str) -> bool {
    ["_key", "_token", "_secret", "_password"].iter().any(|end| lower.ends_with(end))
}

/// `name=value` or `name:value` where the name is a secret's, wherever in the word: also as a parameter of a URL.
fn assignment(word: &str) -> Option<(&str, &str, &str)> {
    word.match_indices(['=', ':']).find_map(|(at, sign)| {
        let (before, value) = (word.get(..at)?, word.get(at + 1..)?);
        let name = last_part(before);
        let is_secret = is_secret_name(name) || is_pwd(name) && !is_path(value) && !value.starts_with('$');
        is_secret.then_some((before, sign, value))
    })
}

/// The shell has a variable of this name, which holds a path; elsewhere it is a password.
fn is_pwd(name: &str) -> bool {
    name.eq_ignore_ascii_case("pwd")
}

/// Headers whose whole value is secret, however many words it has.
fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("authorization") || name.ends_with("cookie")
}

/// Whether what stands before a `=` ends in the name of a parameter that holds a secret.
fn names_parameter(before: &str) -> bool {
    let name = last_part(before);
    is_secret_name(name) || PARAMETERS.contains(&name.to_ascii_lowercase().as_str())
}

fn last_part(name: &str) -> &str {
    name.rsplit(['?', '&', '/', '{', '[', '=', ':', '#']).next().unwrap_or(name)
}

fn is_path(word: &str) -> bool {
    word.starts_with(['/', '~', '.']) || word.contains('/') && word.contains('.')
}

/// The beginning of a text, without secrets: enough to name it.
pub(crate) fn shown(text: &str) -> String {
    cut(&self::text(text), 256)
}

/// At most `limit` characters of a text, with a word on how much is missing.
pub(super) fn cut(text: &str, limit: usize) -> String {
    // So many bytes are never more characters.
    if text.len() <= limit {
        return text.to_owned();
    }
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} ... ({} more bytes)", text.get(..end).unwrap_or_default(), text.len() - end),
    }
}

/// What the next word may be.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Expecting {
    #[default]
    Nothing,
    /// A secret's name was seen, as in `"password": "x"`: a sign may follow.
    Sign,
    /// The next word is a secret, with what belongs to it.
    Value,
    /// The same, unless it is a path: many options that end in `key` take a file.
    Path,
    /// A quoted secret may be joined to the option.
    Joined,
    /// The next word is one, unless it is a number: that is a port.
    Password,
    /// What the element of a markup holds.
    Element,
    /// Everything up to the end of the line or quote is.
    Line,
    /// `user:password`.
    Login,
    /// This word and the next.
    Pair,
    /// What ends a here-document that is secret.
    Delimiter,
    /// Lines below that are indented further.
    Block,
}

enum Piece<'a> {
    /// Characters that end a word.
    Between(&'a str),
    Word(&'a str),
}

/// Splits at white space, quotes and the characters that end a shell word.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | ',');
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let between = ends(first);
        let end = rest.find(|c| ends(c) != between).unwrap_or(rest.len());
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(if between { Piece::Between(piece) } else { Piece::Word(piece) })
    })
}
