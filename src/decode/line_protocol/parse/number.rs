//! Numbers and timestamps.

use super::{LineFault, Parser, Span, Value};

impl Parser<'_> {
    /// Reads a number: whole with `i` or `u` behind it, else a float. Neither NaN and infinity nor hexadecimal digits are one.
    #[inline]
    pub(super) fn number(&mut self) -> Result<(Value, Span), LineFault> {
        let start = self.pos;
        let negative = self.take(b'-');
        let mut mantissa = 0_u64;
        let whole = self.digits(&mut mantissa);
        let mut fraction = 0;
        let point = self.take(b'.');
        if point {
            fraction = self.digits(&mut mantissa);
        }
        if whole + fraction == 0 {
            return Err(self.fault("a digit"));
        }
        let mut exponent = false;
        match self.bytes.get(self.pos) {
            Some(b'i') if !point => return self.integer(start),
            Some(b'u') if !point && !negative => return self.unsigned(start),
            Some(b'e' | b'E') => {
                exponent = true;
                self.pos += 1;
                let _ = self.take(b'-') || self.take(b'+');
                if self.digits(&mut 0) == 0 {
                    return Err(self.fault("a digit of an exponent"));
                }
            }
            _ => {}
        }
        let span = self.span(start, 0);
        let exact = exact(mantissa, whole + fraction, fraction).filter(|_| !exponent);
        let value = if let Some(value) = exact {
            if negative { -value } else { value }
        } else {
            let text = std::str::from_utf8(span.of(self.bytes)).unwrap_or_default();
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => value,
                _ => {
                    self.pos = start;
                    return Err(self.fault("a number below 1.8e308"));
                }
            }
        };
        self.end_value(
            "a number's end: `,`, a space or the line's end, or `i` or `u` after a whole number",
        )?;
        Ok((Value::Float(value), span))
    }

    #[inline]
    fn digits(&mut self, value: &mut u64) -> usize {
        let (rest, mut len) = (&self.bytes[self.pos..], 0);
        while let Some(digit) = rest.get(len).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            len += 1;
        }
        self.pos += len;
        len
    }

    /// Reads digits eight at a time: a timestamp has 10 to 19 (`benches/workflow.rs`, `lineprotocol`). The twin is `digits`.
    fn many_digits(&mut self, value: &mut u64) -> usize {
        let start = self.pos;
        while let Some(&chunk) = self.bytes[self.pos..].first_chunk()
            && let Some(eight) = eight_digits(chunk)
        {
            *value = value.wrapping_mul(100_000_000).wrapping_add(eight);
            self.pos += 8;
        }
        self.digits(value);
        self.pos - start
    }

    fn integer(&mut self, start: usize) -> Result<(Value, Span), LineFault> {
        let (value, span) = self.whole(
            start,
            "a whole number from -9223372036854775808 to 9223372036854775807",
        )?;
        Ok((Value::Integer(value), span))
    }

    fn unsigned(&mut self, start: usize) -> Result<(Value, Span), LineFault> {
        let (value, span) = self.whole(start, "a whole number up to 18446744073709551615")?;
        Ok((Value::Unsigned(value), span))
    }

    /// Reads the digits from `start` to here, and passes over the letter.
    fn whole<T: std::str::FromStr>(
        &mut self,
        start: usize,
        range: &'static str,
    ) -> Result<(T, Span), LineFault> {
        let span = self.span(start, 0);
        let text = std::str::from_utf8(span.of(self.bytes)).unwrap_or_default();
        let Ok(value) = text.parse() else {
            self.pos = start;
            return Err(self.fault(range));
        };
        self.pos += 1;
        self.end_value("`,`, a space or the line's end after a whole number")?;
        Ok((value, span))
    }

    pub(super) fn timestamp(&mut self) -> Result<i64, LineFault> {
        const EXPECTED: &str = "a timestamp, a whole number in 64 bits";
        let start = self.pos;
        let negative = self.take(b'-');
        let mut digits = 0_u64;
        match (self.many_digits(&mut digits), i64::try_from(digits)) {
            (0, _) => Err(self.fault(EXPECTED)),
            (1..=19, Ok(value)) => Ok(if negative { -value } else { value }),
            _ => {
                let span = self.span(start, 0);
                let text = std::str::from_utf8(span.of(self.bytes)).unwrap_or_default();
                text.parse().map_err(|_| {
                    self.pos = start;
                    self.fault(EXPECTED)
                })
            }
        }
    }
}

/// Reads what most numbers are: digits with a point or none, up to a comma, a space or a line's end; gives the bytes that they take.
///
/// The twin is [`Parser::number`], which reads whatever this does not (`benches/workflow.rs`, `lineprotocol`).
#[inline]
pub(super) fn plain_number(rest: &[u8]) -> Option<(f64, usize)> {
    let (mut mantissa, mut point, mut len) = (0_u64, None, 0);
    loop {
        let byte = *rest.get(len)?;
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == b'.' && point.is_none() {
            point = Some(len);
        } else if matches!(byte, b',' | b' ' | b'\n') {
            break;
        } else {
            return None;
        }
        len += 1;
    }
    let fraction = point.map_or(0, |point| len - point - 1);
    let digits = len - usize::from(point.is_some());
    let value = exact(mantissa, digits, fraction)?;
    Some((value, len))
}

/// Gives the number of that many digits, of which `fraction` stand behind the point, if its parts are exact: then one rounding is
/// the right one.
#[inline]
fn exact(mantissa: u64, digits: usize, fraction: usize) -> Option<f64> {
    if !(1..=18).contains(&digits) || mantissa > 1 << 53 {
        return None;
    }
    // A division takes as long as the rest of a number.
    Some(match fraction {
        0 => mantissa as f64,
        _ => mantissa as f64 / POWERS[fraction],
    })
}

/// Gives the number that eight digits are.
#[inline]
fn eight_digits(chunk: [u8; 8]) -> Option<u64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let digits = u64::from_le_bytes(chunk) ^ (EACH * u64::from(b'0'));
    // Of a digit the upper half is empty, also with 6 more.
    if (digits | digits.wrapping_add(EACH * 6)) & (EACH * 0xf0) != 0 {
        return None;
    }
    // The first digit is the lowest byte: two become a number, then four, then all.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// Powers of ten that a float64 holds exactly.
const POWERS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];
