//! Blocks of host decisions: a table of numbers, and what each host knew and did as bytes that point into it.
//!
//! `v` number of values and that many f64: every number that occurs, each once, in order of first use. Then `v` number of
//! decisions, and for each `v` cycle, `v` host, `v` length and that many bytes.

use std::collections::HashMap;

use super::bytes::{Fault, Take, put_f, put_v};

/// Collects the decisions of a chunk.
#[derive(Default)]
pub(super) struct Encoder {
    values: Vec<f64>,
    /// Looked up, never iterated.
    places: HashMap<u64, u32>,
    count: u64,
    body: Vec<u8>,
}

impl Encoder {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Writes a number as its place among the values.
    pub(super) fn value(&mut self, out: &mut Vec<u8>, x: f64) {
        let next = self.values.len() as u32;
        let place = *self.places.entry(x.to_bits()).or_insert(next);
        if place == next {
            self.values.push(x);
        }
        put_v(out, u64::from(place));
    }

    /// Adds a decision whose values have been written to `bytes`.
    pub(super) fn push(&mut self, cycle: u32, host: u64, bytes: &[u8]) {
        put_v(&mut self.body, u64::from(cycle));
        put_v(&mut self.body, host);
        put_v(&mut self.body, bytes.len() as u64);
        self.body.extend_from_slice(bytes);
        self.count += 1;
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.body.len() + 8 * self.values.len() + 10);
        put_v(&mut out, self.values.len() as u64);
        for &x in &self.values {
            put_f(&mut out, x);
        }
        put_v(&mut out, self.count);
        out.extend_from_slice(&self.body);
        out
    }
}

/// The numbers of a block.
pub(super) struct Values(Vec<f64>);

impl Values {
    pub(super) fn take(&self, take: &mut Take<'_>) -> Result<f64, Fault> {
        let place = take.v()?;
        let value = usize::try_from(place).ok().and_then(|at| self.0.get(at));
        value
            .copied()
            .ok_or_else(|| format!("value {place} of {}", self.0.len()))
    }
}

/// A decision of a block that is not decoded yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) cycle: u32,
    pub(super) host: u64,
    pub(super) bytes: &'a [u8],
}

/// The decisions of a chunk.
pub(super) struct Decoder<'a> {
    pub(super) values: Values,
    pub(super) entries: Vec<Entry<'a>>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut take = Take::new(bytes);
        let n = take.count(8)?;
        let values = (0..n).map(|_| take.f()).collect::<Result<Vec<_>, _>>()?;
        let n = take.count(3)?;
        let mut entries = Vec::with_capacity(n);
        for _ in 0..n {
            let (cycle, host) = (take.v32()?, take.v()?);
            let length = take.count(1)?;
            entries.push(Entry {
                cycle,
                host,
                bytes: take.slice(length)?,
            });
        }
        take.end()?;
        Ok(Self {
            values: Values(values),
            entries,
        })
    }

    pub(super) fn find(&self, cycle: u32, host: u64) -> Option<&Entry<'a>> {
        let mut entries = self.entries.iter();
        entries.find(|e| e.cycle == cycle && e.host == host)
    }
}
