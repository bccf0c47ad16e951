//! Patches between `*** Begin Patch` and `*** End Patch`, as Codex's `apply_patch` takes them: several files, each under
//! a header of its own.

/// What such a patch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'p> {
    /// A file is made.
    Add(&'p [u8]),
    /// A file is changed.
    Update(&'p [u8]),
    /// A file is removed.
    Delete(&'p [u8]),
    /// A file that is changed goes to another place.
    Move {
        /// Where it was.
        from: &'p [u8],
        /// Where it goes.
        to: &'p [u8],
    },
    /// Something that looks like a header and is none that is known; or there is none at all.
    Unclear,
}

/// Reads a patch. Headers are taken with blanks around them and in any case, as lenient readers do: a line of a file
/// that looks like one counts too, which only adds.
#[must_use]
pub fn envelope(patch: &[u8]) -> Vec<Change<'_>> {
    let mut changes = Vec::new();
    let mut updated = None;
    for line in patch.split(|byte| *byte == b'\n') {
        let Some(header) = line.trim_ascii().strip_prefix(b"***") else { continue };
        let header = header.trim_ascii();
        let (word, path) = match header.iter().position(|byte| *byte == b':') {
            Some(at) => (header.get(..at).unwrap_or_default(), header.get(at + 1..).unwrap_or_default().trim_ascii()),
            None => (header, &b""[..]),
        };
        let word = word.trim_ascii().to_ascii_lowercase();
        changes.push(match (word.as_slice(), path.is_empty(), updated) {
            (b"begin patch" | b"end patch" | b"end of file", true, _) => continue,
            (b"add file", false, _) => Change::Add(path),
            (b"update file", false, _) => {
                updated = Some(path);
                Change::Update(path)
            }
            (b"delete file", false, _) => Change::Delete(path),
            (b"move to", false, Some(from)) => Change::Move { from, to: path },
            _ => Change::Unclear,
        });
    }
    if changes.is_empty() {
        changes.push(Change::Unclear);
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_is_found() {
        let patch = b"*** Begin Patch\n*** Add File: a b.txt\n+x\n*** Update File: c\r\n*** Move to: d\n@@\n-x\n*** End of File\n\
            *** Delete File:e\n *** update file : f \n*** End Patch";
        assert_eq!(
            envelope(patch),
            [
                Change::Add(b"a b.txt"),
                Change::Update(b"c"),
                Change::Move { from: b"c", to: b"d" },
                Change::Delete(b"e"),
                Change::Update(b"f"),
            ]
        );
    }

    #[test]
    fn what_is_not_understood_is_unclear() {
        for patch in [
            &b""[..],
            b"*** Begin Patch\n*** End Patch",
            b"*** Rename File: x",
            b"*** Move to: x",
            b"*** Add File:",
            b"--- a",
        ] {
            assert_eq!(envelope(patch), [Change::Unclear], "{}", String::from_utf8_lossy(patch));
        }
    }
}
