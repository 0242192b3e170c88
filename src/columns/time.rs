//! Times: nanoseconds since 1970 in 64 bits, which reach from 1677 to 2262.

use crate::config::TimeUnit;

pub(crate) const NANOS_PER_MS: i64 = 1_000_000;
const NANOS_PER_S: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// Gives the nanoseconds of `ms` milliseconds; `None` outside of the window.
pub(crate) fn from_ms(ms: i64) -> Option<i64> {
    ms.checked_mul(NANOS_PER_MS)
}

/// Reads a number's decimal text as a time, exact to the nanosecond.
///
/// `Auto` goes by magnitude: below 1e11 seconds (year 5138), below 1e14 milliseconds, below 1e17 microseconds, else
/// nanoseconds.
pub(crate) fn from_number(text: &str, unit: TimeUnit) -> Option<i64> {
    let (negative, digits) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    if digits.contains(['e', 'E']) {
        let value: f64 = text.parse().ok()?;
        return from_float(value, unit);
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole: i64 = whole.parse().ok()?;
    let scale = scale(unit, whole as f64);
    let mut nanos = whole.checked_mul(scale)?;
    let mut place = scale;
    for digit in fraction.bytes() {
        place /= 10;
        nanos = nanos.checked_add(i64::from(digit.checked_sub(b'0')?) * place)?;
    }
    Some(if negative { -nanos } else { nanos })
}

fn from_float(value: f64, unit: TimeUnit) -> Option<i64> {
    let nanos = value * scale(unit, value.abs()) as f64;
    (nanos.abs() < i64::MAX as f64).then_some(nanos as i64)
}

/// Gives the nanoseconds of one `unit`.
fn scale(unit: TimeUnit, magnitude: f64) -> i64 {
    match unit {
        TimeUnit::S => NANOS_PER_S,
        TimeUnit::Ms => NANOS_PER_MS,
        TimeUnit::Us => 1_000,
        TimeUnit::Ns => 1,
        TimeUnit::Auto | TimeUnit::Rfc3339 => match magnitude {
            m if m < 1e11 => NANOS_PER_S,
            m if m < 1e14 => NANOS_PER_MS,
            m if m < 1e17 => 1_000,
            _ => 1,
        },
    }
}

/// Reads a text as a time in `unit`: RFC 3339 (a space for the `T`, a missing zone as UTC and a date alone are taken too),
/// or a number.
pub(crate) fn from_text(text: &str, unit: TimeUnit) -> Option<i64> {
    let text = text.trim();
    match unit {
        TimeUnit::Rfc3339 => from_rfc3339(text.as_bytes()),
        TimeUnit::Auto => from_rfc3339(text.as_bytes()).or_else(|| from_number(text, unit)),
        _ => from_number(text, unit),
    }
}

fn from_rfc3339(text: &[u8]) -> Option<i64> {
    let mut cursor = Digits(text);
    let year = cursor.number(4)?;
    cursor.one_of(b"-")?;
    let month = cursor.number(2).filter(|m| (1..=12).contains(m))?;
    cursor.one_of(b"-")?;
    let day = cursor
        .number(2)
        .filter(|&d| d >= 1 && d <= days_in(year, month))?;
    let mut seconds = days_from_civil(year, month, day) * SECONDS_PER_DAY;
    let mut nanos = 0;
    if !cursor.0.is_empty() {
        cursor.one_of(b"Tt ")?;
        let hour = cursor.number(2).filter(|&h| h < 24)?;
        cursor.one_of(b":")?;
        let minute = cursor.number(2).filter(|&m| m < 60)?;
        let mut second = 0;
        if cursor.one_of(b":").is_some() {
            // 60 is a leap second: it counts as the second after it.
            second = cursor.number(2).filter(|&s| s <= 60)?;
            if cursor.one_of(b".,").is_some() {
                nanos = cursor.fraction()?;
            }
        }
        seconds += hour * 3_600 + minute * 60 + second - cursor.zone()?;
    }
    if !cursor.0.is_empty() {
        return None;
    }
    seconds.checked_mul(NANOS_PER_S)?.checked_add(nanos)
}

struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    fn number(&mut self, width: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(width)?;
        let mut value = 0;
        for digit in digits {
            value = value * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        self.0 = rest;
        Some(value)
    }

    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        bytes.contains(&first).then(|| self.0 = rest)?;
        Some(first)
    }

    /// Reads a second's fraction as nanoseconds; digits past the ninth are dropped.
    fn fraction(&mut self) -> Option<i64> {
        let len = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(len);
        self.0 = rest;
        let nanos = (0..9).fold(0, |n, i| {
            n * 10 + digits.get(i).map_or(0, |d| i64::from(d - b'0'))
        });
        (len > 0).then_some(nanos)
    }

    /// Reads a zone's seconds east of Greenwich.
    fn zone(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-") {
            None | Some(b'Z' | b'z') => return Some(0),
            Some(b'-') => -1,
            Some(_) => 1,
        };
        let hour = self.number(2).filter(|&h| h < 24)?;
        self.one_of(b":");
        let minute = if self.0.is_empty() {
            0
        } else {
            self.number(2).filter(|&m| m < 60)?
        };
        Some(sign * (hour * 3_600 + minute * 60))
    }
}

/// Counts the days from 1970-01-01 in the proleptic Gregorian calendar: years begin in March, so that the leap day is last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, unit, want) in [
            (
                "1700000000",
                TimeUnit::Auto,
                Some(1_700_000_000_000_000_000),
            ),
            (
                "1700000000123",
                TimeUnit::Auto,
                Some(1_700_000_000_123_000_000),
            ),
            (
                "1700000000123456",
                TimeUnit::Auto,
                Some(1_700_000_000_123_456_000),
            ),
            (
                "1700000000123456789",
                TimeUnit::Auto,
                Some(1_700_000_000_123_456_789),
            ),
            (
                "1700000000.5",
                TimeUnit::Auto,
                Some(1_700_000_000_500_000_000),
            ),
            (
                "1700000000.123456789123",
                TimeUnit::S,
                Some(1_700_000_000_123_456_789),
            ),
            ("-1.5", TimeUnit::S, Some(-1_500_000_000)),
            ("1.7e9", TimeUnit::Auto, Some(1_700_000_000_000_000_000)),
            ("5", TimeUnit::Ms, Some(5_000_000)),
            ("5", TimeUnit::Us, Some(5_000)),
            ("5.9", TimeUnit::Ns, Some(5)),
            ("1e300", TimeUnit::S, None),
            ("99999999999", TimeUnit::S, None),
            ("99999999999999999999", TimeUnit::Ns, None),
        ] {
            assert_eq!(from_number(text, unit), want, "{text} {unit:?}");
        }
    }

    #[test]
    fn texts() {
        for (text, want) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2024-02-29T12:30:15.25Z", Some(1_709_209_815_250_000_000)),
            ("2024-02-29 12:30:15,25", Some(1_709_209_815_250_000_000)),
            (
                "2024-02-29T14:30:15.250000000999+02:00",
                Some(1_709_209_815_250_000_000),
            ),
            (
                "2024-02-29T09:30:15.25-0300",
                Some(1_709_209_815_250_000_000),
            ),
            ("2024-02-29", Some(1_709_164_800_000_000_000)),
            ("1969-12-31T23:59:59.999999Z", Some(-1_000)),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-01-01T24:00:00Z", None),
            ("2024-01-01T00:00:00Zx", None),
            ("9999-01-01T00:00:00Z", None),
            ("noon", None),
            ("", None),
        ] {
            assert_eq!(from_text(text, TimeUnit::Auto), want, "{text}");
        }
        assert_eq!(from_text("1700000000", TimeUnit::Rfc3339), None);
        assert_eq!(
            from_text("1700000000", TimeUnit::Auto),
            Some(1_700_000_000_000_000_000)
        );
    }
}
