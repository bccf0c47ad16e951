//! From a byte offset to a line and a column that people count.

use crate::word::Source;
use std::ops::Range;
use std::sync::Arc;

/// Characters are counted once for every block of this many bytes, so that a file of a single long line costs no
/// more than one of many short lines.
const BLOCK: usize = 256;

/// Finds lines and columns of one text.
#[derive(Clone, Debug)]
pub struct Lines {
    text: Arc<str>,
    /// Byte offset at which each line begins.
    starts: Vec<usize>,
    /// Characters before each block.
    characters: Vec<usize>,
}

impl Lines {
    /// Reads the text once.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut before = 0;
        let characters = text
            .as_bytes()
            .chunks(BLOCK)
            .map(|block| {
                let here = before;
                before += count(block);
                here
            })
            .collect();
        Self { text: text.into(), starts, characters }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte, both from 1, the column in characters.
    #[must_use]
    pub fn place(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.characters_before(offset).saturating_sub(self.characters_before(start)) + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }

    /// The place at which a span begins.
    #[must_use]
    pub fn source(&self, file: &Arc<str>, span: &Range<usize>) -> Source {
        let (line, column) = self.place(span.start);
        Source { file: Arc::clone(file), line, column }
    }

    fn characters_before(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        match self.characters.get(block) {
            Some(before) => before + self.text.as_bytes().get(block * BLOCK..offset).map_or(0, count),
            None => self.text.chars().count(),
        }
    }
}

/// Characters that begin in these bytes of a UTF-8 text.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

/// Where a span of `text` begins, for people: line and column from 1, the column in characters.
#[must_use]
pub fn locate(name: &str, text: &str, span: &Range<usize>) -> Source {
    Lines::new(text).source(&Arc::from(name), span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, offset: usize) -> (u32, u32) {
        let before = text.split_at(offset).0;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        (line as u32, column as u32)
    }

    #[test]
    fn every_offset_of_a_long_text_with_wide_characters_has_its_line_and_column() {
        let text = "añ = \"日本\"\n# 😀\r\n".repeat(400);
        let lines = Lines::new(&text);
        for (offset, _) in text.char_indices() {
            assert_eq!(lines.place(offset), plain(&text, offset), "at {offset}");
        }
        assert_eq!(lines.place(text.len()), (801, 1));
        assert_eq!(lines.place(text.len() + 9), (801, 1));
    }

    #[test]
    fn an_empty_text_has_one_place() {
        assert_eq!(Lines::new("").place(0), (1, 1));
        let exact = "x".repeat(BLOCK);
        assert_eq!(Lines::new(&exact).place(BLOCK), (1, BLOCK as u32 + 1));
    }

    #[test]
    fn a_source_is_shown_as_file_line_column() {
        assert_eq!(locate("p.toml", "a = 1\né = 2\n", &(9..10)).to_string(), "p.toml:2:3");
    }
}
