//! Which bytes stand in a JSON string as they are.

/// Counts the bytes at the start of `bytes` that stand for themselves: ASCII but quotes, backslashes and control characters.
///
/// Eight at a time, and after the first ones sixteen: texts are most of a record (`benches/workflow.rs`, `plaintext`). The twin
/// is the loop behind them.
#[inline]
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    let Some(&last) = bytes.last_chunk::<8>() else {
        return bytes.iter().take_while(|&&byte| is_plain(byte)).count();
    };
    let mut len = 0;
    while let Some(&chunk) = bytes[len..].first_chunk::<8>() {
        let special = special(u64::from_le_bytes(chunk));
        if special != 0 {
            return len + special.trailing_zeros() as usize / 8;
        }
        len += 8;
        while let Some(chunk) = bytes[len..].first_chunk::<16>()
            && chunk.iter().fold(true, |all, &byte| all & is_plain(byte))
        {
            len += 16;
        }
    }
    // The last eight once more, of which the first are plain.
    match special(u64::from_le_bytes(last)) {
        0 => bytes.len(),
        special => bytes.len() - 8 + special.trailing_zeros() as usize / 8,
    }
}

/// Tells whether a byte stands for itself; as a signed number, what is no ASCII is below a space too.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without a branch the compiler takes sixteen bytes at once"
)]
#[inline]
fn is_plain(byte: u8) -> bool {
    (byte as i8 >= b' ' as i8) & (byte != b'"') & (byte != b'\\')
}

/// Marks, by its high bit, each byte that is not plain.
/// Marks above the lowest may be wrong, so only the lowest is used.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let zero = |x: u64| x.wrapping_sub(ONES) & !x;
    let each = |byte: u8| ONES * u64::from(byte);
    let quote = zero(word ^ each(b'"'));
    let backslash = zero(word ^ each(b'\\'));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | backslash | control | word) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for len in (0..40).chain([60]) {
            for place in 0..len {
                for byte in 0..=255_u8 {
                    let mut bytes = vec![b'x'; len];
                    bytes[place] = byte;
                    let plain = (0x20..0x80).contains(&byte) && byte != b'"' && byte != b'\\';
                    let want = if plain { len } else { place };
                    assert_eq!(plain_len(&bytes), want, "{byte:#04x} at {place} of {len}");
                }
            }
        }
    }
}
