//! Decimals of any size as text, with every digit.

/// Appends the number whose digits are `unscaled`, big-endian in two's complement, `scale` of them behind the point.
pub(super) fn show(unscaled: &[u8], scale: i64, out: &mut Vec<u8>) {
    let negative = unscaled.first().is_some_and(|byte| byte & 0x80 != 0);
    let start = out.len();
    magnitude(unscaled, negative, out);
    if let Ok(zeros @ 1..=MAX_ZEROS) = usize::try_from(scale.saturating_neg()) {
        if out[start..] != *b"0" {
            out.resize(out.len() + zeros, b'0');
        }
    } else if let Ok(behind @ 1..=MAX_ZEROS) = usize::try_from(scale) {
        let digits = out.len() - start;
        if digits <= behind {
            let missing = behind + 1 - digits;
            out.splice(start..start, std::iter::repeat_n(b'0', missing));
        }
        out.insert(out.len() - behind, b'.');
    } else if scale != 0 {
        out.extend_from_slice(b"e");
        out.extend_from_slice(
            itoa::Buffer::new()
                .format(scale.saturating_neg())
                .as_bytes(),
        );
    }
    if negative {
        out.insert(start, b'-');
    }
}

/// Appends the digits of a number without its sign.
fn magnitude(unscaled: &[u8], negative: bool, out: &mut Vec<u8>) {
    if unscaled.len() <= 16 {
        let mut bytes = [if negative { 0xff } else { 0 }; 16];
        bytes[16 - unscaled.len()..].copy_from_slice(unscaled);
        let value = i128::from_be_bytes(bytes).unsigned_abs();
        out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        return;
    }
    // Rare, so it may allocate: limbs of nine decimal digits, the lowest first.
    let mut limbs = vec![0_u32];
    for &byte in unscaled {
        let mut carry = u64::from(if negative { !byte } else { byte });
        for limb in &mut limbs {
            let value = u64::from(*limb) * 256 + carry;
            *limb = (value % LIMB) as u32;
            carry = value / LIMB;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    if negative {
        // Two's complement: the inverted bytes are one too small.
        let full = limbs.iter_mut().all(|limb| {
            *limb = (*limb + 1) % LIMB as u32;
            *limb == 0
        });
        if full {
            limbs.push(1);
        }
    }
    let (top, rest) = limbs.split_last().expect("there is always a limb");
    out.extend_from_slice(top.to_string().as_bytes());
    for limb in rest.iter().rev() {
        out.extend_from_slice(format!("{limb:09}").as_bytes());
    }
}

const LIMB: u64 = 1_000_000_000;
/// The most zeros that are written out; beyond, an exponent stands.
const MAX_ZEROS: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        let big = [&[1][..], &[0; 16]].concat();
        let low = [&[0xff][..], &[0; 16]].concat();
        for (unscaled, scale, want) in [
            (&b"\xcf\xc7"[..], 2, "-123.45"),
            (b"\x30\x39", 2, "123.45"),
            (b"\x30\x39", 0, "12345"),
            (b"\x30\x39", -2, "1234500"),
            (b"\x05", 3, "0.005"),
            (b"\xfb", 3, "-0.005"),
            (b"", 2, "0.00"),
            (b"\0", -2, "0"),
            (b"\x01", 1_000, "1e-1000"),
            (&big, 0, "340282366920938463463374607431768211456"),
            (&low, 2, "-3402823669209384634633746074317682114.56"),
        ] {
            let mut out = Vec::new();
            show(unscaled, scale, &mut out);
            assert_eq!(
                String::from_utf8(out).unwrap(),
                want,
                "{unscaled:?} {scale}"
            );
        }
    }
}
