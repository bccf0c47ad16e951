//! What the readers of mini-languages found, as effects.

use super::{Code, View};
use crate::effect::{Carry, NamedBy, Verb};
use crate::script::Finding;

impl View<'_> {
    /// Adds what a script at `at` does; `by` is what a pattern must hold to name it.
    pub fn findings(&mut self, findings: Vec<Finding>, by: &NamedBy, at: usize) {
        let named = |code: Code| Carry::Named { code, by: by.clone() };
        for finding in findings {
            match finding {
                Finding::Shell(text) => {
                    self.named(Code::RunsCommand, by.clone(), at);
                    self.starts_shell(text, at);
                }
                Finding::Write(file) => self.path_effect(Verb::Write, &file, at, false, named(Code::WritesFile)),
                Finding::Read(file) => self.path_effect(Verb::Read, &file, at, false, Carry::Plain),
                Finding::Connect(host) => self.connects(&host, at),
                Finding::Load(file) => {
                    self.path_effect(Verb::Read, &file, at, false, Carry::Plain);
                    self.code("unknown", Code::RunsCode, by.clone(), at);
                }
                Finding::Change => self.named(Code::ChangesFiles, by.clone(), at),
                Finding::Environment => self.named(Code::ShowsSecrets, by.clone(), at),
                Finding::Code(language) => self.code(language, Code::InlineCode, by.clone(), at),
                Finding::Unclear(why) => {
                    self.named(Code::UnclearScript, by.clone(), at);
                    self.doubt(Code::UnclearScript, why.to_owned(), at);
                }
            }
        }
    }
}
