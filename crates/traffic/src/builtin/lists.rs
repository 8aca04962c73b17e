//! Short lists, one a track, most of them empty.

/// A list for each track. The counts lie side by side, so that asking an empty list costs next to nothing.
#[derive(Debug, Clone)]
pub(crate) struct Lists<T> {
    items: Vec<Vec<T>>,
    counts: Vec<u16>,
}

impl<T> Lists<T> {
    /// Empty lists for `tracks` tracks.
    pub(crate) fn new(tracks: usize) -> Self {
        Self {
            items: std::iter::repeat_with(Vec::new).take(tracks).collect(),
            counts: vec![0; tracks],
        }
    }

    /// What is listed for a track, in the order in which it was added.
    pub(crate) fn on(&self, track: u32) -> &[T] {
        if self.counts[track as usize] == 0 {
            &[]
        } else {
            &self.items[track as usize]
        }
    }

    /// Adds at the end.
    pub(crate) fn push(&mut self, track: u32, item: T) {
        self.items[track as usize].push(item);
        self.count(track);
    }

    /// Keeps what `keep` says.
    pub(crate) fn retain(&mut self, track: u32, keep: impl FnMut(&T) -> bool) {
        self.items[track as usize].retain(keep);
        self.count(track);
    }

    pub(crate) fn clear(&mut self, track: u32) {
        self.items[track as usize].clear();
        self.counts[track as usize] = 0;
    }

    fn count(&mut self, track: u32) {
        // Only whether it is 0 matters, so a list too long to count is no harm.
        self.counts[track as usize] =
            self.items[track as usize].len().min(usize::from(u16::MAX)) as u16;
    }
}
