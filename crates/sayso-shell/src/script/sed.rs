//! `sed` scripts: `e`, `w`, `W`, `r`, `R`, `s///e` and `s///w` leave the stream.
//!
//! Seds differ in where a regular expression ends (GNU 4.9 lets the delimiter stand in brackets, 4.8 does not) and in
//! where a label ends (GNU at `;`, BSD at the end of the line). A script is read in each of these ways and everything that
//! any of them finds counts: an attacker chooses the text that the sed at hand reads differently.

use super::cursor::Cursor;
use super::{Finding, exact, unknown};
use crate::word::Word;

/// What a script does. Several `-e` pieces are to be joined with newlines before.
#[must_use]
pub fn read(script: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut understood = false;
    for brackets in [true, false] {
        for long_labels in [false, true] {
            let mut reader = Reader { at: Cursor::new(script), brackets, long_labels, depth: 0, findings: Vec::new() };
            understood |= reader.script().is_some();
            for finding in reader.findings {
                if !findings.contains(&finding) {
                    findings.push(finding);
                }
            }
        }
    }
    // A script that one sed refuses and another reads is judged by the other. One that none reads may still be read by
    // a sed nobody here knows.
    if !understood {
        findings.push(Finding::Unclear("the sed script is not understood"));
    }
    findings
}

/// One way of reading. `None` from a step: this sed would refuse the script.
struct Reader<'a> {
    at: Cursor<'a>,
    /// The delimiter may stand in brackets.
    brackets: bool,
    /// Labels end with the line.
    long_labels: bool,
    depth: usize,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn script(&mut self) -> Option<()> {
        loop {
            self.at.take_while(|byte| byte.is_ascii_whitespace() || byte == b';');
            if self.at.peek().is_none() {
                return (self.depth == 0).then_some(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.at.spaces();
            if self.at.eat(b',') {
                self.at.spaces();
                if !self.address()? {
                    return None;
                }
            }
        }
        self.at.spaces();
        while self.at.eat(b'!') {
            self.at.spaces();
        }
        Some(())
    }

    /// Whether there was one.
    fn address(&mut self) -> Option<bool> {
        match self.at.peek() {
            Some(b'0'..=b'9' | b'+' | b'~') => {
                self.at.bump();
                self.at.take_while(|byte| byte.is_ascii_digit() || byte == b'~');
                return Some(true);
            }
            Some(b'$') => {
                self.at.bump();
                return Some(true);
            }
            Some(b'/') => {
                self.at.bump();
                self.delimited(b'/', true)?;
            }
            Some(b'\\') => {
                self.at.bump();
                let delimiter = self.at.bump()?;
                self.delimited(delimiter, true)?;
            }
            _ => return Some(false),
        }
        self.at.take_while(|byte| matches!(byte, b'I' | b'M'));
        Some(true)
    }

    /// Up to and with the delimiter that ends a part of `s`, `y` or an address.
    fn delimited(&mut self, delimiter: u8, regex: bool) -> Option<()> {
        if matches!(delimiter, b'\n' | b'\\') {
            return None;
        }
        loop {
            match self.at.bump()? {
                byte if byte == delimiter => return Some(()),
                b'\\' => {
                    self.at.bump()?;
                }
                b'\n' if regex => return None,
                b'[' if regex && self.brackets => self.bracket()?,
                _ => {}
            }
        }
    }

    /// The rest of a bracket expression. One that does not end is refused by every sed that knows brackets.
    fn bracket(&mut self) -> Option<()> {
        self.at.eat(b'^');
        self.at.eat(b']');
        loop {
            match self.at.bump()? {
                b'\n' => return None,
                b']' => return Some(()),
                b'[' if matches!(self.at.peek(), Some(b':' | b'.' | b'=')) => {
                    let kind = self.at.bump()?;
                    loop {
                        match self.at.bump()? {
                            b'\n' => return None,
                            byte if byte == kind && self.at.eat(b']') => break,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn command(&mut self) -> Option<()> {
        match self.at.bump()? {
            b'#' => {
                self.at.line();
                Some(())
            }
            b'{' => {
                self.depth += 1;
                Some(())
            }
            b'}' => {
                self.depth = self.depth.checked_sub(1)?;
                self.end()
            }
            b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x' | b'z' | b'F' => {
                self.end()
            }
            b'l' | b'L' | b'q' | b'Q' => {
                self.at.blanks();
                self.at.take_while(|byte| byte.is_ascii_digit());
                self.end()
            }
            b'a' | b'i' | b'c' => {
                self.text();
                Some(())
            }
            b'e' => {
                let text = self.text();
                self.findings.push(Finding::Shell(text));
                Some(())
            }
            b':' | b'b' | b't' | b'T' | b'v' => {
                self.label();
                Some(())
            }
            b'r' | b'R' => {
                let name = self.file_name()?;
                if name.exact() != Some(b"/dev/stdin") {
                    self.findings.push(Finding::Read(name));
                }
                Some(())
            }
            b'w' | b'W' => self.write(),
            b's' => {
                let delimiter = self.at.bump()?;
                self.delimited(delimiter, true)?;
                self.delimited(delimiter, false)?;
                self.substitute_flags()
            }
            b'y' => {
                let delimiter = self.at.bump()?;
                self.delimited(delimiter, false)?;
                self.delimited(delimiter, false)?;
                self.end()
            }
            _ => None,
        }
    }

    fn substitute_flags(&mut self) -> Option<()> {
        loop {
            match self.at.peek() {
                // Blanks may stand between flags: `s/a/b/g e` runs.
                Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9' | b' ' | b'\t' | b'\r') => {
                    self.at.bump();
                }
                Some(b'e') => {
                    self.at.bump();
                    self.findings.push(Finding::Shell(Word::Opaque));
                }
                Some(b'w') => {
                    self.at.bump();
                    return self.write();
                }
                _ => return self.end(),
            }
        }
    }

    fn write(&mut self) -> Option<()> {
        let name = self.file_name()?;
        if !matches!(name.exact(), Some(b"/dev/stdout" | b"/dev/stderr")) {
            self.findings.push(Finding::Write(name));
        }
        Some(())
    }

    /// The end of a command: `;`, a newline, a comment, a closing brace, or nothing more.
    fn end(&mut self) -> Option<()> {
        self.at.take_while(|byte| byte.is_ascii_whitespace() && byte != b'\n');
        matches!(self.at.peek(), None | Some(b';' | b'\n' | b'}' | b'#')).then_some(())
    }

    fn label(&mut self) {
        self.at.blanks();
        if self.long_labels {
            self.at.line();
        } else {
            self.at.take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b';' | b'}'));
        }
    }

    /// The text of `a`, `i`, `c` and `e`: to the first line end that no backslash hides.
    fn text(&mut self) -> Word {
        let mut text = Vec::new();
        let mut certain = true;
        self.at.blanks();
        loop {
            match self.at.bump() {
                None | Some(b'\n') => break,
                Some(b'\\') => {
                    certain = false;
                    self.at.bump();
                }
                Some(byte) => text.push(byte),
            }
        }
        // `e` alone runs what the stream holds; with a backslash, what it runs depends on the escapes of this sed.
        if certain && !text.is_empty() { exact(&text) } else { Word::Opaque }
    }

    /// A file name: all the rest of the line, `;` and `}` too.
    fn file_name(&mut self) -> Option<Word> {
        self.at.blanks();
        let name = self.at.line();
        if name.is_empty() {
            self.findings.push(Finding::Unclear("a file of the sed script has no name"));
            return None;
        }
        Some(if name.contains(&b'\\') { unknown() } else { exact(name) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        super::super::shown(&read(text.as_bytes()))
    }

    #[test]
    fn harmless_scripts_have_no_findings() {
        for script in [
            "",
            "1,60p",
            "s/a/b/",
            "s/a/b/g;p",
            "s/a/b/ ; p",
            "s,a,b,;s|c|d|g",
            "s/[/]/x/",
            "1d",
            "$!N;P;D",
            ":a;N;$!ba;s/\\n/ /g",
            "/foo/,/bar/{s/x/y/;d}",
            "/a/I,/b/Mp",
            "0~3p",
            "1,+2!d",
            "\\,a/b,d",
            "a text w file",
            "a\\\nline one\\\nw evil\n",
            "i\\  w evil",
            "565,606c\\\n  e foo",
            "y/abc/xyz/;p",
            "s/\\/w/e/",
            "s/x/a\\\nb/",
            "# w file\np",
            "p #w file",
            "{;p;;}",
            "s/a/b/w /dev/stdout",
            "s/w/e/",
            "/e/!d",
            "q5",
            "l 3;=",
            "s/TRIPLE/```/g",
            "n;d",
            "v 4.2\np",
        ] {
            assert_eq!(shown(script), "", "{script}");
        }
    }

    #[test]
    fn what_leaves_the_stream_is_found() {
        for (script, expected) in [
            ("e id", "run id"),
            ("1e rm -rf x;p", "run rm -rf x;p"),
            ("e", "run ?"),
            ("1e echo \\x41", "run ?"),
            ("s/.*/id/e", "run ?"),
            ("s/a/b/g e", "run ?"),
            ("s/a/b/3ge", "run ?"),
            ("s/a/b/Ipe;p", "run ?"),
            ("w out.txt", "write out.txt"),
            ("W a;b", "write a;b"),
            ("/x/w/etc/passwd", "write /etc/passwd"),
            ("s/a/b/w out }", "write out }"),
            ("s/a/b/gw out", "write out"),
            ("r /etc/passwd", "read /etc/passwd"),
            ("$R f", "read f"),
            ("0r f", "read f"),
            ("{p;w x\n}", "write x"),
            ("s,a\\,b,c,w x", "write x"),
            ("saxayaw f", "write f"),
            ("y/a/b/;w f", "write f"),
            ("a foo\nw f", "write f"),
            ("a\\\nfoo\nw f", "write f"),
            ("1!{e ls\n}", "run ls"),
            (":a;w f", "write f"),
            ("s/[/]/w f/", "write f/"),
            ("s/x/y/;k", "unclear"),
            ("}", "unclear"),
            ("s/a/b", "unclear"),
        ] {
            assert_eq!(shown(script), expected, "{script}");
        }
    }

    #[test]
    fn a_label_that_another_sed_reads_to_the_end_of_the_line_hides_nothing() {
        assert!(shown(":a;s/x/\\\nw evil\n/").contains("write evil"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(script in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&script);
        }

        #[test]
        fn scripts_of_sed_letters_are_read_without_panic(script in "[sywreaic/\\\\\\[\\]{};:$!,0-9 \n]{0,60}") {
            let _ = read(script.as_bytes());
        }
    }
}
