//! Varints: seven bits a byte, the lowest first, as Avro and Protobuf write whole numbers.

/// Reads a varint of at most 64 bits from the start of `bytes`: its value, and how many bytes it takes; `None` where it does not
/// end within `bytes`, or within [`MAX_VARINT`] bytes.
///
/// Up to eight bytes are put together at once, since times and ids take five to seven (`benches/workflow.rs`,
/// `avro_30fields`); the twin is the loop behind that.
#[inline]
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    if let Some(&first) = bytes.first_chunk() {
        let word = u64::from_le_bytes(first);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends != 0 {
            let len = ends.trailing_zeros() as usize / 8 + 1;
            return Some((packed(word & (ends ^ (ends - 1))), len));
        }
    }
    plain(bytes)
}

/// Puts the low seven bits of each byte together.
#[inline]
fn packed(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    (word & 0x0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4
}

fn plain(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().take(MAX_VARINT).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            let fits = i < MAX_VARINT - 1 || byte <= 1;
            return fits.then_some((value, i + 1));
        }
    }
    None
}

/// The bytes of the longest varint.
pub(super) const MAX_VARINT: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length() {
        let sizes = (0..64).map(|bit| 1_u64 << bit);
        let values = sizes.flat_map(|size| [size - 1, size, size | 0x55, size.wrapping_mul(3)]);
        for value in values.chain([u64::MAX]) {
            let (mut bytes, mut rest) = (Vec::new(), value);
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
            let len = bytes.len();
            for behind in [&b""[..], b"\0", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
                let bytes = [&bytes, behind].concat();
                assert_eq!(varint(&bytes), Some((value, len)), "{bytes:x?}");
                assert_eq!(plain(&bytes), Some((value, len)), "{bytes:x?}");
            }
        }
    }

    #[test]
    fn no_numbers() {
        for bytes in [
            &b""[..],
            b"\x80",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            assert_eq!(varint(bytes), None, "{bytes:x?}");
        }
    }
}
