//! Which ends of streets meet in one node.

use covey_world::geometry::Point;

/// Ends of streets, joined to nodes.
#[derive(Debug)]
pub(super) struct Ends {
    /// By end (two a street, its beginning first): an end of the same node that was joined earlier, or itself.
    parent: Vec<usize>,
}

impl Ends {
    pub(super) fn new(streets: usize) -> Self {
        Self {
            parent: (0..2 * streets).collect(),
        }
    }

    fn root(&self, mut end: usize) -> usize {
        while self.parent[end] != end {
            end = self.parent[end];
        }
        end
    }

    /// The end of one street is where the other begins.
    pub(super) fn join(&mut self, from: usize, to: usize) {
        let (a, b) = (self.root(2 * from + 1), self.root(2 * to));
        self.parent[a.max(b)] = a.min(b);
    }

    /// The nodes' places, each the mean of the ends that meet there, and the numbers of both nodes of every street. `line` gives a
    /// street's first and last point.
    pub(super) fn nodes(
        &self,
        line: impl Fn(usize) -> [Point; 2],
    ) -> (Vec<Point>, Vec<[usize; 2]>) {
        let mut number = vec![usize::MAX; self.parent.len()];
        let mut sums: Vec<(Point, f64)> = Vec::new();
        let mut of = Vec::new();
        for street in 0..self.parent.len() / 2 {
            let mut both = [0; 2];
            for (side, place) in line(street).into_iter().enumerate() {
                let root = self.root(2 * street + side);
                if number[root] == usize::MAX {
                    number[root] = sums.len();
                    sums.push((Point::default(), 0.0));
                }
                both[side] = number[root];
                let (sum, count) = &mut sums[number[root]];
                *sum = *sum + place;
                *count += 1.0;
            }
            of.push(both);
        }
        let places = sums.iter().map(|(sum, count)| *sum * (1.0 / count));
        (places.collect(), of)
    }
}
