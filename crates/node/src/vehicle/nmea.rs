//! NMEA 0183: positions as a GNSS receiver writes them.
//!
//! `RMC` (place, speed, course) is what is used; of `VTG` and `GGA` only that they are no errors. Talkers may be any (`GP`, `GN`, …).

/// A position that a receiver told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fix {
    /// Degrees, north positive.
    pub latitude: f64,
    /// Degrees, east positive.
    pub longitude: f64,
    /// m/s.
    pub speed: f64,
    /// Degrees clockwise from north; none while standing.
    pub course: Option<f64>,
    /// Unix time in milliseconds, where date and time are told.
    pub unix_ms: Option<i64>,
}

/// Why a line is no sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NmeaError {
    /// It does not begin with `$` or `!`, or is too long.
    #[error("found no NMEA sentence, expected `$TALKERTYPE,…*HH`")]
    NoSentence,
    /// The checksum is wrong.
    #[error("found checksum {found:02X}, expected {expected:02X}")]
    Checksum {
        /// What the line says.
        found: u8,
        /// What its letters give.
        expected: u8,
    },
    /// A field of an RMC sentence is none.
    #[error("RMC: found {found:?} as {field}")]
    Field {
        /// Which.
        field: &'static str,
        /// What there is.
        found: String,
    },
}

/// Reads a line. Gives nothing for sentences of other types, and for positions marked invalid.
///
/// # Errors
/// It is no sentence, or damaged.
pub fn read(line: &str) -> Result<Option<Fix>, NmeaError> {
    let line = line.trim();
    let body = line
        .strip_prefix(['$', '!'])
        .filter(|body| body.len() <= 200 && body.is_ascii())
        .ok_or(NmeaError::NoSentence)?;
    let body = match body.split_once('*') {
        None => body,
        Some((body, sum)) => {
            let expected = body.bytes().fold(0, |sum, byte| sum ^ byte);
            let found = u8::from_str_radix(sum, 16).map_err(|_| NmeaError::NoSentence)?;
            if found != expected {
                return Err(NmeaError::Checksum { found, expected });
            }
            body
        }
    };
    let fields: Vec<&str> = body.split(',').collect();
    if fields[0].len() != 5 {
        return match fields[0].is_empty() {
            true => Err(NmeaError::NoSentence),
            false => Ok(None),
        };
    }
    if !fields[0].ends_with("RMC") {
        return Ok(None);
    }
    let field = |at: usize| fields.get(at).copied().unwrap_or("");
    if field(2) != "A" {
        return Ok(None);
    }
    let wrong = |name, at: usize| NmeaError::Field {
        field: name,
        found: field(at).chars().take(20).collect(),
    };
    let latitude = angle(field(3), field(4), ["N", "S"], 90.0);
    let longitude = angle(field(5), field(6), ["E", "W"], 180.0);
    let knots = field(7)
        .parse::<f64>()
        .ok()
        .filter(|k| (0.0..1_000.0).contains(k));
    let course = field(8)
        .parse::<f64>()
        .ok()
        .filter(|c| (0.0..=360.0).contains(c));
    Ok(Some(Fix {
        latitude: latitude.ok_or_else(|| wrong("latitude", 3))?,
        longitude: longitude.ok_or_else(|| wrong("longitude", 5))?,
        speed: knots.ok_or_else(|| wrong("speed", 7))? * 1_852.0 / 3_600.0,
        course,
        unix_ms: unix_millis(field(1), field(9)),
    }))
}

/// `ddmm.mmmm` and a direction, in degrees.
fn angle(text: &str, side: &str, sides: [&str; 2], most: f64) -> Option<f64> {
    let point = text.find('.').unwrap_or(text.len());
    let (degrees, minutes) = text.split_at_checked(point.checked_sub(2)?)?;
    let degrees: f64 = if degrees.is_empty() {
        0.0
    } else {
        f64::from(degrees.parse::<u16>().ok()?)
    };
    let minutes: f64 = minutes.parse().ok().filter(|m| (0.0..60.0).contains(m))?;
    let value = degrees + minutes / 60.0;
    let sign = match side {
        _ if side == sides[0] => 1.0,
        _ if side == sides[1] => -1.0,
        _ => return None,
    };
    (value <= most).then_some(sign * value)
}

/// `hhmmss.ss` and `ddmmyy` as Unix time.
fn unix_millis(time: &str, date: &str) -> Option<i64> {
    let two = |text: &str, at: usize| text.get(at..at + 2)?.parse::<i64>().ok();
    let (hour, minute) = (two(time, 0)?, two(time, 2)?);
    let seconds: f64 = time.get(4..)?.parse().ok()?;
    let (day, month, year) = (two(date, 0)?, two(date, 2)?, 2_000 + two(date, 4)?);
    let inside = hour < 24
        && minute < 60
        && (0.0..61.0).contains(&seconds)
        && (1..=31).contains(&day)
        && (1..=12).contains(&month);
    if !inside {
        return None;
    }
    Some(
        (days(year, month, day) * 86_400 + hour * 3_600 + minute * 60) * 1_000
            + (seconds * 1_000.0).round() as i64,
    )
}

/// Days since 1970 of a date (Hinnant's `days_from_civil`).
pub(crate) fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_sentence_is_read() {
        // The usual example of the format.
        let line = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A";
        let fix = read(line).unwrap().unwrap();
        assert!(
            (fix.latitude - 48.1173).abs() < 1e-9 && (fix.longitude - 11.516_666_666).abs() < 1e-8
        );
        assert!((fix.speed - 11.5235).abs() < 1e-3, "{fix:?}");
        assert_eq!(fix.course, Some(84.4));
        // Two digits of a year: 2094.
        assert_eq!(fix.unix_ms, Some(3_920_186_119_000));
        let south = read("$GNRMC,000000.50,A,3352.00,S,15112.00,W,0.0,,010126,,,A")
            .unwrap()
            .unwrap();
        assert!(south.latitude < 0.0 && south.longitude < 0.0 && south.course.is_none());
        assert_eq!(south.unix_ms, Some(1_767_225_600_500));
    }

    #[test]
    fn other_sentences_are_passed_over_and_damage_is_named() {
        assert_eq!(
            read("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47"),
            Ok(None)
        );
        assert_eq!(read("$GPRMC,123519,V,,,,,,,230394,,"), Ok(None), "no fix");
        let error = read("$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6B");
        assert_eq!(
            error,
            Err(NmeaError::Checksum {
                found: 0x6B,
                expected: 0x6A
            })
        );
        for bad in [
            "",
            "hello",
            "$",
            "$GPRMC,1,A,48é,N",
            "$GPRMC,123519,A,9907.038,N,01131.000,E,0,0,230394,,",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
