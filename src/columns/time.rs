//! Times: nanoseconds since 1970 in 64 bits, which reach from 1677 to 2262.

use std::io::Write;

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

/// Writes a time as RFC 3339 in UTC, to the nanosecond.
pub(crate) fn to_rfc3339(nanos: i64) -> Vec<u8> {
    let day = SECONDS_PER_DAY * NANOS_PER_S;
    let mut out = Vec::with_capacity(30);
    show_date(nanos.div_euclid(day), &mut out);
    out.push(b'T');
    show_clock(nanos.rem_euclid(day), NANOS_PER_S, &mut out);
    out.push(b'Z');
    out
}

/// Appends the date that lies `days` after 1970-01-01.
pub(crate) fn show_date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil_from_days(days);
    if (0..10_000).contains(&year) {
        digits(year, 4, out);
    } else {
        let _ = write!(out, "{year:04}");
    }
    out.push(b'-');
    digits(month, 2, out);
    out.push(b'-');
    digits(day, 2, out);
}

/// Appends a time of day, with the digits that `unit`, the parts of a second, has (1 has none, and no point); what is no time of day
/// as its number.
pub(crate) fn show_clock(value: i64, unit: i64, out: &mut Vec<u8>) {
    let (seconds, part) = (value.div_euclid(unit), value.rem_euclid(unit));
    if !(0..SECONDS_PER_DAY).contains(&seconds) {
        return out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }
    digits(seconds / 3_600, 2, out);
    out.push(b':');
    digits(seconds / 60 % 60, 2, out);
    out.push(b':');
    digits(seconds % 60, 2, out);
    if unit > 1 {
        out.push(b'.');
        digits(part, unit.ilog10() as usize, out);
    }
}

/// Appends a number from 0 on that has at most `width` digits, with zeros before it.
fn digits(number: i64, width: usize, out: &mut Vec<u8>) {
    let (start, mut rest) = (out.len(), number as u64);
    out.resize(start + width, b'0');
    for digit in out[start..].iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
}

/// Gives the year, month and day that lie `days` after 1970-01-01: the inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
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
    fn shown() {
        for text in [
            "1970-01-01T00:00:00.000000000Z",
            "1969-12-31T23:59:59.999999000Z",
            "2000-02-29T12:00:00.000000001Z",
            "2100-03-01T00:00:00.000000000Z",
            "1900-02-28T23:59:59.000000000Z",
        ] {
            let nanos = from_text(text, TimeUnit::Auto).unwrap();
            assert_eq!(to_rfc3339(nanos), text.as_bytes(), "{text}");
        }
    }

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
