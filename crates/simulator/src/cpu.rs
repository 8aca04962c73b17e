//! CPU time of threads, from the `/proc` of Linux; zero elsewhere.

use std::fs;

/// Linux counts CPU time in hundredths of a second on every platform that we build for.
const TICKS_PER_S: f64 = 100.0;

/// CPU seconds of the calling thread.
#[must_use]
pub fn thread_cpu_s() -> f64 {
    // Nanoseconds on the CPU, then waiting, then time slices.
    let exact = fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    match exact {
        Some(nanoseconds) if nanoseconds > 0.0 => nanoseconds * 1e-9,
        _ => cpu_s("/proc/thread-self/stat"),
    }
}

fn cpu_s(file: &str) -> f64 {
    let Ok(text) = fs::read_to_string(file) else {
        return 0.0;
    };
    // The program's name is in brackets and may hold blanks; user and system time are the 12th and 13th field after it.
    let after = text.rsplit_once(')').map_or("", |(_, after)| after);
    let fields = after.split_whitespace().skip(11).take(2);
    fields.filter_map(|f| f.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_S
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn work_takes_time() {
        let before = thread_cpu_s();
        let start = Instant::now();
        let mut x = 1u64;
        while start.elapsed() < Duration::from_millis(100) {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(thread_cpu_s() > before);
    }
}
