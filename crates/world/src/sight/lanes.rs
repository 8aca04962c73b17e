//! Four numbers at a time, in single precision: wide enough to prune with, if what rounding may do is allowed for.

/// How many.
pub(crate) const LANES: usize = 4;

/// Four numbers.
pub(crate) type Lanes = [f32; LANES];

/// Combines each two.
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

/// The z components of vector products.
#[inline(always)]
pub(crate) fn cross(ax: Lanes, ay: Lanes, bx: Lanes, by: Lanes) -> Lanes {
    let a = zip(ax, by, |x, y| x * y);
    zip(a, zip(ay, bx, |y, x| y * x), |a, b| a - b)
}

/// Bearings as in [`bearing`](super::bearing::bearing()).
#[inline(always)]
pub(crate) fn bearings(x: Lanes, y: Lanes) -> Lanes {
    let share = zip(y, zip(x, y, |x, y| x.abs() + y.abs()), |y, sum| y / sum);
    zip(x, share, |x, share| {
        (if x >= 0.0 { share } else { 2.0 - share }) + 1.0
    })
}

/// Rounds numbers from 1 to a million down, or from a whole number to the next lower one.
#[inline(always)]
pub(crate) fn whole_parts(x: Lanes) -> [u32; LANES] {
    const SHIFT: f32 = (1_u32 << 23) as f32;
    x.map(|x| ((x - 0.5) + SHIFT).to_bits() & 0x7F_FFFF)
}
