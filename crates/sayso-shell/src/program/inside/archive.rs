//! Names of the files in an archive, told only where every program that unpacks it can have no other names in mind.
//!
//! An archive comes from the agent. Whatever readers treat differently (links, names in extra fields, sizes in two places,
//! headers behind the end) means that nothing is known of it.

use super::MOST_LOOKED_AT;

type Names = Vec<Vec<u8>>;

/// A name that leads where it says: nothing is taken off, followed or converted.
fn is_plain(name: &[u8]) -> bool {
    let inner = name.strip_suffix(b"/").unwrap_or(name);
    !inner.is_empty()
        && name.iter().all(|byte| matches!(byte, 0x20..=0x7e) && *byte != b'\\')
        && inner.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b".."))
}

/// Little-endian.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(len)?)?;
    Some(field.iter().rev().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
}

/// The central directory of a zip file as Info-ZIP reads it.
pub(crate) fn of_zip(bytes: &[u8]) -> Option<Names> {
    const END: usize = 22;
    let end = bytes.len().checked_sub(END)?;
    let field = |at: usize, len: usize| number(bytes, end + at, len);
    let (count, size, start) = (field(10, 2)?, field(12, 4)?, field(16, 4)?);
    // One disk, no comment in which another end could stand, and nothing between the directory and its end.
    let whole = field(4, 4)? == 0 && field(8, 2)? == count && field(20, 2)? == 0 && start.checked_add(size)? == end;
    if bytes.get(end..end + 4) != Some(b"PK\x05\x06") || !whole || count > MOST_LOOKED_AT {
        return None;
    }
    let (mut names, mut at) = (Vec::new(), start);
    for _ in 0..count {
        let entry = |offset: usize, len: usize| number(bytes, at + offset, len);
        let (name, extra, comment) = (entry(28, 2)?, entry(30, 2)?, entry(32, 2)?);
        let from_dos_or_unix = matches!(entry(5, 1)?, 0 | 3);
        let mode = entry(40, 2)? & 0xf000;
        let masked = entry(8, 2)? & 0x2000 != 0;
        if bytes.get(at..at + 4) != Some(b"PK\x01\x02") || !from_dos_or_unix || masked {
            return None;
        }
        let text = bytes.get(at + 46..at + 46 + name)?;
        let fields = bytes.get(at + 46 + name..at + 46 + name + extra)?;
        if !is_plain(text) || !matches!(mode, 0 | 0x4000 | 0x8000) || !only_tells_times_and_owners(fields) {
            return None;
        }
        names.push(text.to_vec());
        at += 46 + name + extra + comment;
    }
    (at == end && !names.is_empty()).then_some(names)
}

/// Other extra fields may hold another name, or what a link leads to.
fn only_tells_times_and_owners(mut fields: &[u8]) -> bool {
    while !fields.is_empty() {
        let (Some(id), Some(len)) = (number(fields, 0, 2), number(fields, 2, 2)) else { return false };
        // Two forms of times, two of owners, and the mark of a Java archive.
        if !matches!(id, 0x5455 | 0x5855 | 0x7855 | 0x7875 | 0xcafe) {
            return false;
        }
        let Some(rest) = fields.get(4 + len..) else { return false };
        fields = rest;
    }
    true
}

const BLOCK: usize = 512;

/// The headers of a tar archive that is not compressed, as GNU tar reads it.
pub(crate) fn of_tar(bytes: &[u8]) -> Option<Names> {
    let mut names = Vec::new();
    let mut longer: Option<Vec<u8>> = None;
    let mut rest = bytes;
    while let Some((header, behind)) = rest.split_at_checked(BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            // Some readers go on behind a single empty block.
            return (behind.iter().all(|byte| *byte == 0) && longer.is_none() && !names.is_empty()).then_some(names);
        }
        if names.len() >= MOST_LOOKED_AT || !is_summed(header) {
            return None;
        }
        let size = octal(header.get(124..136)?)?;
        let (content, next) = behind.split_at_checked(size.checked_next_multiple_of(BLOCK)?)?;
        let content = content.get(..size)?;
        rest = next;
        match header.get(156)? {
            b'L' if longer.is_none() => longer = Some(until_nul(content).to_vec()),
            b'x' if longer.is_none() => longer = path_of_pax(content)?,
            kind @ (b'0' | 0 | b'5') => {
                let name = match longer.take() {
                    Some(name) => name,
                    None => own_name(header)?,
                };
                if !is_plain(&name) || *kind == b'5' && size != 0 {
                    return None;
                }
                names.push(name);
            }
            // Links, devices, sparse files, volumes, headers for all that follows.
            _ => return None,
        }
    }
    None
}

fn until_nul(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or(field)
}

fn octal(field: &[u8]) -> Option<usize> {
    let digits = field.strip_suffix(b"\0").or(field.strip_suffix(b" ")).unwrap_or(field);
    let digits = std::str::from_utf8(digits).ok()?.trim_matches(' ');
    let known = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    known.then(|| usize::from_str_radix(digits, 8).ok()).flatten()
}

/// A header whose sum is wrong is none, and some readers then look for the next one.
fn is_summed(header: &[u8]) -> bool {
    let sum: usize = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { usize::from(b' ') } else { usize::from(*byte) })
        .sum();
    let told = header.get(148..156).map(|field| until_nul(field.trim_ascii_end())).and_then(octal);
    header.get(257..262) == Some(b"ustar") && told == Some(sum)
}

/// The name in the header itself. What stands before it is a part of it in one of the two formats only.
fn own_name(header: &[u8]) -> Option<Vec<u8>> {
    let (name, before) = (until_nul(header.get(..100)?), until_nul(header.get(345..500)?));
    match (header.get(257..265)?, before) {
        (_, b"") => Some(name.to_vec()),
        (b"ustar\x0000", before) => Some([before, name].join(&b'/')),
        _ => None,
    }
}

/// The name in the records of an extended header, if there is one. `None`: they may say more than names and times.
fn path_of_pax(mut records: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut path = None;
    while !records.is_empty() {
        let blank = records.iter().position(|byte| *byte == b' ')?;
        let len: usize = std::str::from_utf8(records.get(..blank)?).ok()?.parse().ok()?;
        let (record, rest) = records.split_at_checked(len)?;
        let entry = record.get(blank + 1..)?.strip_suffix(b"\n")?;
        let equals = entry.iter().position(|byte| *byte == b'=')?;
        let (key, value) = (entry.get(..equals)?, entry.get(equals + 1..)?);
        match key {
            b"path" if path.is_none() => path = Some(value.to_vec()),
            b"mtime" | b"atime" | b"ctime" | b"uid" | b"gid" | b"uname" | b"gname" => {}
            _ => return None,
        }
        records = rest;
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One entry of a tar archive.
    fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut header = vec![0_u8; BLOCK];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[156] = kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        sum(&mut header);
        header.extend(content);
        header.resize(header.len().next_multiple_of(BLOCK), 0);
        header
    }

    fn sum(header: &mut [u8]) {
        header[148..156].fill(b' ');
        let sum: usize = header.iter().map(|byte| usize::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }

    fn tar(entries: &[Vec<u8>]) -> Option<Vec<String>> {
        let mut bytes = entries.concat();
        bytes.resize(bytes.len() + 2 * BLOCK, 0);
        told(of_tar(&bytes))
    }

    fn told(names: Option<Names>) -> Option<Vec<String>> {
        Some(names?.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    #[test]
    fn the_names_in_a_plain_archive_are_told() {
        let folder = entry("a/", b'5', b"");
        assert_eq!(tar(&[folder, entry("a/b", b'0', b"x")]).unwrap(), ["a/", "a/b"]);
        let long = "d/".repeat(80) + "f";
        assert_eq!(tar(&[entry("x", b'L', format!("{long}\0").as_bytes()), entry("d", b'0', b"")]).unwrap(), [long]);
        let pax = entry("x", b'x', b"12 path=a/b\n20 mtime=1234567890\n");
        assert_eq!(tar(&[pax, entry("d", b'0', b"")]), Some(vec!["a/b".to_owned()]));
    }

    #[test]
    fn an_archive_that_can_be_read_in_two_ways_tells_nothing() {
        let file = || entry("a", b'0', b"x");
        assert!(tar(&[file()]).is_some());
        for kind in [b'1', b'2', b'3', b'g', b'K', b'S', b'V', b'7'] {
            assert!(tar(&[entry("l", kind, b""), file()]).is_none(), "{kind}");
        }
        for name in ["../a", "/a", "a/../b", "a//b", "a\\b", ""] {
            assert!(tar(&[entry(name, b'0', b"")]).is_none(), "{name}");
        }
        // Another name in a comment that looks like a record, a size beside the size, two names.
        for records in [&b"24 comment=\n12 path=a/b\n"[..], b"10 size=5\n", b"9 path=a\n9 path=b\n", b"8 path=a\n"] {
            assert!(tar(&[entry("x", b'x', records), file()]).is_none());
        }
        // A header whose sum is wrong may hide those that follow.
        let mut wrong = file();
        wrong[0] = b'b';
        assert!(tar(&[file(), wrong]).is_none());
        // Behind an empty block.
        assert!(tar(&[file(), vec![0; BLOCK], file()]).is_none());
        assert!(of_tar(&file()).is_none() && of_tar(b"").is_none() && of_tar(b"\x1f\x8b").is_none());
        // A folder with a content.
        assert!(tar(&[entry("a/", b'5', b"x"), file()]).is_none());
    }

    fn zip(name: &[u8], mode: u16, extra: &[u8], comment: &[u8]) -> Vec<u8> {
        let mut bytes = b"PK\x03\x04local".to_vec();
        let start = bytes.len();
        bytes.extend(b"PK\x01\x02\x14\x03");
        bytes.resize(start + 46, 0);
        bytes[start + 28..start + 30].copy_from_slice(&(name.len() as u16).to_le_bytes());
        bytes[start + 30..start + 32].copy_from_slice(&(extra.len() as u16).to_le_bytes());
        bytes[start + 40..start + 42].copy_from_slice(&mode.to_le_bytes());
        bytes.extend(name);
        bytes.extend(extra);
        let end = bytes.len();
        bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
        bytes.extend(((end - start) as u32).to_le_bytes());
        bytes.extend((start as u32).to_le_bytes());
        bytes.extend((comment.len() as u16).to_le_bytes());
        bytes.extend(comment);
        bytes
    }

    #[test]
    fn a_zip_file_tells_its_names_where_nothing_else_can_be_meant() {
        let time = b"UT\x05\0\x03aaaa";
        assert_eq!(told(of_zip(&zip(b"a/b", 0o100_644, time, b""))).unwrap(), ["a/b"]);
        assert!(of_zip(&zip(b"a/b", 0o120_777, time, b"")).is_none());
        assert!(of_zip(&zip(b"a/b", 0, b"\x75\x70\x01\0\x01", b"")).is_none());
        assert!(of_zip(&zip(b"a/b", 0, b"", b"a comment")).is_none());
        for name in [&b".git\\hooks\\pre-commit"[..], b"../a", b"/a", b"", b"\xc3\xa4", b"a\nb"] {
            assert!(of_zip(&zip(name, 0, b"", b"")).is_none());
        }
        let whole = zip(b"a", 0, b"", b"");
        for cut in 0..whole.len() {
            assert!(of_zip(&whole[..cut]).is_none() && of_tar(&whole[..cut]).is_none());
        }
    }
}
