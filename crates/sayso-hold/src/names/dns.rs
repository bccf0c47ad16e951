//! Answers to questions for names, from inside a hold.

use std::net::Ipv4Addr;

const A: u16 = 1;
const AAAA: u16 = 28;
const INTERNET: u16 = 1;
const NO_SUCH_NAME: u8 = 3;
const SECONDS_TO_LIVE: u32 = 60;

/// A question, and what is answered.
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    /// The name, if somebody asked for an address of it and got none.
    pub(crate) refused: Option<String>,
}

/// Answers a query; `None` if it is none.
pub(crate) fn answer(query: &[u8], resolve: impl FnOnce(&str) -> Option<Ipv4Addr>) -> Option<Answer> {
    let header = query.get(..12)?;
    let id = header.get(..2)?;
    let flags = *header.get(2)?;
    let is_question = flags & 0x80 == 0 && flags & 0x78 == 0;
    if !is_question || header.get(4..6)? != [0, 1] {
        return None;
    }
    let (name, end) = name(query, 12)?;
    let question = query.get(12..end + 4)?;
    let kind = u16::from_be_bytes(query.get(end..end + 2)?.try_into().ok()?);
    let class = u16::from_be_bytes(query.get(end + 2..end + 4)?.try_into().ok()?);
    let wants_address = class == INTERNET && (kind == A || kind == AAAA);

    let address = if is_this_machine(&name) { Some(Ipv4Addr::LOCALHOST) } else { resolve(&name) };
    let found = address.filter(|_| kind == A && class == INTERNET);
    let code = if address.is_some() { 0 } else { NO_SUCH_NAME };

    let mut bytes = Vec::with_capacity(query.len() + 16);
    bytes.extend_from_slice(id);
    // A response, by who knows; recursion is offered, or some resolvers complain.
    bytes.extend_from_slice(&[0x84 | (flags & 1), 0x80 | code]);
    bytes.extend_from_slice(&[0, 1, 0, u8::from(found.is_some()), 0, 0, 0, 0]);
    bytes.extend_from_slice(question);
    if let Some(address) = found {
        bytes.extend_from_slice(&[0xC0, 12]);
        bytes.extend_from_slice(&A.to_be_bytes());
        bytes.extend_from_slice(&INTERNET.to_be_bytes());
        bytes.extend_from_slice(&SECONDS_TO_LIVE.to_be_bytes());
        bytes.extend_from_slice(&[0, 4]);
        bytes.extend_from_slice(&address.octets());
    }
    let refused = (address.is_none() && wants_address).then_some(name);
    Some(Answer { bytes, refused })
}

fn is_this_machine(name: &str) -> bool {
    let name = super::plain(name);
    name == "localhost" || name.ends_with(".localhost")
}

/// The name at a place in a query, and where it ends. A query has no pointers.
fn name(query: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            return Some((name, at));
        }
        let label = query.get(at..at + length).filter(|_| length <= 63)?;
        at += length;
        if !name.is_empty() {
            name.push('.');
        }
        // A byte that no host name has makes the name one that no pattern matches.
        for byte in label {
            name.push(if byte.is_ascii_graphic() && *byte != b'.' { char::from(*byte) } else { '?' });
        }
        if name.len() > 253 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(name: &str, kind: u16) -> Vec<u8> {
        let mut bytes = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            bytes.push(u8::try_from(label.len()).unwrap());
            bytes.extend_from_slice(label.as_bytes());
        }
        bytes.push(0);
        bytes.extend_from_slice(&kind.to_be_bytes());
        bytes.extend_from_slice(&[0, 1]);
        bytes
    }

    #[test]
    fn an_allowed_name_has_an_address_and_another_does_not_exist() {
        let given = Ipv4Addr::new(198, 18, 0, 1);
        let yes = answer(&query("good.example", A), |name| (name == "good.example").then_some(given)).unwrap();
        assert!(yes.bytes.ends_with(&[198, 18, 0, 1]) && yes.refused.is_none());
        assert_eq!(yes.bytes[3] & 15, 0);
        let no = answer(&query("evil.example", A), |_| None).unwrap();
        assert_eq!((no.bytes[3] & 15, no.refused.as_deref()), (3, Some("evil.example")));
    }

    #[test]
    fn an_allowed_name_has_no_other_kind_of_address() {
        let answer = answer(&query("good.example", AAAA), |_| Some(Ipv4Addr::LOCALHOST)).unwrap();
        assert_eq!((answer.bytes[3] & 15, answer.bytes[7], answer.refused), (0, 0, None));
    }

    #[test]
    fn broken_queries_are_not_answered() {
        let whole = query("good.example", A);
        for cut in 0..whole.len() {
            assert!(answer(&whole[..cut], |_| Some(Ipv4Addr::LOCALHOST)).is_none());
        }
        let mut response = whole.clone();
        response[2] |= 0x80;
        assert!(answer(&response, |_| None).is_none());
        let mut pointer = whole;
        pointer[12] = 0xC0;
        assert!(answer(&pointer, |_| None).is_none());
    }
}
