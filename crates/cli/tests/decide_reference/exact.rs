//! Numbers that know whether they are exact.
//!
//! A decision compares numbers. Where every step of the arithmetic was free of rounding, the comparison is what exact
//! arithmetic says, however close the numbers are; where it was not, a difference of a few units in the last place means
//! nothing, and another order of the same sums may fall on the other side.

use std::ops::{Add, Div, Mul, Sub};

/// A number, and whether no rounding has touched it since the input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) exact: bool,
}

impl Number {
    /// A number of the input.
    pub(crate) fn given(value: f64) -> Self {
        Self { value, exact: true }
    }

    /// Exactly nothing, for instance the weight of a cell without risk.
    fn is_naught(self) -> bool {
        self.exact && self.value == 0.0
    }
}

impl Add for Number {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (a, b) = (self.value, other.value);
        let value = a + b;
        // Knuth's two-sum: what the rounding of a + b lost.
        let b_part = value - a;
        let lost = (a - (value - b_part)) + (b - b_part);
        Self {
            value,
            exact: self.exact && other.exact && lost == 0.0,
        }
    }
}

impl Sub for Number {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self {
            value: -other.value,
            exact: other.exact,
        }
    }
}

impl Mul for Number {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let value = self.value * other.value;
        let lost = self.value.mul_add(other.value, -value);
        Self {
            value,
            exact: self.is_naught()
                || other.is_naught()
                || (self.exact && other.exact && lost == 0.0),
        }
    }
}

impl Div for Number {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let lost = value.mul_add(other.value, -self.value);
        Self {
            value,
            exact: self.is_naught() || (self.exact && other.exact && lost == 0.0),
        }
    }
}

#[test]
fn exact_numbers_stay_exact_and_rounded_ones_say_so() {
    let given = Number::given;
    assert!((given(0.5) + given(0.25)).exact);
    assert!((given(1.0) - given(0.125)).exact);
    assert!((given(3.0) * given(0.375)).exact);
    assert!((given(3.0) / given(4.0)).exact);
    assert!(!(given(0.1) + given(0.2)).exact);
    assert!(!(given(0.1) * given(0.1)).exact);
    assert!(!(given(1.0) / given(3.0)).exact);
    let third = given(1.0) / given(3.0);
    assert!((third * given(0.0)).exact, "nothing times anything");
    assert!(!(third + given(0.0)).exact, "rounding is not undone");
}
