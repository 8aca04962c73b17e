//! Tables for people: aligned columns of text.

use crate::terminal::fold;

/// Rows of text in columns. Columns are flush right; the last one, and the first `names` ones, flush left.
#[derive(Debug, Default)]
pub(crate) struct Table {
    names: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a head row, whose first `names` columns hold names.
    pub(crate) fn new(names: usize, head: &[&str]) -> Self {
        Self {
            names,
            rows: vec![head.iter().map(ToString::to_string).collect()],
        }
    }

    /// Adds a row; a shorter one leaves its last columns empty.
    pub(crate) fn row(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The table as text that fits a terminal so wide: lines as in [`Self::render`] where they fit, else a paragraph for each row, a
    /// line for each of its cells.
    pub(crate) fn fit(&self, width: Option<usize>) -> String {
        let table = self.render();
        let Some(width) = width else {
            return table;
        };
        if table.lines().all(|line| line.chars().count() <= width) {
            return table;
        }
        let [head, rows @ ..] = &self.rows[..] else {
            return table;
        };
        let mut out = String::new();
        for row in rows {
            let cells = head.iter().zip(row).enumerate();
            for (column, (name, cell)) in cells.filter(|(_, (_, cell))| !cell.is_empty()) {
                match (column, name.as_str()) {
                    (0, _) => out.push_str(cell),
                    (_, "") => out.push_str(&format!("  {cell}")),
                    (_, name) => out.push_str(&format!("  {name}: {cell}")),
                }
                out.push('\n');
            }
        }
        fold(&out, Some(width))
    }

    /// The table as text, each line ended, two blanks between columns, no blanks at line ends.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| cell.chars().count())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    line.push_str("  ");
                }
                let pad = " ".repeat(widths[column] - cell.chars().count());
                if column < self.names || column + 1 == columns {
                    // Names at the beginning and remarks at the end read from the left.
                    line.push_str(cell);
                    line.push_str(&pad);
                } else {
                    line.push_str(&pad);
                    line.push_str(cell);
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}
