//! The bytes between two values, such as `,"name":`, and what they say comes next.

/// Is a gap that came before, and what it led to.
///
/// Most gaps have up to 16 bytes: one comparison of 128 bits under a mask costs a third of a call of `memcmp`
/// (`benches/workflow.rs`, `json_100fields`, `lineprotocol`). The twin is `starts_with`.
#[derive(Debug, Clone)]
pub(super) struct Gap<N> {
    head: u128,
    /// Ones where `head` has bytes.
    mask: u128,
    len: usize,
    pub(super) next: N,
    /// What follows the first 16 bytes.
    tail: Vec<u8>,
}

impl<N> Gap<N> {
    /// Makes a gap that nothing begins with.
    pub(super) fn none(next: N) -> Self {
        Self {
            head: 1,
            mask: 0,
            len: 0,
            next,
            tail: Vec::new(),
        }
    }

    /// Remembers other bytes.
    pub(super) fn set(&mut self, gap: &[u8], next: N) {
        self.head = word(gap);
        self.mask = word(&[0xff; WORD][..gap.len().min(WORD)]);
        self.len = gap.len();
        self.next = next;
        self.tail.clear();
        self.tail
            .extend_from_slice(gap.get(WORD..).unwrap_or_default());
    }

    /// Gives the gap's length where `rest` begins with it; `word` is [`word`] of `rest`.
    #[inline]
    pub(super) fn begins(&self, word: u128, rest: &[u8]) -> Option<usize> {
        // Zeros stand behind the end of `rest`, and no gap ends with one.
        if word & self.mask != self.head {
            return None;
        }
        let tail = || {
            rest.get(WORD..)
                .is_some_and(|rest| rest.starts_with(&self.tail))
        };
        (self.len <= WORD || tail()).then_some(self.len)
    }
}

/// Gives the first 16 bytes, or zeros where there are less.
#[inline]
pub(super) fn word(bytes: &[u8]) -> u128 {
    if let Some(&chunk) = bytes.first_chunk() {
        return u128::from_le_bytes(chunk);
    }
    short_word(bytes)
}

fn short_word(bytes: &[u8]) -> u128 {
    let mut chunk = [0; WORD];
    chunk[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(chunk)
}

const WORD: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_compared_whole() {
        let rest: Vec<u8> = (1..=40).collect();
        let mut gap = Gap::none(());
        assert_eq!(gap.begins(word(&rest), &rest), None);
        for len in 1..=rest.len() {
            gap.set(&rest[..len], ());
            for end in 0..=rest.len() {
                let rest = &rest[..end];
                let want = (end >= len).then_some(len);
                assert_eq!(gap.begins(word(rest), rest), want, "{len} in {end}");
            }
            for place in 0..len {
                let mut other = rest.clone();
                other[place] ^= 0x40;
                assert_eq!(gap.begins(word(&other), &other), None, "{len} {place}");
            }
        }
    }
}
