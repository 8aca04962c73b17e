//! Outputs that files of a scenario name, and copies of such files without them.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::error::SumoError;
use crate::recorded::elements::{attribute, text_of};

/// The attribute of an element of a route, additional or net file that names an output, if it has one.
pub(super) fn output_of(tag: &BytesStart<'_>) -> Option<&'static str> {
    let name = match tag.name().as_ref() {
        "e1Detector"
        | "inductionLoop"
        | "instantInductionLoop"
        | "e2Detector"
        | "laneAreaDetector"
        | "e3Detector"
        | "entryExitDetector"
        | "edgeData"
        | "laneData"
        | "routeProbe"
        | "vTypeProbe"
        | "vtypeProbe"
        | "vtypeprobe"
        | "detector" => "file",
        "calibrator" => "output",
        "timedEvent" => "dest",
        "param" => {
            let key = attribute(tag, "key")?;
            let is_output = key == "file"
                || key.contains("output")
                || (key.ends_with(".file") && !key.contains("replay"));
            return is_output.then_some("value");
        }
        _ => return None,
    };
    attribute(tag, name).map(|_| name)
}

/// The tag with its output, if it names one, sent to a file in `folder`. Outputs that share a file still do: SUMO closes a device for
/// all who write to it.
fn without_output<'t>(tag: BytesStart<'t>, folder: &Path) -> BytesStart<'t> {
    let Some(output) = output_of(&tag) else {
        return tag;
    };
    let name = tag.name().as_ref().to_owned();
    let mut new = BytesStart::new(name);
    let mut attributes = tag.attributes();
    attributes.with_checks(false);
    for attribute in attributes.flatten() {
        if attribute.key.as_ref() != output {
            new.push_attribute(attribute);
            continue;
        }
        let named = attribute.value.as_ref();
        let hash = blake3::hash(named.as_bytes()).to_hex();
        // The end of a name says which format is written.
        let end = named.rsplit('/').next().unwrap_or_default();
        let file = folder.join(format!("{}-{end}", &hash[..8]));
        new.push_attribute((output, file.to_string_lossy().as_ref()));
    }
    new.into_owned()
}

/// Copies an XML file with every output that it names sent to `folder`.
pub(super) fn copy_without_outputs(from: &Path, to: &Path, folder: &Path) -> Result<(), SumoError> {
    let text = text_of(from).map_err(SumoError::Scenario)?;
    let failed = |source: io::Error| SumoError::Write {
        file: to.to_path_buf(),
        source,
    };
    let broken = |error: quick_xml::Error| SumoError::Config {
        file: from.to_path_buf(),
        line: None,
        problem: error.to_string(),
    };
    let mut reader = Reader::from_reader(text);
    let file = File::create(to).map_err(failed)?;
    // SUMO tells packed files by their name.
    let packed = to.extension().is_some_and(|end| end == "gz");
    let out: Box<dyn Write> = match packed {
        true => Box::new(flate2::write::GzEncoder::new(
            file,
            flate2::Compression::fast(),
        )),
        false => Box::new(file),
    };
    let mut writer = Writer::new(BufWriter::new(out));
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        reader.get_mut().begin_item();
        let event = match reader.read_event_into(&mut buffer).map_err(broken)? {
            Event::Eof => break,
            Event::Start(tag) => Event::Start(without_output(tag, folder)),
            Event::Empty(tag) => Event::Empty(without_output(tag, folder)),
            event => event,
        };
        writer.write_event(event).map_err(failed)?;
    }
    let mut out = writer.into_inner();
    out.flush().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn outputs_go_elsewhere_and_all_else_stays() {
        let folder = std::env::temp_dir().join(format!("covey-outputs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (from, to) = (folder.join("a.add.xml"), folder.join("b.add.xml"));
        fs::write(
            &from,
            r#"<additional>
    <!-- kept -->
    <e1Detector id="a" lane="x_0" pos="1" period="60" file="out/e1.xml"/>
    <edgeData id="b" file="/elsewhere/edges.xml"><param key="c" value="d"/></edgeData>
    <vType id="t"><param key="device.ssm.file" value="ssm.xml"/></vType>
    <rerouter id="r" file="input.xml"/>
    <poly id="p" type="building" shape="0,0 1,1"/>
</additional>
"#,
        )
        .unwrap();
        copy_without_outputs(&from, &to, Path::new("/ours")).unwrap();
        let copy = fs::read_to_string(&to).unwrap();
        let _ = fs::remove_dir_all(&folder);
        for gone in ["out/e1.xml", "/elsewhere", "\"ssm.xml"] {
            assert!(!copy.contains(gone), "{copy}");
        }
        assert_eq!(copy.matches("\"/ours/").count(), 3, "{copy}");
        for kept in ["kept", "input.xml", r#"value="d""#, r#"shape="0,0 1,1""#] {
            assert!(copy.contains(kept), "{copy}");
        }
    }
}
