//! The same drawing as PDF, for papers: a page as large as the figure, with the Helvetica that every reader brings.
//!
//! Only what [`Svg`](super::Svg) draws: lines, polygons, circles, rectangles and text in solid colours, some of them let through.

use std::fmt::Write as _;

use super::{Anchor, Paint, Stroke, coordinate};

/// Advance widths of the printable ASCII characters of Helvetica, in thousandths of its size.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// What to draw, in the order of drawing; y runs down, as in SVG.
#[derive(Debug, Clone, Default)]
pub(super) struct Content(String);

/// A character of WinAnsi, which the base fonts have; what it lacks becomes the nearest.
fn win_ansi(c: char) -> u8 {
    match c {
        ' '..='~' => c as u8,
        '\u{2212}' | '\u{2013}' => 0x96,
        '\u{2014}' => 0x97,
        '\u{2019}' => 0x92,
        '\u{2018}' => 0x91,
        '\u{201c}' => 0x93,
        '\u{201d}' => 0x94,
        '\u{2026}' => 0x85,
        '\u{a0}' => b' ',
        '\u{2192}' => b'>',
        '\u{2265}' | '\u{2264}' => b'=',
        '\u{a1}'..='\u{ff}' => c as u8,
        _ => b'?',
    }
}

/// How wide the text will be.
fn width(text: &[u8], size: f64) -> f64 {
    let advance = |&c: &u8| {
        let at = usize::from(c).wrapping_sub(0x20);
        f64::from(HELVETICA.get(at).copied().unwrap_or(556))
    };
    text.iter().map(advance).sum::<f64>() * size / 1000.0
}

fn colour(paint: Paint) -> String {
    let hex = paint.light().trim_start_matches('#');
    let part = |at: usize| {
        let byte = hex.get(at..at + 2);
        byte.and_then(|byte| u8::from_str_radix(byte, 16).ok())
            .unwrap_or(0)
    };
    let parts = [part(0), part(2), part(4)].map(|x| format!("{:.3}", f64::from(x) / 255.0));
    parts.join(" ")
}

/// The graphics state for an opacity: tenths.
fn state(opacity: f64) -> u32 {
    (opacity * 10.0).round().clamp(1.0, 10.0) as u32
}

impl Content {
    fn stroke(&mut self, stroke: Stroke) {
        let dash = match stroke.dash {
            "" => "[] 0 d".to_string(),
            dash => format!("[{dash}] 0 d"),
        };
        let width = coordinate(stroke.width);
        let _ = writeln!(self.0, "{} RG {width} w {dash}", colour(stroke.paint));
    }

    fn path(&mut self, points: &[(f64, f64)]) {
        for (i, &(x, y)) in points.iter().enumerate() {
            let how = if i == 0 { 'm' } else { 'l' };
            let _ = write!(self.0, "{} {} {how} ", coordinate(x), coordinate(y));
        }
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        self.stroke(stroke);
        self.path(points);
        self.0.push_str("S\n");
    }

    /// A closed shape: filled, and with an outline where there is one.
    pub(super) fn shape(
        &mut self,
        points: &[(f64, f64)],
        fill: (Paint, f64),
        outline: Option<Stroke>,
    ) {
        let _ = writeln!(self.0, "q /O{} gs {} rg", state(fill.1), colour(fill.0));
        if let Some(stroke) = outline {
            self.stroke(stroke);
        }
        self.path(points);
        self.0.push_str(match outline {
            Some(_) => "b Q\n",
            None => "h f Q\n",
        });
    }

    pub(super) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        size: f64,
        paint: Paint,
        bold: bool,
        text: &str,
    ) {
        let bytes: Vec<u8> = text.chars().map(win_ansi).collect();
        let wide = width(&bytes, size);
        let x = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - wide / 2.0,
            Anchor::End => x - wide,
        };
        let mut hex = String::new();
        for byte in bytes {
            let _ = write!(hex, "{byte:02x}");
        }
        let font = if bold { "F2" } else { "F1" };
        let [x, y, size] = [x, y, size].map(coordinate);
        // Twice: an outline of paper that keeps grid lines out of the letters, then the letters.
        let _ = writeln!(
            self.0,
            "BT /{font} {size} Tf 1 0 0 -1 {x} {y} Tm 1 Tr 1 j {} RG 3 w [] 0 d <{hex}> Tj ET",
            colour(Paint::PAPER)
        );
        let _ = writeln!(
            self.0,
            "BT /{font} {size} Tf 1 0 0 -1 {x} {y} Tm 0 Tr {} rg <{hex}> Tj ET",
            colour(paint)
        );
    }

    /// The whole file: one page of so many points.
    pub(super) fn file(&self, width: f64, height: f64, title: &str) -> Vec<u8> {
        let [w, h] = [width, height].map(coordinate);
        let content = format!("1 0 0 -1 0 {h} cm\n{}", self.0);
        let states: String = (1..=10)
            .map(|n| format!("/O{n} << /ca {} >> ", f64::from(n) / 10.0))
            .collect();
        let title: String = title
            .chars()
            .map(|c| format!("{:02x}", win_ansi(c)))
            .collect();
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_string(),
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {w} {h}] /Contents 4 0 R /Resources << /ExtGState << {states}>> \
                 /Font << /F1 5 0 R /F2 6 0 R >> >> >>"
            ),
            format!(
                "<< /Length {} >>\nstream\n{content}endstream",
                content.len()
            ),
            font("Helvetica"),
            font("Helvetica-Bold"),
            format!("<< /Title <{title}> /Producer (covey) >>"),
        ];
        let mut out = String::from("%PDF-1.4\n");
        let mut offsets = Vec::new();
        for (number, object) in (1..).zip(&objects) {
            offsets.push(out.len());
            let _ = write!(out, "{number} 0 obj\n{object}\nendobj\n");
        }
        let table = out.len();
        let _ = write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for offset in offsets {
            let _ = writeln!(out, "{offset:010} 00000 n ");
        }
        let _ = write!(
            out,
            "trailer\n<< /Size {} /Root 1 0 R /Info 7 0 R >>\nstartxref\n{table}\n%%EOF\n",
            objects.len() + 1
        );
        out.into_bytes()
    }
}

fn font(name: &str) -> String {
    format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>")
}
