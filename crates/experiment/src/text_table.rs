//! Tables for people to read: heads and rows of text, as HTML for the report or as Markdown for documents.

use crate::markup::escape;

/// Rows of plain text under heads. Whatever a cell holds, it cannot end its cell or begin a tag.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextTable {
    head: Vec<String>,
    /// Which columns hold figures: flush right.
    figures: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Columns by head; a head that begins with `#` is a column of figures.
    pub(crate) fn new<T: AsRef<str>>(head: &[T]) -> Self {
        let heads = || head.iter().map(AsRef::as_ref);
        Self {
            head: heads()
                .map(|text| text.trim_start_matches('#').to_string())
                .collect(),
            figures: heads().map(|text| text.starts_with('#')).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    /// As Markdown, the head even where there are no rows.
    pub(crate) fn markdown(&self) -> String {
        let mut text = markdown_row(&self.head);
        for figures in &self.figures {
            text.push_str(if *figures { "|---:" } else { "|---" });
        }
        text.push_str("|\n");
        for row in &self.rows {
            text.push_str(&markdown_row(row));
        }
        text
    }

    /// As HTML, nothing where there are no rows; on narrow screens each row becomes a block with the heads as labels.
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

    /// As HTML behind a line that opens it.
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

fn markdown_row(cells: &[String]) -> String {
    let mut text = String::new();
    for cell in cells {
        let cell = cell.replace('|', "\\|").replace('<', "&lt;");
        text.push_str("| ");
        text.push_str(&cell.replace(['\n', '\r'], " "));
        text.push(' ');
    }
    text.push_str("|\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_escapes_everything() {
        let mut table = TextTable::new(&["arm", "#<load>"]);
        table.row(vec!["<b>".to_string(), "1 & 2".to_string()]);
        assert_eq!(
            table.html(),
            "<table><thead><tr><th scope=\"col\">arm</th><th scope=\"col\" class=\"n\">&lt;load&gt;</th></tr></thead><tbody>\n\
             <tr><th scope=\"row\">&lt;b&gt;</th><td class=\"n\" data-label=\"&lt;load&gt;\">1 &amp; 2</td></tr>\n\
             </tbody></table>\n"
        );
        assert_eq!(TextTable::new(&["x"]).folded("values"), "");
    }

    #[test]
    fn a_cell_cannot_end_its_table() {
        let mut table = TextTable::new(&["arm", "#load"]);
        table.row(["a|b\n<i>".to_string(), "1".to_string()]);
        assert_eq!(
            table.markdown(),
            "| arm | load |\n|---|---:|\n| a\\|b &lt;i> | 1 |\n"
        );
    }
}
