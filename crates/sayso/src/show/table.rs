//! Columns that line up.

use crate::show::paint::Paint;
use unicode_width::UnicodeWidthChar;

/// A table of `N` columns. Cells hold text that is safe to show, and perhaps colours.
pub(crate) struct Table<const N: usize> {
    head: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// With these headings.
    pub(crate) fn new(head: [&'static str; N]) -> Self {
        Self { head, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    /// All rows, two blanks between columns, moved in by two; columns that are empty throughout are left out.
    pub(crate) fn draw(&self, paint: Paint) -> String {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell));
            }
        }
        for (width, head) in widths.iter_mut().zip(&self.head) {
            *width = if *width == 0 { 0 } else { (*width).max(columns(head)) };
        }
        let line = |cells: &[String; N]| {
            let mut out = String::new();
            for (cell, width) in cells.iter().zip(&widths).filter(|(_, width)| **width > 0) {
                out.push_str("  ");
                out.push_str(cell);
                out.push_str(&" ".repeat(width.saturating_sub(columns(cell))));
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
            out
        };
        let mut out = line(&self.head.map(|head| paint.dim(head)));
        for row in &self.rows {
            out.push_str(&line(row));
        }
        out
    }
}

/// Width on the screen; colours take no room.
fn columns(text: &str) -> usize {
    let mut width = 0;
    let mut escape = false;
    for c in text.chars() {
        match c {
            '\x1b' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            c => width += c.width().unwrap_or(0),
        }
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_stands_in_them() {
        let mut table = Table::new(["effect", "", "verdict", "gone"]);
        table.row(["run".into(), "世界".into(), "\x1b[1;31mdeny\x1b[0m".into(), String::new()]);
        table.row(["connect".into(), "x".into(), "allow".into(), String::new()]);
        assert_eq!(
            table.draw(Paint::plain()),
            "  effect         verdict\n  run      世界  \x1b[1;31mdeny\x1b[0m\n  connect  x     allow\n"
        );
    }
}
