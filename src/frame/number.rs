//! Numbers as JSON writes them, into a cell's room.

use super::buffer::{Room, put};

/// Writes whole numbers of one column, each with a comma behind it.
///
/// Neighbours such as offsets and times differ in their last four digits, if at all, so the text before them is kept
/// (`benches/workflow.rs`, `plaintext`). The twin is `itoa`.
#[derive(Debug, Default)]
pub(super) struct Integers {
    /// The number without its last four digits, and their place empty; 0 is none.
    base: u64,
    /// Its text without them.
    prefix: [u8; 16],
    len: usize,
}

impl Integers {
    #[expect(
        clippy::inline_always,
        reason = "most numbers take ten instructions, and a call as many again"
    )]
    #[inline(always)]
    pub(super) fn write(&mut self, value: i64, room: &mut Room) -> usize {
        let number = value as u64;
        if number < 10 {
            room[..2].copy_from_slice(&[b'0' + number as u8, b',']);
            return 2;
        }
        if number < LAST {
            return small(number as usize, room);
        }
        let last = number.wrapping_sub(self.base);
        if last >= LAST || self.base == 0 || value < 0 {
            return self.other(value, room);
        }
        self.with_prefix(last as usize, room)
    }

    /// Writes the kept prefix and four digits.
    #[inline]
    fn with_prefix(&self, last: usize, room: &mut Room) -> usize {
        let len = self.len & 15;
        room[..16].copy_from_slice(&self.prefix);
        room[len..len + 2].copy_from_slice(&PAIRS[last / 100 % 100]);
        room[len + 2..len + 4].copy_from_slice(&PAIRS[last % 100]);
        room[len + 4] = b',';
        len + 5
    }

    fn other(&mut self, value: i64, room: &mut Room) -> usize {
        let mut digits = itoa::Buffer::new();
        if value < 0 {
            return comma(put(digits.format(value).as_bytes(), room), room);
        }
        let number = value as u64;
        let mut prefix: Room = [0; _];
        self.len = put(digits.format(number / LAST).as_bytes(), &mut prefix);
        self.prefix.copy_from_slice(&prefix[..16]);
        self.base = number - number % LAST;
        self.with_prefix((number % LAST) as usize, room)
    }
}

/// Writes a finite number and a comma: the shortest text that reads back as `value`; whole numbers without a point.
#[expect(
    clippy::inline_always,
    reason = "most numbers take ten instructions, and a call as many again"
)]
#[expect(
    clippy::float_cmp,
    reason = "a whole number is the same before and after, or it is none"
)]
#[inline(always)]
pub(super) fn float(value: f64, whole: &mut Integers, room: &mut Room) -> usize {
    let number = value as i64;
    if number as f64 == value
        && number.unsigned_abs() < 1 << 53
        && !(number == 0 && value.is_sign_negative())
    {
        return whole.write(number, room);
    }
    fraction(value, whole, room)
}

/// Writes a number that is not whole.
///
/// What people measure has few decimals: with at most four of them, and fifteen digits in all, the text is the only one so short
/// that reads back (`benches/workflow.rs`, `avro`). The twin is `zmij`.
#[expect(clippy::float_cmp, reason = "it has four decimals or it has not")]
fn fraction(value: f64, whole: &mut Integers, room: &mut Room) -> usize {
    let size = value.abs();
    let scaled = (size * SCALE + 0.5) as u64;
    if scaled == 0 || size >= FEW_DIGITS || scaled as f64 / SCALE != size {
        return shortest(value, room);
    }
    let mut len = whole.write((scaled / LAST) as i64, room);
    room[len - 1] = b'.';
    let decimals = (scaled % LAST) as usize;
    room[len..len + 2].copy_from_slice(&PAIRS[decimals / 100]);
    room[len + 2..len + 4].copy_from_slice(&PAIRS[decimals % 100]);
    len += 4;
    while room[len - 1] == b'0' {
        len -= 1;
    }
    if value < 0.0 {
        let text = *room.first_chunk::<24>().expect("a cell has more room");
        room[1..25].copy_from_slice(&text);
        room[0] = b'-';
        len += 1;
    }
    comma(len, room)
}

fn shortest(value: f64, room: &mut Room) -> usize {
    comma(
        put(zmij::Buffer::new().format_finite(value).as_bytes(), room),
        room,
    )
}

/// Writes a number and a comma.
pub(super) fn unsigned(value: u64, room: &mut Room) -> usize {
    comma(
        put(itoa::Buffer::new().format(value).as_bytes(), room),
        room,
    )
}

/// Writes a number of at most four digits, and a comma.
#[inline]
fn small(number: usize, room: &mut Room) -> usize {
    let [[a, b], [c, d]] = [PAIRS[number / 100 % 100], PAIRS[number % 100]];
    let zeros = usize::from(number < 1_000) + usize::from(number < 100) + usize::from(number < 10);
    let text = u64::from_le_bytes([a, b, c, d, b',', 0, 0, 0]) >> (8 * zeros);
    room[..8].copy_from_slice(&text.to_le_bytes());
    5 - zeros
}

fn comma(len: usize, room: &mut Room) -> usize {
    room[len] = b',';
    len + 1
}

/// The first number with five digits.
const LAST: u64 = 10_000;
/// What four decimals make whole.
const SCALE: f64 = LAST as f64;
/// Below, a number with four decimals has at most fifteen digits.
const FEW_DIGITS: f64 = 1e11;

/// `00` to `99`.
const PAIRS: [[u8; 2]; 100] = {
    let (mut pairs, mut i) = ([[0; 2]; 100], 0);
    while i < 100 {
        pairs[i] = [b'0' + i as u8 / 10, b'0' + i as u8 % 10];
        i += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_what_itoa_writes() {
        let mut numbers = Integers::default();
        let near = |n: i64| (-3..=3).map(move |d| n.saturating_add(d));
        let powers = (0..19).flat_map(|power| near(10_i64.pow(power)));
        let values: Vec<i64> = (0..20_000)
            .chain(powers.clone())
            .chain(powers.map(|n| -n))
            .chain(near(1_700_000_000_000))
            .chain(near(1_700_000_009_999))
            .chain(near(i64::MAX))
            .chain(near(i64::MIN))
            .collect();
        for value in values {
            for _ in 0..2 {
                let mut room: Room = [b'x'; _];
                let len = numbers.write(value, &mut room);
                assert_eq!(room[..len], *format!("{value},").as_bytes(), "{value}");
            }
        }
    }

    #[test]
    fn fractions_are_what_zmij_writes() {
        let mut whole = Integers::default();
        let steps = [
            1.0,
            0.5,
            0.1,
            0.01,
            0.001,
            0.0001,
            0.00001,
            1.0 / 3.0,
            0.3 - 0.2,
        ];
        let sizes = [
            0.0,
            1.0,
            9.0,
            10.0,
            99_999.0,
            1_234_567.0,
            99_999_999_990.0,
            1e11,
            1e15,
        ];
        for size in sizes {
            for step in steps {
                for n in 1..200 {
                    let value = size + f64::from(n) * step;
                    for value in [value, -value, value.next_up(), value.next_down()] {
                        let mut room: Room = [b'x'; _];
                        let len = float(value, &mut whole, &mut room);
                        let text = std::str::from_utf8(&room[..len]).expect("it is ASCII");
                        let mut buffer = zmij::Buffer::new();
                        let plain = buffer.format_finite(value);
                        let plain = plain.strip_suffix(".0").unwrap_or(plain);
                        assert_eq!(text.strip_suffix(','), Some(plain));
                    }
                }
            }
        }
    }

    #[test]
    fn floats_read_back() {
        let mut whole = Integers::default();
        for (value, want) in [
            (0.0, "0,"),
            (-0.0, "-0.0,"),
            (1.0, "1,"),
            (-1234.0, "-1234,"),
            (1.5, "1.5,"),
            (9_007_199_254_740_991.0, "9007199254740991,"),
            (1e300, "1e+300,"),
            (-1.797_693_134_862_315_7e308, "-1.7976931348623157e+308,"),
            (5e-324, "5e-324,"),
        ] {
            let mut room: Room = [b'x'; _];
            let len = float(value, &mut whole, &mut room);
            let text = std::str::from_utf8(&room[..len]).expect("it is ASCII");
            assert_eq!(text, want);
            let read: f64 = text.trim_end_matches(',').parse().expect("a number");
            assert_eq!(read.to_bits(), value.to_bits(), "{text}");
        }
    }
}
