//! A stranger who sends far too much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Monotonic};

use covey_its::frame::{PORT_CAM, Source, encode_frame};
use covey_its::{Cam, ItsTime};

use super::stage::Place;
use crate::clock::{its_micros, wall_micros};

/// Frames of a stranger, to all nodes.
#[derive(Debug)]
pub(super) struct Flood {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Flood {
    /// `rate` frames a second, each to every node. Every fourth is a true CAM: that of a vehicle like `stranger`, each time under
    /// another name and address. The others cannot be read.
    pub(super) fn start(places: &[Place], rate: f64, stranger: Cam) -> Self {
        let (stop, sent) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let places = places.to_vec();
        let (ended, count) = (Arc::clone(&stop), Arc::clone(&sent));
        let thread = std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
            else {
                return;
            };
            let _inside = runtime.enter();
            let links: Vec<_> = places
                .iter()
                .filter_map(|p| p.side_entrance().ok())
                .collect();
            let mut cam = stranger;
            let begin = Monotonic::now();
            let mut number = 0_u64;
            while !ended.load(Ordering::Relaxed) {
                let due = (begin.elapsed().as_secs_f64() * rate) as u64;
                while number < due {
                    number += 1;
                    let time = its_micros(wall_micros()) / 1_000;
                    cam.generation_ms = (time & 0xFFFF) as u16;
                    let is_true = number.is_multiple_of(4);
                    cam.station_id = if is_true {
                        1_000_000 + number as u32
                    } else {
                        666
                    };
                    let source = Source::of_cam(&cam, ItsTime(time as u64));
                    let message = match is_true {
                        true => cam.encode(),
                        false => Ok(number.to_be_bytes().to_vec()),
                    };
                    let frame = message.and_then(|m| encode_frame(&m, PORT_CAM, &source));
                    let Ok(mut frame) = frame else {
                        continue;
                    };
                    // Every frame differs, and every other comes from another address.
                    if number.is_multiple_of(2) {
                        frame[8..12].copy_from_slice(&(number as u32).to_be_bytes());
                    }
                    for link in &links {
                        let _ = link.send(&frame);
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self {
            stop,
            sent,
            thread: Some(thread),
        }
    }

    /// Ends it; gives how many frames each node was sent.
    pub(super) fn stop(mut self) -> u64 {
        self.end();
        self.sent.load(Ordering::Relaxed)
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.end();
    }
}
