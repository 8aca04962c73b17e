//! What a step says and counts.

use crate::process::Call;
use crate::report::Counts;

/// What a step has to say while it runs.
pub(crate) struct Report {
    failed: bool,
    output: String,
    counts: Option<Counts>,
    /// Prints a line at once, for a person who waits.
    tell: fn(&str),
}

impl Report {
    /// A report whose notes go through `tell`.
    pub(crate) fn new(tell: fn(&str)) -> Self {
        Self {
            failed: false,
            output: String::new(),
            counts: None,
            tell,
        }
    }

    /// A report that prints nothing, for tests.
    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        Self::new(|_| {})
    }

    /// Something went wrong.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    /// Everything said and done, to be shown if the step fails.
    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// The tests counted, if the step counts any.
    pub(crate) fn counts(&self) -> Option<Counts> {
        self.counts
    }

    /// A line for the record.
    pub(crate) fn say(&mut self, line: &str) {
        self.output.push_str(line);
        self.output.push('\n');
    }

    /// A line for the record that is also shown at once.
    pub(crate) fn note(&mut self, line: String) {
        self.tell(&line);
        self.say(&line);
    }

    /// A line that is shown at once and is on the record already.
    pub(crate) fn tell(&self, line: &str) {
        (self.tell)(line);
    }

    /// The step has failed, for the reason given.
    pub(crate) fn fail(&mut self, reason: &str) {
        self.failed = true;
        self.say(reason);
    }

    /// The step has failed if there are complaints, or if the check could not be made.
    pub(crate) fn complain(&mut self, complaints: Result<Vec<String>, String>) {
        match complaints {
            Ok(complaints) => {
                for complaint in complaints {
                    self.fail(&complaint);
                }
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Runs `call`; whether it succeeded. If not, the step has failed.
    pub(crate) fn call(&mut self, call: Call) -> bool {
        self.run_call(call).0
    }

    /// Runs `call`; its output. If it did not succeed, the step has failed.
    pub(crate) fn call_for_output(&mut self, call: Call) -> String {
        self.run_call(call).1
    }

    fn run_call(&mut self, call: Call) -> (bool, String) {
        self.say(&format!("$ {}", call.shown()));
        let tell = self.tell;
        let done = call.run(|passed, last| {
            tell(&format!("still at it after {} s: {last}", passed.as_secs()));
        });
        self.output.push_str(&done.output);
        self.failed |= !done.ok;
        (done.ok, done.output)
    }

    /// Adds to the step's counts; a failed test fails the step.
    pub(crate) fn count(&mut self, counts: Counts) {
        *self.counts.get_or_insert_default() += counts;
        self.failed |= counts.failed > 0;
    }

    /// Adds `counts`; where there are none though `tool` succeeded, the count cannot be trusted and the step fails.
    pub(crate) fn count_or_fail(&mut self, counts: Option<Counts>, tool: &str) {
        match counts {
            Some(counts) => self.count(counts),
            None if !self.failed => {
                self.fail(&format!("{tool} printed no summary that could be read"));
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_report_fails_by_a_call_a_complaint_or_a_count() {
        let root = Path::new(".");
        let mut report = Report::silent();
        assert!(report.call(Call::new(root, "true", &[])));
        report.complain(Ok(vec![]));
        report.count(Counts {
            passed: 2,
            ..Counts::default()
        });
        assert!(!report.failed());

        let mut report = Report::silent();
        assert!(!report.call(Call::new(root, "false", &[])));
        assert!(report.failed());

        let mut report = Report::silent();
        report.complain(Ok(vec!["a wrong arrow".to_owned()]));
        assert!(report.failed() && report.output().contains("a wrong arrow"));

        let mut report = Report::silent();
        report.count(Counts {
            failed: 1,
            ..Counts::default()
        });
        assert!(report.failed());

        let mut report = Report::silent();
        report.count_or_fail(None, "nextest");
        assert!(report.failed());
    }
}
