//! Reads places out of SUMO's points of interest (`<poi>` in additional files): stations beside the road.

use std::io::BufRead;
use std::path::Path;

use crate::geometry::Point;
use crate::map_error::MapError;
use crate::xml::{Element, Elements, Limits, Node};

/// A point of interest.
#[derive(Debug, Clone, PartialEq)]
pub struct PointOfInterest {
    /// Its `id`.
    pub name: String,
    /// Where it is on the map.
    pub position: Point,
    /// `<param key="height" …/>`, in metres.
    pub height: Option<f64>,
    /// `<param key="range" …/>`, in metres.
    pub range: Option<f64>,
    /// `<param key="heading" …/>`, in degrees counter-clockwise from east.
    pub heading: Option<f64>,
}

/// Reads the points whose type begins with one of `prefixes`, whatever the case, in the order of the file.
///
/// # Errors
/// The file cannot be read or is damaged, or a point or one of its numbers is none; the error names file and line.
pub fn read_points(path: &Path, prefixes: &[&str]) -> Result<Vec<PointOfInterest>, MapError> {
    read(Elements::open(path, Limits::default())?, prefixes)
}

fn read<R: BufRead>(
    mut elements: Elements<R>,
    prefixes: &[&str],
) -> Result<Vec<PointOfInterest>, MapError> {
    let mut points: Vec<PointOfInterest> = Vec::new();
    // The depth of the point that is open.
    let mut open = None;
    let mut depth = 0;
    loop {
        match elements.next()? {
            Node::Open(element) => {
                depth = element.depth;
                match element.name() {
                    "poi" if is_wanted(&element, prefixes)? => {
                        points.push(point(&element)?);
                        open = Some(depth);
                    }
                    "param" if open.is_some() => {
                        if let Some(point) = points.last_mut() {
                            parameter(&element, point)?;
                        }
                    }
                    _ => {}
                }
            }
            Node::Close => {
                if open == Some(depth) {
                    open = None;
                }
                depth = depth.saturating_sub(1);
            }
            Node::End => return Ok(points),
        }
    }
}

fn is_wanted(element: &Element<'_>, prefixes: &[&str]) -> Result<bool, MapError> {
    let kind = element.text("type")?.unwrap_or_default();
    Ok(prefixes.iter().any(|prefix| {
        kind.get(..prefix.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
    }))
}

fn point(element: &Element<'_>) -> Result<PointOfInterest, MapError> {
    let expected = "the place on the map in metres";
    let coordinate = |name| {
        element
            .number(name, expected)?
            .ok_or_else(|| element.missing(name, expected))
    };
    Ok(PointOfInterest {
        name: element.required("id", "a name")?.into_owned(),
        position: Point::new(coordinate("x")?, coordinate("y")?),
        height: None,
        range: None,
        heading: None,
    })
}

fn parameter(element: &Element<'_>, point: &mut PointOfInterest) -> Result<(), MapError> {
    let key = element.text("key")?.unwrap_or_default();
    let field = match &*key {
        "height" => &mut point.height,
        "range" => &mut point.range,
        "heading" => &mut point.heading,
        _ => return Ok(()),
    };
    *field = element.number("value", "a number")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(content: &str) -> Result<Vec<PointOfInterest>, String> {
        let elements = Elements::new("rsu.add.xml", content.as_bytes(), Limits::default());
        read(elements.unwrap(), &["rsu"]).map_err(|error| error.to_string())
    }

    #[test]
    fn stations_are_points_of_their_type() {
        let points = read_text(
            "<additional><poi id=\"a\" type=\"RSU.pole\" x=\"1\" y=\"2\"><param key=\"height\" value=\"7.5\"/></poi>\n\
             <poi id=\"b\" type=\"shop\"/><param key=\"range\" value=\"3\"/><poi id=\"c\" type=\"rsu\" x=\"3\" y=\"4\"/></additional>",
        )
        .unwrap();
        assert_eq!(points.len(), 2);
        assert_eq!((points[0].height, points[0].range), (Some(7.5), None));
        assert_eq!(points[1].position, Point::new(3.0, 4.0));
    }

    #[test]
    fn a_point_without_a_place_is_named_with_its_line() {
        let error = read_text("<additional>\n<poi id=\"a\" type=\"rsu\" lon=\"1\"/></additional>");
        let error = error.unwrap_err();
        assert!(
            error.starts_with("rsu.add.xml, line 2: <poi id=\"a\"> has no `x`, expected the place"),
            "{error}"
        );
        let error = read_text(
            "<additional><poi id=\"a\" type=\"rsu\" x=\"1\" y=\"1\">\n<param key=\"height\" value=\"tall\"/></poi></additional>",
        );
        assert!(
            error
                .unwrap_err()
                .contains("line 2: <param>: `value` is \"tall\"")
        );
    }
}
