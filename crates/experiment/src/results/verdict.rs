//! The verdict: which of the letter's claims stand, which stand only under a fitted profile, which under none.

use super::runs::Run;
use crate::report::{Finding, Verdict};

/// The letter's claims in three lists. `frozen` is the run under which nothing but d_min is fitted, `fitted` are those of profiles.
pub(crate) fn text(frozen: &Run<'_>, fitted: &[&Run<'_>]) -> String {
    let judged = frozen.findings();
    let others: Vec<(&str, Vec<Finding>)> = fitted
        .iter()
        .map(|run| (run.name, run.findings()))
        .collect();
    let (mut held, mut only_fitted, mut none, mut open) = (vec![], vec![], vec![], vec![]);
    for finding in &judged {
        let under: Vec<String> = others
            .iter()
            .filter_map(|(name, all)| {
                let same = all.iter().find(|other| other.key == finding.key)?;
                (same.verdict == Verdict::Held).then(|| format!("`{name}` {}", same.ours))
            })
            .collect();
        let ours = &finding.ours;
        match finding.verdict {
            Verdict::Calibrated => {}
            Verdict::NotRun | Verdict::NotMeaningful => open.push(finding.claim.to_string()),
            Verdict::Held => held.push(format!("{}: {ours}", finding.claim)),
            _ if !under.is_empty() => only_fitted.push(format!(
                "{}: {}; `{}` {ours}",
                finding.claim,
                under.join(", "),
                frozen.name
            )),
            Verdict::Undecided => none.push(format!("{}: undecided, {ours}", finding.claim)),
            Verdict::NotHeld => none.push(format!("{}: {ours}", finding.claim)),
        }
    }
    let all = held.len() + only_fitted.len() + none.len() + open.len();
    let profiles = match others.as_slice() {
        [] => "a fitted profile (none was run)".to_string(),
        names => {
            let names: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
            format!(
                "a fitted profile ({}), which is evidence for nothing",
                names.join(", ")
            )
        }
    };
    let mut text = String::new();
    for (head, claims) in [
        (
            format!("Stand, under the frozen readings (`{}`)", frozen.name),
            &held,
        ),
        (format!("Stand only under {profiles}"), &only_fitted),
        ("Stand under none of these".to_string(), &none),
        ("Not judged: not run, or too few seeds".to_string(), &open),
    ] {
        if claims.is_empty() && head.starts_with("Not judged") {
            continue;
        }
        text.push_str(&format!("**{head}: {} of {all}**\n\n", claims.len()));
        for claim in claims {
            text.push_str(&format!("- {claim}\n"));
        }
        if !claims.is_empty() {
            text.push('\n');
        }
    }
    text
}
