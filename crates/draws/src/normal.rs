//! The normal distribution, turned round.

/// Quantile of the standard normal distribution to about 1e-15 relative: Wichura's PPND16
/// (algorithm AS 241, Applied Statistics 37(3), 1988).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= CENTRAL {
        central(q)
    } else {
        tail(p, q)
    }
}

/// The quantile of each of some probabilities in its place.
pub(crate) fn normal_quantiles(all: &mut [f64]) {
    const SOME: usize = 8;
    for some in all.chunks_mut(SOME) {
        let mut p = [0.5; SOME];
        p[..some.len()].copy_from_slice(some);
        // Most are in the middle: without branches, several at a time.
        let middle = all_central(p.map(|p| p - 0.5));
        for ((z, p), middle) in some.iter_mut().zip(p).zip(middle) {
            let q = p - 0.5;
            *z = if q.abs() <= CENTRAL {
                middle
            } else {
                tail(p, q)
            };
        }
    }
}

/// So far from the middle one ratio holds.
const CENTRAL: f64 = 0.425;

#[inline]
fn ratio(x: f64, numerator: [f64; 8], denominator: [f64; 8]) -> f64 {
    let horner = |c: [f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    horner(numerator) / horner(denominator)
}

#[inline]
fn central(q: f64) -> f64 {
    q * ratio(0.180625 - q * q, CENTRE.0, CENTRE.1)
}

/// The same of several at a time, step by step.
#[inline]
fn all_central<const N: usize>(q: [f64; N]) -> [f64; N] {
    let x = q.map(|q| 0.180625 - q * q);
    let horner = |c: [f64; 8]| {
        let mut sum = [0.0; N];
        for c in c.into_iter().rev() {
            for (sum, x) in sum.iter_mut().zip(x) {
                *sum = *sum * x + c;
            }
        }
        sum
    };
    let (above, below) = (horner(CENTRE.0), horner(CENTRE.1));
    let mut z = q;
    for ((z, above), below) in z.iter_mut().zip(above).zip(below) {
        *z *= above / below;
    }
    z
}

fn tail(p: f64, q: f64) -> f64 {
    let r = libm::sqrt(-libm::log(p.min(1.0 - p)));
    let tail = if r <= 5.0 {
        ratio(r - 1.6, MIDDLE.0, MIDDLE.1)
    } else {
        ratio(r - 5.0, FAR.0, FAR.1)
    };
    tail.copysign(q)
}

type Ratio = ([f64; 8], [f64; 8]);

#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "digits as published")]
const CENTRE: Ratio = (
    [3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727],
    [1.0, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077,
     21213.794301586595867, 39307.89580009271061, 28729.085735721942674, 5226.495278852854561],
);
#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "digits as published")]
const MIDDLE: Ratio = (
    [1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
     1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4],
    [1.0, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455,
     0.14810397642748007459, 0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9],
);
#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "digits as published")]
const FAR: Ratio = (
    [6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123,
     0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7],
    [1.0, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525,
     7.868691311456132591e-4, 1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantile_meets_published_values() {
        // Wichura's own check values and the usual percentile.
        for (p, z) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_6),
            (1e-20, -9.262_340_089_798_408),
            (0.975, 1.959_963_984_540_054_2),
        ] {
            let found = normal_quantile(p);
            assert!((found - z).abs() < 1e-14 * z.abs(), "{p}: {found}");
        }
    }
    #[test]
    fn many_quantiles_are_those_of_each() {
        let all: [f64; 203] = std::array::from_fn(|k| (k as f64 + 0.5) / 203.0);
        let mut found = all;
        normal_quantiles(&mut found);
        for (p, z) in all.into_iter().zip(found) {
            assert_eq!(z.to_bits(), normal_quantile(p).to_bits(), "{p}");
        }
    }
}
