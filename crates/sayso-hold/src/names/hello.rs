//! The name that a TLS client asks for, read from its first message.
//!
//! Many names share an address outside: without this, an allowed one would open the way to all of them.

/// The longest first message that is waited for.
pub(crate) const LONGEST: usize = 64 * 1024;

/// What the bytes so far say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// There must be more of it.
    Unfinished,
    /// The name.
    Name(String),
    /// No TLS, or no name in it.
    Nameless,
}

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// Reads what has come so far.
pub(crate) fn read(bytes: &[u8]) -> Hello {
    match handshake(bytes) {
        Gathered::Unfinished => Hello::Unfinished,
        Gathered::Broken => Hello::Nameless,
        Gathered::Whole(body) => server_name(&body).map_or(Hello::Nameless, Hello::Name),
    }
}

enum Gathered {
    Unfinished,
    Broken,
    Whole(Vec<u8>),
}

/// The body of the first handshake message, which may be cut into several records.
fn handshake(mut bytes: &[u8]) -> Gathered {
    let mut message: Vec<u8> = Vec::new();
    loop {
        if let Some((head, body)) = message.split_at_checked(4) {
            if head.first() != Some(&CLIENT_HELLO) {
                return Gathered::Broken;
            }
            let length = head.iter().skip(1).fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
            if length > LONGEST {
                return Gathered::Broken;
            }
            if let Some(body) = body.get(..length) {
                return Gathered::Whole(body.to_vec());
            }
        }
        let Some((head, rest)) = bytes.split_at_checked(5) else {
            let plausible = bytes.first().is_none_or(|kind| *kind == HANDSHAKE);
            return if plausible { Gathered::Unfinished } else { Gathered::Broken };
        };
        let &[kind, major, _, high, low] = head else { return Gathered::Broken };
        let length = usize::from(high) << 8 | usize::from(low);
        if kind != HANDSHAKE || major != 3 || length == 0 {
            return Gathered::Broken;
        }
        let Some((record, rest)) = rest.split_at_checked(length) else { return Gathered::Unfinished };
        message.extend_from_slice(record);
        bytes = rest;
    }
}

fn server_name(body: &[u8]) -> Option<String> {
    let mut hello = Cursor(body);
    hello.skip(2 + 32)?;
    hello.block8()?;
    hello.block16()?;
    hello.block8()?;
    let mut extensions = Cursor(hello.block16()?);
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number16()?;
        let content = extensions.block16()?;
        if kind != SERVER_NAME {
            continue;
        }
        // Said twice, it could be read either way.
        if found.is_some() {
            return None;
        }
        let mut names = Cursor(Cursor(content).block16()?);
        let is_host = names.number8()? == HOST_NAME;
        let name = names.block16()?;
        if !is_host || !names.0.is_empty() {
            return None;
        }
        found = Some(std::str::from_utf8(name).ok()?.to_owned());
    }
    found
}

/// Bytes that are read from the front.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn skip(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number8(&mut self) -> Option<u8> {
        self.skip(1)?.first().copied()
    }

    fn number16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.skip(2)?.try_into().ok()?))
    }

    fn block8(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(self.number8()?);
        self.skip(length)
    }

    fn block16(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(self.number16()?);
        self.skip(length)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The first message of a client that asks for these names.
    pub(crate) fn hello(names: &[&str]) -> Vec<u8> {
        let block16 = |content: &[u8]| {
            let mut bytes = u16::try_from(content.len()).unwrap().to_be_bytes().to_vec();
            bytes.extend_from_slice(content);
            bytes
        };
        let mut extensions = vec![0, 43, 0, 3, 2, 3, 4];
        for name in names {
            let mut list = vec![HOST_NAME];
            list.extend(block16(name.as_bytes()));
            extensions.extend([0, 0]);
            extensions.extend(block16(&block16(&list)));
        }
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.push(0);
        body.extend(block16(&[0x13, 0x01]));
        body.extend([1, 0]);
        body.extend(block16(&extensions));
        let mut message = vec![CLIENT_HELLO, 0];
        message.extend(u16::try_from(body.len()).unwrap().to_be_bytes());
        message.extend(body);
        let mut record = vec![HANDSHAKE, 3, 1];
        record.extend(block16(&message));
        record
    }

    #[test]
    fn the_name_is_read_once_all_of_the_message_is_there() {
        let whole = hello(&["good.example"]);
        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut]), Hello::Unfinished, "{cut}");
        }
        assert_eq!(read(&whole), Hello::Name("good.example".into()));
    }

    #[test]
    fn a_message_in_several_records_is_put_together() {
        let whole = hello(&["good.example"]);
        let (head, body) = whole.split_at(5);
        let mut cut = Vec::new();
        for piece in body.chunks(20) {
            cut.extend_from_slice(&head[..3]);
            cut.extend(u16::try_from(piece.len()).unwrap().to_be_bytes());
            cut.extend_from_slice(piece);
        }
        assert_eq!(read(&cut), Hello::Name("good.example".into()));
    }

    #[test]
    fn what_names_nobody_or_two_is_nameless() {
        assert_eq!(read(&hello(&[])), Hello::Nameless);
        assert_eq!(read(&hello(&["good.example", "evil.example"])), Hello::Nameless);
        assert_eq!(read(b"GET / HTTP/1.1\r\n"), Hello::Nameless);
        assert_eq!(read(&[22, 3, 1, 0, 0]), Hello::Nameless);
    }
}
