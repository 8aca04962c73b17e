//! Many runs: plans, statistics, tables, figures and the report.

pub mod report;
