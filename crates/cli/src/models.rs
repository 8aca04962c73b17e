//! `--model`: arms by networks that were trained elsewhere.

use std::path::PathBuf;

use covey_experiment::world::hash_file;
use covey_simulator::learned::Learned;
use covey_simulator::{Arms, Strategy};

use crate::failure::Failure;
use crate::laboratory::{WorkOptions, world_failure};

/// A name and its file.
pub(crate) fn model(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_string(), PathBuf::from(file)))
        }
        _ => Err("expected NAME=FILE.onnx, such as mine=baseline.onnx".to_string()),
    }
}

/// The arms with these besides, and options under which results of other weights are never taken for theirs.
pub(crate) fn with_models(
    known: &Arms,
    models: &[(String, PathBuf)],
    options: &WorkOptions,
) -> Result<(Arms, WorkOptions), Failure> {
    let (mut arms, mut options) = (known.clone(), options.clone());
    for (name, file) in models {
        let learned = Learned::read(file).map_err(|error| Failure::Input(error.to_string()))?;
        let print = hash_file(file).map_err(world_failure)?;
        options.own_program = Some(format!("{} {name}={print}", options.program()));
        // Arms live as long as the program does, and so do their names.
        let strategy = Strategy::own(
            name.clone().leak(),
            "hosts ask whom a network of an ONNX file scores highest",
            move |_seed| Box::new(learned.clone()),
        );
        let added = arms.with(strategy);
        arms = added.map_err(|error| Failure::input("--model", error))?;
    }
    Ok((arms, options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_a_name_and_a_file() {
        assert_eq!(
            model("mine=a/b.onnx"),
            Ok(("mine".to_string(), PathBuf::from("a/b.onnx")))
        );
        for wrong in ["mine", "=b.onnx", "mine="] {
            assert!(model(wrong).unwrap_err().contains("NAME=FILE.onnx"));
        }
        let missing = [("mine".to_string(), PathBuf::from("nowhere.onnx"))];
        let error = with_models(&Arms::builtin(), &missing, &WorkOptions::default());
        assert!(matches!(error, Err(Failure::Input(text)) if text.contains("nowhere.onnx")));
    }
}
