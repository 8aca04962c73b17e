//! Drawing: SVG written by hand, small enough to read.
//!
//! Guarantees: the same calls give the same bytes; every text is escaped; no coordinate is ever `NaN`; every colour is one of
//! [`Paint`], given twice: as a plain attribute for programs that know no style sheets, and as a class whose variable follows
//! the reader's colour scheme.

mod axis;
mod paint;
mod pdf;
mod text;

use crate::markup::escape;
pub(crate) use axis::{Panel, Scale, plain};
pub(crate) use paint::{Look, Paint, Shape, css};
pub(crate) use text::width;

/// Size of ordinary text in a figure, in units of the view box.
pub(crate) const TEXT: f64 = 12.0;
/// Size of small text.
pub(crate) const SMALL: f64 = 11.0;

/// Where a text sits relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line's colour, width and dashes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) paint: Paint,
    pub(crate) width: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub(crate) dash: &'static str,
}

impl Stroke {
    pub(crate) const fn solid(paint: Paint, width: f64) -> Self {
        Self {
            paint,
            width,
            dash: "",
        }
    }

    pub(crate) const fn dashed(paint: Paint, width: f64, dash: &'static str) -> Self {
        Self { paint, width, dash }
    }
}

/// A drawing in the making.
#[derive(Debug, Clone)]
pub(crate) struct Svg {
    pub(crate) width: f64,
    pub(crate) height: f64,
    body: String,
    /// The same for PDF.
    pdf: pdf::Content,
}

/// A number as a coordinate: at most two decimals, no trailing zeros, never anything but a number.
pub(crate) fn coordinate(x: f64) -> String {
    if !x.is_finite() {
        return "0".to_string();
    }
    let mut text = format!("{x:.2}");
    while text.ends_with('0') {
        text.pop();
    }
    if text.ends_with('.') {
        text.pop();
    }
    if text == "-0" {
        text.remove(0);
    }
    text
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: String::new(),
            pdf: pdf::Content::default(),
        }
    }

    fn push(&mut self, parts: &[&str]) {
        for part in parts {
            self.body.push_str(part);
        }
        self.body.push('\n');
    }

    pub(crate) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), stroke: Stroke) {
        self.pdf.line(&[(x1, y1), (x2, y2)], stroke);
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(coordinate);
        let style = style(None, Some(stroke));
        self.push(&[
            "<line x1=\"",
            &x1,
            "\" y1=\"",
            &y1,
            "\" x2=\"",
            &x2,
            "\" y2=\"",
            &y2,
            "\"",
            &style,
            "/>",
        ]);
    }

    /// Straight pieces through all points.
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        if points.len() < 2 {
            return;
        }
        self.pdf.line(points, stroke);
        let style = style(None, Some(stroke));
        self.push(&[
            "<polyline fill=\"none\" stroke-linejoin=\"round\" points=\"",
            &point_list(points),
            "\"",
            &style,
            "/>",
        ]);
    }

    /// A filled shape without outline.
    pub(crate) fn polygon(&mut self, points: &[(f64, f64)], paint: Paint, opacity: f64) {
        self.pdf.shape(points, (paint, opacity), None);
        self.push(&[
            "<polygon points=\"",
            &point_list(points),
            "\"",
            &style(Some((paint, opacity)), None),
            "/>",
        ]);
    }

    pub(crate) fn rect(
        &mut self,
        (x, y): (f64, f64),
        (w, h): (f64, f64),
        paint: Paint,
        opacity: f64,
    ) {
        let [w, h] = [w.max(0.0), h.max(0.0)];
        let corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)];
        self.pdf.shape(&corners, (paint, opacity), None);
        let [x, y, w, h] = [x, y, w, h].map(coordinate);
        self.push(&[
            "<rect x=\"",
            &x,
            "\" y=\"",
            &y,
            "\" width=\"",
            &w,
            "\" height=\"",
            &h,
            "\"",
            &style(Some((paint, opacity)), None),
            "/>",
        ]);
    }

    pub(crate) fn text(&mut self, at: (f64, f64), anchor: Anchor, size: f64, text: &str) {
        self.text_in(at, anchor, size, Paint::INK, false, text);
    }

    pub(crate) fn muted(&mut self, at: (f64, f64), anchor: Anchor, size: f64, text: &str) {
        self.text_in(at, anchor, size, Paint::MUTED, false, text);
    }

    pub(crate) fn bold(&mut self, at: (f64, f64), anchor: Anchor, size: f64, text: &str) {
        self.text_in(at, anchor, size, Paint::INK, true, text);
    }

    fn text_in(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        size: f64,
        paint: Paint,
        bold: bool,
        text: &str,
    ) {
        self.pdf.text((x, y), anchor, size, paint, bold, text);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let [x, y, size] = [x, y, size].map(coordinate);
        self.push(&[
            "<text x=\"",
            &x,
            "\" y=\"",
            &y,
            "\" font-size=\"",
            &size,
            "\"",
            anchor,
            if bold { " font-weight=\"600\"" } else { "" },
            // An outline of paper keeps grid lines out of the letters.
            " paint-order=\"stroke\" stroke-linejoin=\"round\"",
            &style(Some((paint, 1.0)), Some(Stroke::solid(Paint::PAPER, 3.0))),
            ">",
            &escape(text),
            "</text>",
        ]);
    }

    /// A marker: filled, or hollow with the paper showing through.
    pub(crate) fn marker(&mut self, at: (f64, f64), look: Look, radius: f64, hollow: bool) {
        let paint = Paint::of(look);
        let inside = if hollow { Paint::PAPER } else { paint };
        let corners = paint::corners(look.shape, at, radius);
        let outline = Some(Stroke::solid(paint, 1.6));
        self.pdf.shape(&corners, (inside, 1.0), outline);
        let style = style(Some((inside, 1.0)), Some(Stroke::solid(paint, 1.6)));
        let element = paint::shape(look.shape, at, radius);
        self.push(&[&element, &style, " stroke-linejoin=\"round\"/>"]);
    }

    /// A horizontal interval with caps.
    pub(crate) fn whisker_x(&mut self, lo: f64, hi: f64, y: f64, stroke: Stroke) {
        self.line((lo, y), (hi, y), stroke);
        for x in [lo, hi] {
            self.line((x, y - 3.5), (x, y + 3.5), stroke);
        }
    }

    /// A vertical interval with caps.
    pub(crate) fn whisker_y(&mut self, x: f64, lo: f64, hi: f64, stroke: Stroke) {
        self.line((x, lo), (x, hi), stroke);
        for y in [lo, hi] {
            self.line((x - 3.5, y), (x + 3.5, y), stroke);
        }
    }

    /// What `draw` draws, with a text that shows when a pointer rests on it.
    pub(crate) fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        self.push(&["<g><title>", &escape(title), "</title>"]);
        draw(self);
        self.push(&["</g>"]);
    }

    /// The element to stand in a page that has the style sheet; `class` says in which layouts it shows.
    pub(crate) fn inline(&self, label: &str, class: &str) -> String {
        self.element(label, &format!(" class=\"{class}\""), "")
    }

    /// A file of its own, with its style sheet and its paper.
    pub(crate) fn file(&self, label: &str) -> String {
        let mut paper = Self::new(self.width, self.height);
        paper.rect((0.0, 0.0), (self.width, self.height), Paint::PAPER, 1.0);
        let head = format!("<style>{}</style>\n{}", css(), paper.body);
        self.element(label, " xmlns=\"http://www.w3.org/2000/svg\"", &head)
    }

    /// The drawing as a PDF file, on light paper.
    pub(crate) fn pdf(&self, label: &str) -> Vec<u8> {
        self.pdf.file(self.width, self.height, label)
    }

    fn element(&self, label: &str, attributes: &str, head: &str) -> String {
        let [w, h] = [self.width, self.height].map(coordinate);
        let label = escape(label);
        format!(
            "<svg{attributes} viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" aria-label=\"{label}\" \
             font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n{head}{}</svg>\n",
            self.body
        )
    }
}

fn point_list(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|&(x, y)| format!("{},{}", coordinate(x), coordinate(y)))
        .collect();
    points.join(" ")
}

/// Colours as plain attributes and as classes.
fn style(fill: Option<(Paint, f64)>, stroke: Option<Stroke>) -> String {
    let mut attributes = String::new();
    let mut classes = Vec::new();
    if let Some((paint, opacity)) = fill {
        classes.push(format!("f-{}", paint.name()));
        attributes.push_str(&format!(" fill=\"{}\"", paint.light()));
        if opacity < 1.0 {
            attributes.push_str(&format!(" fill-opacity=\"{}\"", coordinate(opacity)));
        }
    }
    if let Some(stroke) = stroke {
        classes.push(format!("s-{}", stroke.paint.name()));
        attributes.push_str(&format!(
            " stroke=\"{}\" stroke-width=\"{}\"",
            stroke.paint.light(),
            coordinate(stroke.width)
        ));
        if !stroke.dash.is_empty() {
            attributes.push_str(&format!(" stroke-dasharray=\"{}\"", stroke.dash));
        }
    }
    format!(" class=\"{}\"{attributes}", classes.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_drawing_is_this_text() {
        let mut svg = Svg::new(60.0, 20.5);
        svg.line(
            (0.0, 1.0),
            (10.004, -0.001),
            Stroke::dashed(Paint::GRID, 1.2, "2 3"),
        );
        svg.titled("a < b: 1 % & more", |svg| {
            let look = Look::new(covey_simulator::arms::Paint::Blue, Shape::Circle);
            svg.marker((5.0, 5.0), look, 4.0, true);
            svg.rect((1.0, 2.0), (3.0, -4.0), Paint::SKY, 0.3);
        });
        svg.text((3.0, f64::NAN), Anchor::End, 11.0, "b=0.2");
        assert_eq!(
            svg.inline("two \"marks\"", "wide"),
            "<svg class=\"wide\" viewBox=\"0 0 60 20.5\" width=\"60\" height=\"20.5\" role=\"img\" \
             aria-label=\"two &quot;marks&quot;\" \
             font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n\
             <line x1=\"0\" y1=\"1\" x2=\"10\" y2=\"0\" class=\"s-grid\" stroke=\"#dfe3e8\" stroke-width=\"1.2\" stroke-dasharray=\"2 3\"/>\n\
             <g><title>a &lt; b: 1 % &amp; more</title>\n\
             <circle cx=\"5\" cy=\"5\" r=\"4\" class=\"f-paper s-blue\" fill=\"#ffffff\" stroke=\"#0072b2\" stroke-width=\"1.6\" stroke-linejoin=\"round\"/>\n\
             <rect x=\"1\" y=\"2\" width=\"3\" height=\"0\" class=\"f-sky\" fill=\"#56b4e9\" fill-opacity=\"0.3\"/>\n\
             </g>\n\
             <text x=\"3\" y=\"0\" font-size=\"11\" text-anchor=\"end\" paint-order=\"stroke\" stroke-linejoin=\"round\" \
             class=\"f-ink s-paper\" fill=\"#1b1f24\" stroke=\"#ffffff\" stroke-width=\"3\">b=0.2</text>\n\
             </svg>\n"
        );
    }

    #[test]
    fn a_file_brings_its_own_paper_and_both_colour_schemes() {
        let file = Svg::new(10.0, 10.0).file("empty");
        assert!(
            file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 10 10\"")
        );
        assert!(file.contains("<style>:root{--paper:#ffffff;"));
        assert!(
            file.contains("@media screen and (prefers-color-scheme:dark){:root{--paper:#15181c;")
        );
        assert!(file.contains("class=\"f-paper\" fill=\"#ffffff\"/>"));
    }
}
