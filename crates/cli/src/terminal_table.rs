//! Tables for people: aligned columns of text.

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
