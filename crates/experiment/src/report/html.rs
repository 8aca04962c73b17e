//! Pieces of the page: text and tables. Whatever comes in is escaped here.

use super::draw::escape;

/// A table; on narrow screens each row becomes a block with the heads as labels.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    head: Vec<String>,
    /// Which columns hold figures.
    figures: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Columns by head; a head that begins with `#` is a column of figures.
    pub(crate) fn new(head: &[&str]) -> Self {
        Self {
            head: head
                .iter()
                .map(|text| text.trim_start_matches('#').to_string())
                .collect(),
            figures: head.iter().map(|text| text.starts_with('#')).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut html = String::from("<table><thead><tr>");
        for (text, figures) in self.head.iter().zip(&self.figures) {
            html.push_str(&format!(
                "<th scope=\"col\"{}>{}</th>",
                class(*figures),
                escape(text)
            ));
        }
        html.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (i, cell) in row.iter().enumerate() {
                let head = self.head.get(i).map_or("", String::as_str);
                let figures = self.figures.get(i).copied().unwrap_or(false);
                // An interval does not break inside its brackets.
                let cell = &if figures {
                    cell.replace(", ", ",\u{a0}")
                } else {
                    cell.clone()
                };
                if i == 0 {
                    html.push_str(&format!("<th scope=\"row\">{}</th>", escape(cell)));
                } else {
                    html.push_str(&format!(
                        "<td{} data-label=\"{}\">{}</td>",
                        class(figures),
                        escape(head),
                        escape(cell)
                    ));
                }
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table>\n");
        html
    }

    /// The table behind a line that opens it.
    pub(crate) fn folded(&self, summary: &str) -> String {
        let table = self.html();
        if table.is_empty() {
            return table;
        }
        format!(
            "<details><summary>{}</summary>\n{table}</details>\n",
            escape(summary)
        )
    }
}

fn class(figures: bool) -> &'static str {
    if figures { " class=\"n\"" } else { "" }
}

/// A paragraph of plain text.
pub(crate) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_escapes_everything() {
        let mut table = Table::new(&["arm", "#<load>"]);
        table.row(vec!["<b>".to_string(), "1 & 2".to_string()]);
        assert_eq!(
            table.html(),
            "<table><thead><tr><th scope=\"col\">arm</th><th scope=\"col\" class=\"n\">&lt;load&gt;</th></tr></thead><tbody>\n\
             <tr><th scope=\"row\">&lt;b&gt;</th><td class=\"n\" data-label=\"&lt;load&gt;\">1 &amp; 2</td></tr>\n\
             </tbody></table>\n"
        );
        assert_eq!(Table::new(&["x"]).folded("values"), "");
    }
}
