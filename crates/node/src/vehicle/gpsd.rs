//! Positions as gpsd tells them: JSON lines of class `TPV`.

use serde::Deserialize;

use super::nmea::{Fix, days};

/// What a client says first.
pub const WATCH: &str = "?WATCH={\"enable\":true,\"json\":true};\n";

#[derive(Deserialize)]
struct Tpv {
    class: String,
    mode: Option<u8>,
    time: Option<String>,
    lat: Option<f64>,
    lon: Option<f64>,
    track: Option<f64>,
    speed: Option<f64>,
}

/// Reads a line of gpsd. Gives nothing for other classes, and for a TPV without a place.
///
/// # Errors
/// It is no JSON object of gpsd.
pub fn read(line: &str) -> Result<Option<Fix>, String> {
    let tpv: Tpv = serde_json::from_str(line).map_err(|error| format!("gpsd: {error}"))?;
    if tpv.class != "TPV" || tpv.mode.unwrap_or(0) < 2 {
        return Ok(None);
    }
    let (Some(latitude), Some(longitude)) = (tpv.lat, tpv.lon) else {
        return Ok(None);
    };
    Ok(Some(Fix {
        latitude,
        longitude,
        speed: tpv.speed.unwrap_or(0.0).max(0.0),
        course: tpv.track,
        unix_ms: tpv.time.as_deref().and_then(unix_millis),
    }))
}

/// `2026-11-17T13:00:00.250Z` as Unix time.
fn unix_millis(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let seconds: f64 = text.get(17..)?.strip_suffix('Z')?.parse().ok()?;
    let date = days(number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let minutes = number(11, 13)? * 60 + number(14, 16)?;
    (0.0..61.0)
        .contains(&seconds)
        .then(|| (date * 86_400 + minutes * 60) * 1_000 + (seconds * 1_000.0).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tpv_is_a_fix_and_everything_else_is_not() {
        let line = r#"{"class":"TPV","device":"/dev/ttyACM0","mode":3,"time":"2026-11-17T13:00:00.250Z","ept":0.005,"lat":35.6123,"lon":139.6273,"altHAE":40.1,"track":271.5,"speed":8.33,"eph":3.1}"#;
        let fix = read(line).unwrap().unwrap();
        assert_eq!((fix.latitude, fix.longitude), (35.6123, 139.6273));
        assert_eq!((fix.speed, fix.course), (8.33, Some(271.5)));
        assert_eq!(fix.unix_ms, Some(1_794_920_400_250));
        assert_eq!(read(r#"{"class":"SKY","satellites":[]}"#), Ok(None));
        assert_eq!(read(r#"{"class":"TPV","mode":1}"#), Ok(None));
        assert!(read("gpsd").is_err() && read("{}").is_err());
    }
}
