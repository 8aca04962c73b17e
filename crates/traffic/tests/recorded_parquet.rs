//! Recorded floating-car data as Parquet.

mod common;

use common::{corner, folder, frames, overwrite};
use covey_traffic::recorded::{FcdError, FcdOptions, FloatingCarData};
use covey_world::Frame;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

const SCHEMA: &str = "message schema {
    optional double timestep_time; optional binary vehicle_id (UTF8);
    optional double vehicle_x; optional double vehicle_y; optional float vehicle_angle;
    optional binary vehicle_type (UTF8); optional float vehicle_speed; optional float vehicle_pos;
    optional binary vehicle_lane (UTF8); optional binary vehicle_edge (UTF8);
}";

/// Writes `steps` instants of three vehicles and a person, `group` rows to a row group.
fn write(path: &Path, steps: usize, group: usize, compression: Compression) {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let rows: Vec<(usize, usize)> = (0..steps)
        .flat_map(|step| (0..4).map(move |who| (step, who)))
        .collect();
    for rows in rows.chunks(group) {
        let mut out = writer.next_row_group().unwrap();
        let all = vec![1i16; rows.len()];
        let number = |column: usize, (step, who): (usize, usize)| -> f64 {
            let x = 5.0 + 20.0 * who as f64 + 0.1 * step as f64;
            match column {
                0 => step as f64 * 0.1,
                2 | 7 => x,
                3 => {
                    if who == 3 {
                        -4.0
                    } else {
                        0.0
                    }
                }
                4 => 90.0,
                _ => 1.0,
            }
        };
        let mut column = 0;
        while let Some(mut next) = out.next_column().unwrap() {
            match column {
                0 | 2 | 3 => {
                    let values: Vec<f64> = rows.iter().map(|&r| number(column, r)).collect();
                    next.typed::<DoubleType>()
                        .write_batch(&values, Some(&all), None)
                        .unwrap();
                }
                4 | 6 | 7 => {
                    let values: Vec<f32> = rows.iter().map(|&r| number(column, r) as f32).collect();
                    next.typed::<FloatType>()
                        .write_batch(&values, Some(&all), None)
                        .unwrap();
                }
                _ => {
                    let texts: Vec<Option<String>> = rows
                        .iter()
                        .map(|&(_, who)| match column {
                            1 => Some(format!("v{who}")),
                            5 => Some("car".into()),
                            8 => (who < 3).then(|| "e_0".into()),
                            _ => (who == 3).then(|| "e".into()),
                        })
                        .collect();
                    let levels: Vec<i16> = texts.iter().map(|t| i16::from(t.is_some())).collect();
                    let values: Vec<ByteArray> = texts
                        .iter()
                        .flatten()
                        .map(|t| ByteArray::from(t.as_str()))
                        .collect();
                    next.typed::<ByteArrayType>()
                        .write_batch(&values, Some(&levels), None)
                        .unwrap();
                }
            }
            next.close().unwrap();
            column += 1;
        }
        out.close().unwrap();
    }
    writer.close().unwrap();
}

fn read(path: &Path) -> Result<Vec<Frame>, FcdError> {
    let network = corner();
    frames(FloatingCarData::open(
        path,
        &network,
        FcdOptions::default(),
    )?)
}

#[test]
fn row_groups_and_compression_do_not_matter() {
    let folder = folder("parquet_groups");
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let mut all = Vec::new();
    for (i, (group, compression)) in [
        (1_000_000, Compression::UNCOMPRESSED),
        (500, zstd),
        (5000, Compression::SNAPPY),
        (
            4096,
            Compression::GZIP(parquet::basic::GzipLevel::default()),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.join(format!("{i}.parquet"));
        write(&path, 1500, group, compression);
        all.push(read(&path).unwrap());
    }
    assert_eq!(all[0].len(), 2 * 1499 + 1);
    assert!(all[0].iter().all(|frame| frame.vehicles.len() == 4));
    let last = &all[0][2998].vehicles[1];
    assert!((last.position.x - (5.0 + 20.0 + 149.9 - 2.5)).abs() < 1e-9);
    assert!(all[1..].iter().all(|frames| *frames == all[0]));
}

#[test]
fn damage_is_an_error_never_a_panic() {
    let folder = folder("parquet_damage");
    let path = folder.join("whole.parquet");
    write(&path, 2, 8, Compression::UNCOMPRESSED);
    let whole = fs::read(&path).unwrap();
    let path = folder.join("cut.parquet");
    for end in 0..whole.len() {
        overwrite(&path, &whole[..end]);
        let error = read(&path).expect_err("a Parquet file without its end");
        let text = error.to_string();
        assert!(text.contains("cut.parquet"), "{text}");
    }
    // Each byte changed in its turn: an error, or other numbers, but no panic.
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        overwrite(&path, &changed);
        let _ = read(&path);
    }
}

#[test]
fn columns_of_the_wrong_type_are_named() {
    let folder = folder("parquet_types");
    let path = folder.join("types.parquet");
    let schema = "message schema { required double time; required int64 id;
        required double x; required double y; required double angle; required double speed; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(&path).unwrap();
    let writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    writer.close().unwrap();
    let text = read(&path).unwrap_err().to_string();
    assert!(
        text.ends_with("row 1: found column `id` of type INT64, expected text in it"),
        "{text}"
    );
}
