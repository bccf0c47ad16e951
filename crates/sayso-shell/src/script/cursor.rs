//! A place in a text of bytes.

/// Walks over bytes and only ever forward, which is what makes the readers linear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The byte after the next `ahead` ones.
    pub(super) fn ahead(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at.checked_add(ahead)?).copied()
    }

    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Takes this byte if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes this text if it is next.
    pub(super) fn eat_text(&mut self, text: &[u8]) -> bool {
        let found = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(text));
        if found {
            self.at += text.len();
        }
        found
    }

    pub(super) fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a [u8] {
        let start = self.at;
        while self.peek().is_some_and(&keep) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The rest of the line, without its newline; stands before the newline then.
    pub(super) fn line(&mut self) -> &'a [u8] {
        self.take_while(|byte| byte != b'\n')
    }

    pub(super) fn blanks(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t'));
    }

    pub(super) fn spaces(&mut self) {
        self.take_while(|byte| byte.is_ascii_whitespace() || byte == 0x0b);
    }
}
