//! Server-sent events: raw bytes into events, and back with as few bytes changed as can be.

/// Longer events than this end the stream.
const LONGEST: usize = super::LARGEST_BODY;

/// One event, with its raw bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// As it came, the empty line at its end included.
    pub(crate) raw: Vec<u8>,
    /// Its data; `None`: it has none.
    pub(crate) data: Option<Vec<u8>>,
    /// Its id.
    pub(crate) id: Option<Vec<u8>>,
    /// How long to wait before coming again, in milliseconds.
    pub(crate) retry: Option<u64>,
}

impl Event {
    /// The same event with other data.
    pub(crate) fn with_data(&self, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(data.len() + 32);
        for (line, _) in lines(&self.raw) {
            if !line.is_empty() && field(line).0 != b"data" {
                out.extend_from_slice(line);
                out.push(b'\n');
            }
        }
        push_data(&mut out, data);
        out
    }
}

/// An event of our own.
pub(crate) fn message(data: &[u8]) -> Vec<u8> {
    let mut out = b"event: message\n".to_vec();
    push_data(&mut out, data);
    out
}

fn push_data(out: &mut Vec<u8>, data: &[u8]) {
    for line in data.trim_ascii().split(|byte| matches!(byte, b'\n' | b'\r')) {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.push(b'\n');
}

/// Takes a stream apart.
#[derive(Debug, Default)]
pub(crate) struct Events {
    buffer: Vec<u8>,
    /// Up to here nothing ends an event.
    searched: usize,
}

impl Events {
    /// Adds bytes. `false` if an event is too long.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> bool {
        self.buffer.extend_from_slice(bytes);
        self.buffer.len() <= LONGEST
    }

    /// The next whole event.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let end = self.end()?;
        let rest = self.buffer.split_off(end);
        let raw = std::mem::replace(&mut self.buffer, rest);
        self.searched = 0;
        Some(read(raw))
    }

    /// Behind the first empty line: two line ends in a row, each `\n`, `\r` or `\r\n`.
    fn end(&mut self) -> Option<usize> {
        let start = self.searched.saturating_sub(3);
        let bytes = self.buffer.get(start..).unwrap_or_default();
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b'\n', b'\r', bytes.get(at..).unwrap_or_default()) {
            let first = at + found;
            let (one, sure) = line_end(bytes, first);
            if sure && matches!(bytes.get(one), Some(b'\n' | b'\r')) {
                let (two, sure) = line_end(bytes, one);
                // Behind a lone `\r` at the very end, a `\n` that belongs to it may follow.
                if sure || bytes.get(one) == Some(&b'\n') {
                    return Some(start + two);
                }
                break;
            }
            at = one;
        }
        self.searched = self.buffer.len();
        None
    }
}

/// Behind a line end, and whether that is sure.
fn line_end(bytes: &[u8], at: usize) -> (usize, bool) {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => (at + 2, true),
        (Some(b'\r'), None) => (at + 1, false),
        _ => (at + 1, true),
    }
}

fn read(raw: Vec<u8>) -> Event {
    let mut event = Event::default();
    for (line, _) in lines(&raw) {
        let (name, value) = field(line);
        match name {
            b"data" => match &mut event.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => event.data = Some(value.to_vec()),
            },
            b"id" if !value.contains(&0) => event.id = Some(value.to_vec()),
            b"retry" => event.retry = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
            _ => {}
        }
    }
    event.raw = raw;
    event
}

fn lines(raw: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = raw.get(at..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr2(b'\n', b'\r', rest);
        let line = rest.get(..end.unwrap_or(rest.len()))?;
        let start = at;
        at = end.map_or(raw.len(), |end| line_end(raw, start + end).0);
        Some((line, start))
    })
}

/// A line's name and value; a comment has an empty name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    // Readers drop a byte order mark at the beginning of a stream; what follows it is a field like any other.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    match memchr::memchr(b':', line) {
        Some(colon) => {
            let value = line.get(colon + 1..).unwrap_or_default();
            (line.get(..colon).unwrap_or_default(), value.strip_prefix(b" ").unwrap_or(value))
        }
        None => (line, b""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &[u8], step: usize) -> (Vec<Event>, Vec<u8>) {
        let mut events = Events::default();
        let mut found = Vec::new();
        for piece in text.chunks(step) {
            assert!(events.feed(piece));
            while let Some(event) = events.next() {
                found.push(event);
            }
        }
        (found, events.buffer)
    }

    #[test]
    fn events_are_found_whatever_ends_their_lines() {
        for text in [
            "id: 1\ndata: a\ndata: b\n\n: c\n\nretry: 5\ndata:\n\nrest",
            "id: 1\r\ndata: a\r\ndata: b\r\n\r\n: c\r\n\r\nretry: 5\r\ndata:\r\n\r\nrest",
        ] {
            for step in 1..20 {
                let (events, rest) = all(text.as_bytes(), step);
                assert_eq!(events.len(), 3, "{step}");
                assert_eq!(events[0].data.as_deref(), Some(b"a\nb".as_slice()));
                assert_eq!(events[0].id.as_deref(), Some(b"1".as_slice()));
                assert_eq!(events[1].data, None);
                assert_eq!((events[2].data.as_deref(), events[2].retry), (Some(b"".as_slice()), Some(5)));
                assert_eq!(rest, b"rest");
                let raw: Vec<u8> = events.iter().flat_map(|event| event.raw.clone()).chain(rest).collect();
                assert_eq!(raw, text.as_bytes());
            }
        }
    }

    #[test]
    fn data_is_replaced_and_the_other_fields_stay() {
        let (events, _) = all(b"event: message\nid: 7\ndata: {\"a\":\ndata: 1}\nretry: 9\n\n", 100);
        assert_eq!(events[0].with_data(b"{}\n"), b"event: message\nid: 7\nretry: 9\ndata: {}\n\n");
    }

    #[test]
    fn a_byte_order_mark_hides_nothing() {
        let (events, _) = all("\u{feff}data: {}\n\n".as_bytes(), 100);
        assert_eq!(events[0].data.as_deref(), Some(b"{}".as_slice()));
        assert_eq!(events[0].with_data(b"1"), b"data: 1\n\n");
    }

    proptest! {
        #[test]
        fn no_byte_is_lost(text in "[ab:\\n\\r]{0,60}", step in 1_usize..7) {
            let (events, rest) = all(text.as_bytes(), step);
            let raw: Vec<u8> = events.iter().flat_map(|event| event.raw.clone()).chain(rest).collect();
            prop_assert_eq!(raw, text.as_bytes());
        }
    }
}
