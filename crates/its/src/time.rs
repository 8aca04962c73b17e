//! The time of ITS messages.

/// Milliseconds of ITS time: TAI since 2004-01-01 00:00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ItsTime(pub u64);

/// Unix time of the ITS epoch, in seconds.
const ITS_EPOCH_UNIX_S: i64 = 1_072_915_200;
/// Leap seconds since the ITS epoch: ITS time runs ahead of UTC by them (2005, 2008, 2012, 2015, 2016).
const LEAP_SECONDS: i64 = 5;
/// The last time stamp, 42 bits.
pub(crate) const ITS_TIME_MAX: i64 = 4_398_046_511_103;

impl ItsTime {
    /// Of a Unix time in milliseconds, after 2017; none before the ITS epoch.
    #[must_use]
    pub const fn from_unix_millis(millis: i64) -> Option<Self> {
        let its = millis
            .saturating_sub(ITS_EPOCH_UNIX_S * 1_000)
            .saturating_add(LEAP_SECONDS * 1_000);
        if its < 0 || its > ITS_TIME_MAX {
            return None;
        }
        Some(Self(its as u64))
    }

    /// As Unix time in microseconds.
    #[must_use]
    pub const fn to_unix_micros(self) -> i64 {
        // 2^42 ms are 4.4e18 / 1000 us: no overflow; hostile values saturate.
        let its = if self.0 > ITS_TIME_MAX as u64 {
            ITS_TIME_MAX
        } else {
            self.0 as i64
        };
        (its + (ITS_EPOCH_UNIX_S - LEAP_SECONDS) * 1_000) * 1_000
    }
}
