//! The bytes of a packet as it grows, with room for a whole cell at a time.
//!
//! A vector asks for room at each append. Here it is asked for once a cell, and what a cell needs is copied in steps of a fixed
//! size, which may reach past its end (`benches/workflow.rs`, `json_20fields`); the twin is `Vec::extend_from_slice`.

/// Holds a packet's bytes; behind them stand some zeros, which are room.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    len: usize,
}

/// The room that a cell is given.
pub(super) type Room = [u8; ROOM];

impl Buffer {
    /// Makes an empty buffer that takes `bytes` before it grows.
    pub(super) fn with_room(bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes + STEP),
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Gives the bytes that were written.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
        self.bytes
    }

    /// Appends any number of bytes.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        if bytes.len() > self.bytes.len() - self.len {
            self.bytes.truncate(self.len);
            self.bytes.extend_from_slice(bytes);
        } else {
            self.bytes[self.len..][..bytes.len()].copy_from_slice(bytes);
        }
        self.len += bytes.len();
    }

    #[inline]
    pub(super) fn push(&mut self, byte: u8) {
        self.cell(|room| {
            room[0] = byte;
            1
        });
    }

    /// Appends what `write` writes; it tells how many bytes that is.
    #[expect(
        clippy::inline_always,
        reason = "a cell is a few instructions, and a call as many again"
    )]
    #[inline(always)]
    pub(super) fn cell(&mut self, write: impl FnOnce(&mut Room) -> usize) {
        if self.bytes.len() - self.len < ROOM {
            self.bytes.resize(self.len + STEP, 0);
        }
        let room = self.bytes[self.len..].first_chunk_mut();
        self.len += write(room.expect("there is room"));
    }

    /// Appends what `write` writes `count` times: a copy costs a quarter of writing a cell (`benches/workflow.rs`, `lineprotocol`).
    #[expect(
        clippy::inline_always,
        reason = "a cell is a few instructions, and a call as many again"
    )]
    #[inline(always)]
    pub(super) fn cells(&mut self, count: usize, write: impl FnOnce(&mut Room) -> usize) {
        let (mut len, mut left) = (0, count);
        match count {
            0 => return,
            1 => return self.cell(write),
            _ => self.cell(|room| {
                len = write(room);
                // Few short ones stay within the room.
                let step = match len {
                    0..=16 if len * count <= ROOM - 16 => copies::<16>,
                    17..=32 if len * count <= ROOM - 32 => copies::<32>,
                    _ => return len,
                };
                left = 1;
                step(len, count, room)
            }),
        }
        self.repeat(len, left - 1);
    }

    /// Appends the last `len` bytes `count` times more.
    #[inline]
    pub(super) fn repeat(&mut self, len: usize, count: usize) {
        if count > 0 {
            self.double(len, count);
        }
    }

    fn double(&mut self, len: usize, count: usize) {
        let (start, end) = (self.len - len, self.len + len * count);
        if self.bytes.len() < end {
            self.bytes.resize(end + STEP, 0);
        }
        // What is copied doubles with each step.
        while self.len < end {
            let more = (self.len - start).min(end - self.len);
            self.bytes.copy_within(start..start + more, self.len);
            self.len += more;
        }
    }

    /// Replaces the last byte where it is `from`, and else appends `to`.
    pub(super) fn replace_last(&mut self, from: u8, to: u8) {
        match self.bytes[..self.len].last_mut() {
            Some(last) if *last == from => *last = to,
            _ => self.push(to),
        }
    }
}

/// Copies the first `len` bytes, at most `STEP`, until they are there `count` times; gives what that takes.
#[inline]
fn copies<const STEP: usize>(len: usize, count: usize, room: &mut Room) -> usize {
    let first: [u8; STEP] = *room.first_chunk().expect("a cell has more room");
    let (mut at, end) = (len, len * count);
    while at < end && at <= ROOM - STEP {
        room[at..at + STEP].copy_from_slice(&first);
        at += len;
    }
    end
}

/// Copies a text of at most 32 bytes to the start of `room`; what stands behind it is written over.
#[inline]
pub(super) fn put(text: &[u8], room: &mut Room) -> usize {
    let len = text.len();
    match len {
        0..4 => {
            for (to, byte) in room.iter_mut().zip(text) {
                *to = *byte;
            }
        }
        4..8 => ends::<4>(text, room),
        8..16 => ends::<8>(text, room),
        _ => ends::<16>(text, room),
    }
    len
}

/// Copies the first and the last `N` bytes of a text that has at least `N`, and at most twice as many.
#[inline]
fn ends<const N: usize>(text: &[u8], room: &mut Room) {
    if let (Some(first), Some(last)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) {
        room[..N].copy_from_slice(first);
        room[text.len() - N..][..N].copy_from_slice(last);
    }
}

/// More than the longest number takes, or a text of 64 bytes in quotes with its comma, or some short cells.
const ROOM: usize = 160;
/// How much room is made at once.
const STEP: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_whole() {
        let text: Vec<u8> = (1..=32).collect();
        for len in 0..=text.len() {
            let mut room = [0; ROOM];
            assert_eq!(put(&text[..len], &mut room), len);
            assert_eq!(room[..len], text[..len], "{len}");
        }
    }

    #[test]
    fn it_grows() {
        for step in [1, 3, 100, 10_000] {
            let (mut buffer, mut want) = (Buffer::with_room(0), Vec::new());
            for round in 0..100_u8 {
                buffer.extend(&vec![round; step]);
                buffer.push(b',');
                buffer.cell(|room| put(b"cell", room));
                want.extend(vec![round; step]);
                want.extend(b",cell");
            }
            buffer.repeat(5, 3);
            buffer.repeat(2, 1);
            buffer.repeat(1, 0);
            buffer.cells(0, |_| unreachable!());
            want.extend(b",cell,cell,cellll");
            for long in [31, 32, 33, 70, 2_000] {
                let cell = vec![b'c'; long];
                buffer.extend(&cell);
                buffer.repeat(long, 4);
                want.extend(cell.repeat(5));
            }
            for count in 1..100 {
                for len in [1, 5, 31, 32, 33, 70] {
                    let cell = &[b'd'; 70][..len];
                    buffer.cells(count, |room| {
                        room[..len].copy_from_slice(cell);
                        len
                    });
                    want.extend(cell.repeat(count));
                }
            }
            buffer.cells(3, |room| put(b"cell", room));
            want.extend(b"cellcellcell");
            buffer.replace_last(b'l', b'm');
            buffer.replace_last(b'l', b'n');
            want.pop();
            want.extend(b"mn");
            assert_eq!(
                (buffer.len(), buffer.into_bytes()),
                (want.len(), want),
                "{step}"
            );
        }
    }
}
