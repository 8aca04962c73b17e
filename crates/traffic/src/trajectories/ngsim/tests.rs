use super::*;

const HEADER: &str = "Vehicle_ID,Frame_ID,Total_Frames,Global_Time,Local_X,Local_Y,Global_X,Global_Y,v_length,v_Width,v_Class,v_Vel,v_Acc,Lane_ID,O_Zone,D_Zone,Int_ID,Section_ID,Direction,Movement,Preceding,Following,Space_Headway,Time_Headway,Location\n";

fn line(vehicle: u32, frame: i64, y_ft: f64, lane: u32, [junction, section]: [u32; 2]) -> String {
    format!(
        "{vehicle},{frame},99,{},0,0,{},{y_ft},14.5,6.4,2,33,0,{lane},101,201,{junction},{section},2,1,0,0,0,0,lankershim\n",
        1_118_935_680_200_i64 + 100 * frame,
        6_452_400.0 + 11.0 * f64::from(lane.min(2)),
    )
}

/// Two lanes north, a junction of 20 m, and the next section.
fn drive(vehicle: u32, lane: u32) -> String {
    (0..150)
        .map(|frame| {
            let y = 1_872_000.0 + 3.3 * frame as f64;
            match frame {
                0..60 => line(vehicle, frame, y, lane, [0, 1]),
                60..80 => line(vehicle, frame, y, 0, [2, 0]),
                _ => line(vehicle, frame, y, lane, [0, 2]),
            }
        })
        .collect()
}

fn read_text(text: &str, part: &Part) -> Result<Tracks, String> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file =
        std::env::temp_dir().join(format!("covey-ngsim-{}-{number}.csv", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let result = read(&file, part).map_err(|error| {
        let shown = file.display().to_string();
        error.to_string().replace(&shown, "x.csv")
    });
    std::fs::remove_file(&file).unwrap();
    result
}

#[test]
fn sections_become_streets_and_ways_between_them_are_those_taken() {
    let text = format!("{HEADER}{}{}", drive(7, 1), drive(8, 2));
    let tracks = read_text(&text, &Part::default()).unwrap();
    let names: Vec<&str> = tracks.streets.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["s1d2", "s2d2"]);
    assert!(tracks.streets.iter().all(|street| street.lanes.len() == 2));
    // Driving north, lane 2 of the data is to the right: it comes first.
    let [right, left] = &tracks.streets[0].lanes[..] else {
        panic!()
    };
    assert!(right[0].x > left[0].x);
    assert_eq!(tracks.turns.len(), 2);
    assert_eq!(tracks.streets[0].ends[1], tracks.streets[1].ends[0]);
    let seven = &tracks.tracks[0];
    assert_eq!((seven.name.as_str(), seven.kind.as_str()), ("7", "car"));
    assert!((seven.length - 4.42).abs() < 0.01 && (seven.width - 1.95).abs() < 0.01);
    let moment = seven.moments[10];
    assert_eq!(moment.time_us, 1_000_000);
    assert!((moment.speed - 10.06).abs() < 0.01);
    assert!((moment.heading - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
}

#[test]
fn a_number_that_comes_back_is_another_vehicle_and_parts_are_cut_out() {
    let again: String = (0..150)
        .map(|frame| line(7, frame + 400, 1_872_000.0 + 3.3 * frame as f64, 1, [0, 1]))
        .collect();
    let text = format!("{HEADER}{again}{}", drive(7, 1));
    let tracks = read_text(&text, &Part::default()).unwrap();
    let names: Vec<&str> = tracks.tracks.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["7", "7.2"]);
    let part = Part {
        from_s: 0.0,
        to_s: Some(5.0),
        ..Part::default()
    };
    let tracks = read_text(&text, &part).unwrap();
    assert_eq!(
        (tracks.tracks.len(), tracks.tracks[0].moments.len()),
        (1, 51)
    );
}

#[test]
fn mistakes_are_named_with_line_and_field() {
    let error = |text: &str, part: &Part| read_text(text, part).unwrap_err();
    let bad = format!("{HEADER}{}{}", drive(7, 1), "8,1,1,x\n");
    assert_eq!(
        error(&bad, &Part::default()),
        "x.csv: line 152: v_class: found nothing, expected a whole number from 0 on"
    );
    let bad = format!("{HEADER}{}", drive(7, 1).replacen(",14.5,", ",-1,", 1));
    assert_eq!(
        error(&bad, &Part::default()),
        "x.csv: line 2: v_length: found `-1`, expected a number of feet above 0 and below 328"
    );
    assert!(
        error("Vehicle_ID,Frame_ID\n", &Part::default())
            .starts_with("x.csv: line 1: header: found no column global_time, global_x,")
    );
    let two = format!(
        "{HEADER}{}{}",
        drive(7, 1),
        drive(9, 1).replace("lankershim", "peachtree")
    );
    assert_eq!(
        error(&two, &Part::default()),
        "x.csv: found several places, expected --location with one of lankershim, peachtree"
    );
    let part = Part {
        location: Some("us-101".to_string()),
        ..Part::default()
    };
    assert_eq!(
        error(&two, &part),
        "x.csv: --location: found `us-101`, expected one of its places: lankershim, peachtree"
    );
    let part = Part {
        location: Some("Peachtree".to_string()),
        ..Part::default()
    };
    assert_eq!(read_text(&two, &part).unwrap().tracks[0].name, "9");
}
