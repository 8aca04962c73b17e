//! Time and memory that this process has used, from the `/proc` of Linux; zero or none elsewhere.

use std::fs;

pub use covey_simulator::cpu::thread_cpu_s;

/// Highest resident memory of the process, in bytes.
#[must_use]
pub fn peak_rss_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_memory() {
        assert!(peak_rss_bytes().unwrap() > 100_000);
    }
}
