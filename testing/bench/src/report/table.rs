//! A table for people, which is also Markdown.

use std::fmt;

/// Lines of cells under a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// As many cells as the head.
    pub lines: Vec<Vec<String>>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = || std::iter::once(&self.head).chain(&self.lines);
        let width = |at: usize| {
            let cells = all().filter_map(|line| line.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        writeln!(f, "{}\n", self.title)?;
        for (n, line) in all().enumerate() {
            for (cell, width) in line.iter().zip(&widths) {
                write!(f, "| {cell:<width$} ")?;
            }
            writeln!(f, "|")?;
            if n == 0 {
                for width in &widths {
                    write!(f, "|{:-<1$}", "", width + 2)?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}
