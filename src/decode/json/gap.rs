//! The bytes between two leaves, such as `,"name":`, and what they say comes next.

use super::tree::NodeId;

/// Is a gap that came before, and the leaf that it led to.
///
/// Most gaps have up to 16 bytes: one comparison of 128 bits under a mask costs a third of a call of `memcmp`
/// (`benches/workflow.rs`, `json_100fields`). The twin is `starts_with`.
#[derive(Debug, Clone)]
pub(super) struct Gap {
    head: u128,
    /// Ones where `head` has bytes.
    mask: u128,
    len: usize,
    pub(super) next: NodeId,
    /// What follows the first 16 bytes.
    tail: Vec<u8>,
}

impl Gap {
    /// Makes a gap that nothing begins with.
    pub(super) fn none(next: NodeId) -> Self {
        Self {
            head: 1,
            mask: 0,
            len: 0,
            next,
            tail: Vec::new(),
        }
    }

    /// Remembers other bytes.
    pub(super) fn set(&mut self, gap: &[u8], next: NodeId) {
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
        // Zeros behind the end of `rest` are no gap's: JSON has none outside of texts, where it escapes them.
        if word & self.mask != self.head {
            return None;
        }
        (self.len <= WORD || rest[WORD..].starts_with(&self.tail)).then_some(self.len)
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
    use super::super::tree::ROOT;
    use super::*;

    #[test]
    fn gaps_are_compared_whole() {
        let rest: Vec<u8> = (1..=40).collect();
        let mut gap = Gap::none(ROOT);
        assert_eq!(gap.begins(word(&rest), &rest), None);
        for len in 1..=rest.len() {
            gap.set(&rest[..len], ROOT);
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
