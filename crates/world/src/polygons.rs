//! Reads buildings out of SUMO's `.poly.xml`.
//!
//! Which polygons are buildings, and how high, is a documented rule with options ([`BuildingRule`]). Everything else is left
//! out and counted.

use std::io::BufRead;
use std::path::Path;

use crate::geometry::Point;
use crate::map_error::{MapError, WarningKind, Warnings};
use crate::network::{Building, Location};
use crate::projection::{LonLat, Projection, ProjectionError};
use crate::xml::{Element, Elements, Limits, Node};

/// Which polygons are buildings, and how high they are.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildingRule {
    /// A polygon is a building if its `type` begins with one of these, whatever the case; `building` unless told
    /// otherwise, so `building`, `building.yes` and `Building` all count.
    pub type_prefixes: Vec<String>,
    /// Height in metres where the file gives none; 15 unless told otherwise, the median of the frontage of an inner-city
    /// main road (`scenarios/tamagawa/PROVENANCE.md`).
    pub default_height: f64,
    /// Metres per storey where the file gives only storeys; 3 unless told otherwise, as in OpenStreetMap practice.
    pub storey_height: f64,
}

impl Default for BuildingRule {
    fn default() -> Self {
        Self {
            type_prefixes: vec!["building".to_owned()],
            default_height: 15.0,
            storey_height: 3.0,
        }
    }
}

impl BuildingRule {
    fn holds(&self, kind: &str) -> bool {
        self.type_prefixes.iter().any(|prefix| {
            kind.get(..prefix.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        })
    }
}

/// Corners nearer to each other than this are one, in metres.
const SAME_CORNER: f64 = 0.01;
/// Buildings of less area than this are left out, in square metres.
const LEAST_AREA: f64 = 0.01;
/// Higher than anything built; larger figures are taken for errors.
const MOST_HEIGHT: f64 = 2000.0;

/// A `<poly>` that is being read.
struct Open {
    line: u64,
    outline: Vec<Point>,
    height: Option<Height>,
    unread: bool,
}

/// A height, by the trust that its source earns: own height first, then storeys.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Height {
    Storeys(f64),
    Attribute(f64),
    Metres(f64),
}

/// Reads the buildings of the file at `path`. The net's `location` is needed for polygons in longitude and latitude.
///
/// # Errors
/// If the file cannot be read or is damaged; the error names file and line.
pub fn read_buildings(
    path: &Path,
    rule: &BuildingRule,
    location: Option<&Location>,
    limits: Limits,
    warnings: &mut Warnings,
) -> Result<Vec<Building>, MapError> {
    read(Elements::open(path, limits)?, rule, location, warnings)
}

/// Reads buildings from `reader`, called `name` in messages; for files in memory, tests and fuzzing.
///
/// # Errors
/// As [`read_buildings`].
pub fn read_buildings_from(
    name: &str,
    reader: impl BufRead,
    rule: &BuildingRule,
    location: Option<&Location>,
    limits: Limits,
    warnings: &mut Warnings,
) -> Result<Vec<Building>, MapError> {
    read(
        Elements::new(name, reader, limits)?,
        rule,
        location,
        warnings,
    )
}

fn read<R: BufRead>(
    mut elements: Elements<R>,
    rule: &BuildingRule,
    location: Option<&Location>,
    warnings: &mut Warnings,
) -> Result<Vec<Building>, MapError> {
    let file = elements.file().to_owned();
    // A projection that is not understood matters only if a polygon needs it.
    let projection = location.map_or(Ok(None), Projection::new);
    let mut buildings = Vec::new();
    let mut open: Option<Open> = None;
    let mut depth = 0_usize;
    // The depth of the open <poly>.
    let mut poly_depth = 0;
    let mut seen_root = false;
    loop {
        match elements.next()? {
            Node::Open(element) => {
                depth = element.depth;
                seen_root = true;
                match element.name() {
                    "poly" | "polygon" if open.is_none() => {
                        open = polygon(&element, rule, &projection, warnings)?;
                        poly_depth = depth;
                    }
                    "param" => {
                        if let Some(open) = &mut open {
                            parameter(&element, rule, open)?;
                        }
                    }
                    "location" => check_offset(&element, location, warnings)?,
                    _ => {}
                }
            }
            Node::Close => {
                if depth == poly_depth
                    && let Some(open) = open.take()
                {
                    buildings.extend(finish(open, rule, &file, warnings));
                }
                depth = depth.saturating_sub(1);
            }
            Node::End => break,
        }
    }
    if !seen_root {
        return Err(MapError::Syntax {
            file,
            line: 1,
            problem: "there is no element".to_owned(),
        });
    }
    Ok(buildings)
}

fn check_offset(
    element: &Element<'_>,
    location: Option<&Location>,
    warnings: &mut Warnings,
) -> Result<(), MapError> {
    if let (Some(points), Some(location)) = (element.points("netOffset")?, location)
        && let Some(offset) = points.first()
        && offset.distance(location.offset) > SAME_CORNER
    {
        warnings.add(WarningKind::OtherOffset, "", element.file, element.line);
    }
    Ok(())
}

fn polygon(
    element: &Element<'_>,
    rule: &BuildingRule,
    projection: &Result<Option<Projection>, ProjectionError>,
    warnings: &mut Warnings,
) -> Result<Option<Open>, MapError> {
    let kind = element.text("type")?.unwrap_or_default();
    if !rule.holds(&kind) {
        warnings.add(WarningKind::OtherPolygon, &kind, element.file, element.line);
        return Ok(None);
    }
    let mut outline = element
        .points("shape")?
        .ok_or_else(|| element.missing("shape", "the outline as points \"x,y x,y\""))?;
    if element.flag("geo")? {
        let projection = match projection {
            Ok(Some(projection)) => projection,
            Err(source) => {
                return Err(MapError::Projection {
                    file: element.file.to_owned(),
                    source: source.clone(),
                });
            }
            Ok(None) => {
                return Err(MapError::NoProjection {
                    file: element.file.to_owned(),
                    line: element.line,
                    element: element.label(),
                });
            }
        };
        for point in &mut outline {
            let place = LonLat {
                lon: point.x,
                lat: point.y,
            };
            *point = projection.to_map(place).map_err(|_| {
                element.bad(
                    "shape",
                    &format!("{},{}", place.lon, place.lat),
                    "longitudes and latitudes in degrees within the net's projection",
                )
            })?;
        }
    }
    let mut open = Open {
        line: element.line,
        outline,
        height: None,
        unread: false,
    };
    if let Some(text) = element.text("height")? {
        open.take(metres(&text).map(Height::Attribute));
    }
    Ok(Some(open))
}

fn parameter(element: &Element<'_>, rule: &BuildingRule, open: &mut Open) -> Result<(), MapError> {
    let (Some(key), Some(value)) = (element.text("key")?, element.text("value")?) else {
        return Ok(());
    };
    match key.as_ref() {
        "height" | "building:height" => open.take(metres(&value).map(Height::Metres)),
        "building:levels" => open.take(
            metres(&value)
                .map(|storeys| storeys * rule.storey_height)
                .map(Height::Storeys),
        ),
        _ => {}
    }
    Ok(())
}

impl Open {
    fn take(&mut self, height: Option<Height>) {
        match height {
            None => self.unread = true,
            Some(height) if self.height.is_none_or(|known| known < height) => {
                self.height = Some(height);
            }
            Some(_) => {}
        }
    }
}

/// A height as OpenStreetMap writes it: `12`, `12.5 m`, `40'`, or none if it makes no sense.
fn metres(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let metres = match text[end..].trim() {
        "" | "m" | "metres" | "meters" => number,
        "'" | "ft" => number * 0.3048,
        _ => return None,
    };
    (metres > 0.0 && metres <= MOST_HEIGHT).then_some(metres)
}

/// The building, its corners counter-clockwise and without repetitions; none if nothing is left of it.
fn finish(
    open: Open,
    rule: &BuildingRule,
    file: &str,
    warnings: &mut Warnings,
) -> Option<Building> {
    let mut outline = open.outline;
    outline.dedup_by(|a, b| a.distance(*b) < SAME_CORNER);
    while outline.len() > 1 && outline[0].distance(outline[outline.len() - 1]) < SAME_CORNER {
        outline.pop();
    }
    let area = signed_area(&outline);
    if outline.len() < 3 || area.abs() < LEAST_AREA {
        warnings.add(WarningKind::FlatBuilding, "", file, open.line);
        return None;
    }
    if area < 0.0 {
        outline.reverse();
    }
    let height = match open.height {
        Some(Height::Metres(metres) | Height::Attribute(metres) | Height::Storeys(metres)) => {
            metres
        }
        None => {
            if open.unread {
                warnings.add(WarningKind::UnreadHeight, "", file, open.line);
            }
            rule.default_height
        }
    };
    Some(Building { outline, height })
}

/// The area within the corners, positive if they run counter-clockwise.
fn signed_area(corners: &[Point]) -> f64 {
    let Some(&origin) = corners.first() else {
        return 0.0;
    };
    // Relative to a corner, so that large map coordinates do not drown a small building.
    corners
        .windows(2)
        .map(|pair| (pair[0] - origin).cross(pair[1] - origin))
        .sum::<f64>()
        / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(
        text: &str,
        location: Option<&Location>,
    ) -> Result<(Vec<Building>, Warnings), MapError> {
        let mut warnings = Warnings::default();
        let buildings = read_buildings_from(
            "test.poly.xml",
            text.as_bytes(),
            &BuildingRule::default(),
            location,
            Limits::default(),
            &mut warnings,
        )?;
        Ok((buildings, warnings))
    }

    fn heights(text: &str) -> Vec<f64> {
        let (buildings, _) = read_text(text, None).unwrap();
        buildings.iter().map(|building| building.height).collect()
    }

    #[test]
    fn buildings_are_chosen_by_type_and_turned_counter_clockwise() {
        let (buildings, warnings) = read_text(
            r#"<additional>
                <poly id="a" type="building" shape="0,0 0,10 10,10 10,0 0,0"/>
                <poly id="b" type="Building.Yes" shape="0,0 10,0 10,10 0,10"/>
                <poly id="c" type="natural.water" shape="0,0 10,0 10,10"/>
                <poly id="d" type="building" shape="0,0 10,0 0,0"/>
                <poly id="e" type="building" shape="0,0,3 10,0,3 20,0,3"/>
                <poi id="p" x="1" y="1"/>
            </additional>"#,
            None,
        )
        .unwrap();
        let corners = vec![
            Point::new(10.0, 0.0),
            Point::new(10.0, 10.0),
            Point::new(0.0, 10.0),
            Point::new(0.0, 0.0),
        ];
        assert_eq!(buildings.len(), 2);
        assert_eq!(buildings[0].outline, corners);
        assert_eq!(buildings[1].outline.len(), 4);
        assert_eq!(warnings.count(WarningKind::OtherPolygon), 1);
        assert_eq!(warnings.count(WarningKind::FlatBuilding), 2);
    }

    #[test]
    fn heights_come_from_metres_then_storeys_then_the_default() {
        let text = r#"<additional>
            <poly id="1" type="building" shape="0,0 9,0 0,9"><param key="height" value="12.5 m"/><param key="building:levels" value="9"/></poly>
            <poly id="2" type="building" shape="0,0 9,0 0,9"><param key="building:levels" value="4"/></poly>
            <poly id="3" type="building" height="18.2" shape="0,0 9,0 0,9"/>
            <poly id="4" type="building" shape="0,0 9,0 0,9"/>
            <poly id="5" type="building" shape="0,0 9,0 0,9"><param key="height" value="about ten"/></poly>
            <poly id="6" type="building" shape="0,0 9,0 0,9"><param key="building:height" value="100'"/></poly>
        </additional>"#;
        assert_eq!(heights(text), vec![12.5, 12.0, 18.2, 15.0, 15.0, 30.48]);
        let (_, warnings) = read_text(text, None).unwrap();
        assert_eq!(warnings.count(WarningKind::UnreadHeight), 1);
    }

    #[test]
    fn longitude_and_latitude_need_the_projection_of_the_net() {
        let text = r#"<additional><poly id="a" type="building" geo="1"
            shape="141.0,0.0 141.001,0.0 141.0,0.001"/></additional>"#;
        let location = Location {
            projection: "+proj=utm +zone=54 +datum=WGS84 +units=m +no_defs".to_owned(),
            offset: Point::new(-500_000.0, 7.0),
        };
        let (buildings, _) = read_text(text, Some(&location)).unwrap();
        assert!(buildings[0].outline[0].distance(Point::new(0.0, 7.0)) < 0.01);
        let error = read_text(text, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "test.poly.xml, line 1: <poly id=\"a\"> is given by longitude and latitude (geo=\"true\"), but the net has no \
             projection; write the polygons in map coordinates with polyconvert"
        );
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        let error = |text: &str| read_text(text, None).unwrap_err().to_string();
        let nan = error(
            "<additional>\n<poly id=\"n\" type=\"building\" shape=\"0,0 nan,1 2,2\"/></additional>",
        );
        assert!(
            nan.starts_with("test.poly.xml, line 2: <poly id=\"n\">: `shape` is \"nan,1\""),
            "{nan}"
        );
        let cut = error("<additional>\n<poly id=\"n\" type=\"building\" shape=\"0,0");
        assert!(
            cut.starts_with("test.poly.xml, line 2: not well-formed XML"),
            "{cut}"
        );
        let bare = error("<additional><poly id=\"n\" type=\"building\"/></additional>");
        assert!(bare.contains("has no `shape`"), "{bare}");
        assert!(error("").contains("there is no element"));
    }
}
