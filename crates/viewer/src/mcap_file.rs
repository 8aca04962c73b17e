//! MCAP files, as far as the export needs them: chunks packed with zstd, an index of them, statistics.
//!
//! Written by hand, since the format is small and its library is not. The records and their order are those of the MCAP
//! specification, version 0; numbers are little endian, strings have their length as u32 in front. Checksums are left out (0),
//! which the specification allows.

use std::io::{self, Write};

const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";
/// Unpacked bytes at which a chunk is closed.
const CHUNK: usize = 4 << 20;

const HEADER: u8 = 0x01;
const FOOTER: u8 = 0x02;
const SCHEMA: u8 = 0x03;
const CHANNEL: u8 = 0x04;
const MESSAGE: u8 = 0x05;
const CHUNK_RECORD: u8 = 0x06;
const MESSAGE_INDEX: u8 = 0x07;
const CHUNK_INDEX: u8 = 0x08;
const STATISTICS: u8 = 0x0B;
const DATA_END: u8 = 0x0F;

/// Fields of a record, put one after the other.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn u16(mut self, n: u16) -> Self {
        self.0.extend_from_slice(&n.to_le_bytes());
        self
    }
    fn u32(mut self, n: u32) -> Self {
        self.0.extend_from_slice(&n.to_le_bytes());
        self
    }
    fn u64(mut self, n: u64) -> Self {
        self.0.extend_from_slice(&n.to_le_bytes());
        self
    }
    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
    /// Bytes with their length in front.
    fn long(self, bytes: &[u8]) -> Self {
        self.u32(bytes.len() as u32).bytes(bytes)
    }
    fn record(self, opcode: u8) -> Vec<u8> {
        let mut record = vec![opcode];
        record.extend_from_slice(&(self.0.len() as u64).to_le_bytes());
        record.extend_from_slice(&self.0);
        record
    }
}

/// A chunk that is written.
struct Written {
    start: u64,
    length: u64,
    times: [u64; 2],
    /// Offset of the index of each channel.
    indexes: Vec<(u16, u64)>,
    index_length: u64,
    packed: u64,
    unpacked: u64,
}

/// Writes messages in the order given.
pub(crate) struct McapFile<W: Write> {
    out: W,
    at: u64,
    /// Schemas and channels, as records: they stand in the summary, too.
    declared: Vec<u8>,
    schemas: u16,
    /// Messages by channel.
    counts: Vec<u64>,
    chunk: Vec<u8>,
    times: Option<[u64; 2]>,
    /// By channel: time and offset in the chunk.
    index: Vec<Vec<(u64, u64)>>,
    chunks: Vec<Written>,
    all_times: Option<[u64; 2]>,
}

fn widen(times: &mut Option<[u64; 2]>, time: u64) {
    let [first, last] = times.unwrap_or([time, time]);
    *times = Some([first.min(time), last.max(time)]);
}

impl<W: Write> McapFile<W> {
    pub(crate) fn new(out: W, library: &str) -> io::Result<Self> {
        let mut file = Self {
            out,
            at: 0,
            declared: Vec::new(),
            schemas: 0,
            counts: Vec::new(),
            chunk: Vec::new(),
            times: None,
            index: Vec::new(),
            chunks: Vec::new(),
            all_times: None,
        };
        file.put(MAGIC)?;
        let header = Fields::default().long(b"").long(library.as_bytes());
        file.put(&header.record(HEADER))?;
        Ok(file)
    }

    /// A schema in JSON Schema; its number.
    pub(crate) fn schema(&mut self, name: &str, json: &str) -> io::Result<u16> {
        self.schemas += 1;
        let fields = Fields::default()
            .u16(self.schemas)
            .long(name.as_bytes())
            .long(b"jsonschema")
            .long(json.as_bytes());
        self.declare(&fields.record(SCHEMA))?;
        Ok(self.schemas)
    }

    /// A channel of JSON messages; its number.
    pub(crate) fn channel(&mut self, topic: &str, schema: u16) -> io::Result<u16> {
        let number = self.counts.len() as u16;
        let fields = Fields::default()
            .u16(number)
            .u16(schema)
            .long(topic.as_bytes())
            .long(b"json")
            .u32(0);
        self.declare(&fields.record(CHANNEL))?;
        self.counts.push(0);
        self.index.push(Vec::new());
        Ok(number)
    }

    pub(crate) fn message(&mut self, channel: u16, time_ns: u64, data: &[u8]) -> io::Result<()> {
        let at = usize::from(channel);
        let fields = Fields::default()
            .u16(channel)
            .u32(self.counts[at] as u32)
            .u64(time_ns)
            .u64(time_ns)
            .bytes(data);
        self.index[at].push((time_ns, self.chunk.len() as u64));
        self.chunk.extend_from_slice(&fields.record(MESSAGE));
        self.counts[at] += 1;
        widen(&mut self.times, time_ns);
        widen(&mut self.all_times, time_ns);
        if self.chunk.len() >= CHUNK {
            self.close_chunk()?;
        }
        Ok(())
    }

    /// Ends the file; how many messages it has.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.close_chunk()?;
        self.put(&Fields::default().u32(0).record(DATA_END))?;
        let summary = self.at;
        let declared = std::mem::take(&mut self.declared);
        self.put(&declared)?;
        let total: u64 = self.counts.iter().sum();
        let [first, last] = self.all_times.unwrap_or_default();
        let mut statistics = Fields::default()
            .u64(total)
            .u16(self.schemas)
            .u32(self.counts.len() as u32)
            .u32(0)
            .u32(0)
            .u32(self.chunks.len() as u32)
            .u64(first)
            .u64(last)
            .u32(self.counts.len() as u32 * 10);
        for (channel, &count) in (0u16..).zip(&self.counts) {
            statistics = statistics.u16(channel).u64(count);
        }
        self.put(&statistics.record(STATISTICS))?;
        for chunk in std::mem::take(&mut self.chunks) {
            let mut fields = Fields::default()
                .u64(chunk.times[0])
                .u64(chunk.times[1])
                .u64(chunk.start)
                .u64(chunk.length)
                .u32(chunk.indexes.len() as u32 * 10);
            for (channel, offset) in chunk.indexes {
                fields = fields.u16(channel).u64(offset);
            }
            let fields = fields
                .u64(chunk.index_length)
                .long(b"zstd")
                .u64(chunk.packed)
                .u64(chunk.unpacked);
            self.put(&fields.record(CHUNK_INDEX))?;
        }
        self.put(&Fields::default().u64(summary).u64(0).u32(0).record(FOOTER))?;
        self.put(MAGIC)?;
        self.out.flush()?;
        Ok(total)
    }

    fn declare(&mut self, record: &[u8]) -> io::Result<()> {
        self.declared.extend_from_slice(record);
        self.put(record)
    }

    fn close_chunk(&mut self) -> io::Result<()> {
        let Some(times) = self.times.take() else {
            return Ok(());
        };
        let chunk = std::mem::take(&mut self.chunk);
        let packed = zstd::bulk::compress(&chunk, 3)?;
        let record = Fields::default()
            .u64(times[0])
            .u64(times[1])
            .u64(chunk.len() as u64)
            .u32(0)
            .long(b"zstd")
            .u64(packed.len() as u64)
            .bytes(&packed)
            .record(CHUNK_RECORD);
        let start = self.at;
        self.put(&record)?;
        let index_start = self.at;
        let mut indexes = Vec::new();
        for channel in 0..self.index.len() {
            let list = std::mem::take(&mut self.index[channel]);
            if list.is_empty() {
                continue;
            }
            indexes.push((channel as u16, self.at));
            let mut fields = Fields::default()
                .u16(channel as u16)
                .u32(list.len() as u32 * 16);
            for (time, offset) in list {
                fields = fields.u64(time).u64(offset);
            }
            self.put(&fields.record(MESSAGE_INDEX))?;
        }
        self.chunks.push(Written {
            start,
            length: record.len() as u64,
            times,
            indexes,
            index_length: self.at - index_start,
            packed: packed.len() as u64,
            unpacked: chunk.len() as u64,
        });
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}
