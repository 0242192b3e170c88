//! Which bytes stand in a JSON string as they are.

/// Counts the bytes at the start of `bytes` that stand for themselves: ASCII but quotes, backslashes and control characters.
///
/// Eight at a time: texts are most of a record (`benches/workflow.rs`, `plaintext`). The twin is the loop behind it.
#[inline]
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    while let Some(&chunk) = bytes[len..].first_chunk::<8>() {
        let special = special(u64::from_le_bytes(chunk));
        if special != 0 {
            return len + special.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    len + bytes[len..]
        .iter()
        .take_while(|byte| matches!(byte, 0x20..=0x7f) && !matches!(byte, b'"' | b'\\'))
        .count()
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
        for place in 0..20 {
            for byte in 0..=255_u8 {
                let mut bytes = [b'x'; 20];
                bytes[place] = byte;
                let plain = (0x20..0x80).contains(&byte) && byte != b'"' && byte != b'\\';
                let want = if plain { 20 } else { place };
                assert_eq!(plain_len(&bytes), want, "{byte:#04x} at {place}");
            }
        }
    }
}
