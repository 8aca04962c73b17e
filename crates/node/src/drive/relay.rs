//! The relay between nodes: what it hears of one it hands to all others, but for what is lost, late or cut off.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use covey_draws::SplitMix;
use covey_its::cam::CarriedDigest;
use covey_its::frame::{ETHERNET_LEN, Message};
use covey_its::pcap::{CaptureTime, Writer};
use covey_its::{MAX_MESSAGE_LEN, decode_frame};

use super::stage::{Place, Stage};
use super::{DriveError, Options};
use crate::clock::wall_micros;
use crate::link::Link;

/// Frames of a node that are taken apart for the record, a second.
const MOST_READ: u32 = 400;

/// What a frame was.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// With so many bytes of digest.
    Beacon {
        digest: usize,
    },
    Report,
    /// A host's, or a part of it.
    Broadcast {
        tile: [i32; 2],
        /// It is the first part.
        first: bool,
    },
    Other,
}

/// A frame that a node sent.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    /// Unix time, microseconds.
    pub(super) at_us: i64,
    /// Which node.
    pub(super) node: usize,
    pub(super) kind: Kind,
    /// Without Ethernet.
    pub(super) bytes: usize,
    /// The whole frame, where it is to be captured.
    pub(super) frame: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Shared {
    heard: Mutex<Vec<Heard>>,
    begin_us: AtomicI64,
    stop: AtomicBool,
}

/// A relay that runs in a thread of its own.
#[derive(Debug)]
pub(super) struct Relay {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    pub(super) fn start(stage: &Stage, options: &Options) -> Result<Self, DriveError> {
        let shared = Arc::new(Shared {
            heard: Mutex::new(Vec::new()),
            begin_us: AtomicI64::new(i64::MAX),
            stop: AtomicBool::new(false),
        });
        let places = stage.places.clone();
        let rules = Rules::of(options, places.len());
        let inner = Arc::clone(&shared);
        let (ready, started) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let Ok(runtime) = runtime else {
                let _ = ready.send(Err(io::Error::other("no runtime")));
                return;
            };
            runtime.block_on(tokio::task::LocalSet::new().run_until(async move {
                let links: io::Result<Vec<Link>> = places.iter().map(Place::link).collect();
                let links = match links {
                    Ok(links) => Rc::new(links),
                    Err(error) => {
                        let _ = ready.send(Err(error));
                        return;
                    }
                };
                let _ = ready.send(Ok(()));
                for node in 0..links.len() {
                    tokio::task::spawn_local(serve(
                        Rc::clone(&links),
                        node,
                        rules.clone(),
                        Arc::clone(&inner),
                    ));
                }
                while !inner.stop.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }));
        });
        match started.recv() {
            Ok(Ok(())) => Ok(Self {
                shared,
                thread: Some(thread),
            }),
            Ok(Err(error)) => Err(DriveError::Machine(format!("relay: {error}"))),
            Err(_) => Err(DriveError::Machine("relay: ended".to_string())),
        }
    }

    /// Time 0 of the drive is at this Unix time.
    pub(super) fn begin(&self, unix_us: i64) {
        self.shared.begin_us.store(unix_us, Ordering::Relaxed);
    }

    /// The last broadcast, if it was within a second: node, tile and when.
    pub(super) fn last_host(&self) -> Option<(usize, [i32; 2], i64)> {
        let heard = self
            .shared
            .heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = wall_micros();
        heard
            .iter()
            .rev()
            .take_while(|heard| now - heard.at_us < 1_000_000)
            .find_map(|heard| match heard.kind {
                Kind::Broadcast { tile, .. } => Some((heard.node, tile, heard.at_us)),
                _ => None,
            })
    }

    /// Ends it and gives all that it heard, in order.
    pub(super) fn stop(mut self) -> Vec<Heard> {
        self.end();
        let mut heard = self
            .shared
            .heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *heard)
    }

    fn end(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.end();
    }
}

/// What happens to frames.
#[derive(Debug, Clone)]
struct Rules {
    loss: f64,
    delay: Duration,
    partitions: Vec<(f64, f64)>,
    half: usize,
    seed: u64,
    capture: bool,
}

impl Rules {
    fn of(options: &Options, nodes: usize) -> Self {
        Self {
            loss: options.loss,
            delay: Duration::from_micros((options.delay_ms * 1_000.0) as u64),
            partitions: options.partitions.clone(),
            half: nodes.div_ceil(2),
            seed: options.seed,
            capture: options.pcap.is_some(),
        }
    }

    fn cut(&self, seconds: f64, from: usize, to: usize) -> bool {
        let apart = (from < self.half) != (to < self.half);
        let inside = |&(begin, end): &(f64, f64)| (begin..end).contains(&seconds);
        apart && self.partitions.iter().any(inside)
    }
}

async fn serve(links: Rc<Vec<Link>>, node: usize, rules: Rules, shared: Arc<Shared>) {
    let mut buffer = vec![0; MAX_MESSAGE_LEN + 1];
    // Which frames are lost hangs on the order in which they come, which nobody repeats.
    let mut luck = SplitMix::new(rules.seed ^ ((node as u64) << 32));
    let mut budget = (0_i64, 0_u32);
    loop {
        let Ok(length) = links[node].receive(&mut buffer).await else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let frame = &buffer[..length];
        let now = wall_micros();
        let seconds = (now - shared.begin_us.load(Ordering::Relaxed)) as f64 * 1e-6;
        for (to, link) in links.iter().enumerate() {
            if to == node || luck.unit() < rules.loss || rules.cut(seconds, node, to) {
                continue;
            }
            if rules.delay.is_zero() {
                let _ = link.send(frame);
            } else {
                let (links, frame, delay) = (Rc::clone(&links), frame.to_vec(), rules.delay);
                tokio::task::spawn_local(async move {
                    tokio::time::sleep(delay).await;
                    let _ = links[to].send(&frame);
                });
            }
        }
        if budget.0 != now / 1_000_000 {
            budget = (now / 1_000_000, 0);
        }
        budget.1 += 1;
        if budget.1 <= MOST_READ {
            let heard = read(now, node, frame, rules.capture);
            shared
                .heard
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(heard);
        }
    }
}

/// Takes a frame apart for the record.
fn read(at_us: i64, node: usize, frame: &[u8], capture: bool) -> Heard {
    let kind = match decode_frame(frame).map(|decoded| decoded.message) {
        Ok(Message::Cam(cam)) => {
            let digest = match &cam.digest {
                Some(CarriedDigest::Cells(digest)) => digest.encode().len() + 3,
                _ => 0,
            };
            Kind::Beacon { digest }
        }
        Ok(Message::Cpm(cpm)) => {
            let first = cpm.segment.is_none_or(|(number, _)| number == 1);
            match cpm.fused {
                None => Kind::Report,
                Some(fused) => Kind::Broadcast {
                    tile: [fused.tile.tx, fused.tile.ty],
                    first,
                },
            }
        }
        _ => Kind::Other,
    };
    Heard {
        at_us,
        node,
        kind,
        bytes: frame.len().saturating_sub(ETHERNET_LEN),
        frame: capture.then(|| frame.to_vec()),
    }
}

/// Writes all that was heard as a capture.
pub(super) fn write_capture(path: &Path, heard: &[Heard]) -> io::Result<()> {
    let mut writer = Writer::new(BufWriter::new(File::create(path)?))?;
    for frame in heard {
        if let Some(bytes) = &frame.frame {
            writer.write(CaptureTime(frame.at_us), bytes)?;
        }
    }
    writer.finish().map(|_| ())
}
