//! Four numbers at a time, in single precision: wide enough to prune with, if what rounding may do is allowed for.

pub(crate) const LANES: usize = 4;

pub(crate) type Lanes = [f32; LANES];

#[inline(always)]
pub(crate) fn zip(a: Lanes, b: Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
    std::array::from_fn(|i| f(a[i], b[i]))
}

/// The values where `low <= number < high`, and 0 elsewhere.
#[inline(always)]
pub(crate) fn select(number: Lanes, low: f32, high: f32, values: Lanes) -> Lanes {
    let after = zip(number, values, |n, v| if n >= low { v } else { 0.0 });
    zip(number, after, |n, v| if n < high { v } else { 0.0 })
}
