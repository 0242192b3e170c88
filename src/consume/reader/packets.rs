//! The channel from a stream's threads to the host.

use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Thread;

use thiserror::Error;
use tokio::sync::mpsc;
use tracing::error;

use crate::frame::Packet;

/// Is the end where the packets come out, one or more at a time; dropping it stops the reader.
#[derive(Debug)]
pub struct Packets {
    receiver: Receiver,
    /// The reader's, which waits where it has nothing to do.
    thread: Thread,
}

/// Says that a stream has stopped over a fault of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the stream stopped over an internal fault, which is in the plugin's log")]
pub struct Panicked;

pub(super) type Sender = mpsc::Sender<Result<Vec<Packet>, Panicked>>;
type Receiver = mpsc::Receiver<Result<Vec<Packet>, Panicked>>;

/// Makes both ends.
pub(super) fn channel() -> (Sender, Receiver) {
    mpsc::channel(GROUPS_WAITING)
}

/// Runs the work of one of the stream's threads; where it panics, the host is told, and there is no result.
pub(super) fn guarded<T>(packets: &Sender, work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    if result.is_err() {
        error!("a thread of a stream panicked");
        // Nobody is left to tell where this fails.
        let _ = packets.blocking_send(Err(Panicked));
    }
    result.ok()
}

impl Packets {
    pub(super) fn new(receiver: Receiver, thread: Thread) -> Self {
        Self { receiver, thread }
    }
}

impl Deref for Packets {
    type Target = Receiver;

    fn deref(&self) -> &Self::Target {
        &self.receiver
    }
}

impl DerefMut for Packets {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.receiver
    }
}

impl Drop for Packets {
    fn drop(&mut self) {
        self.receiver.close();
        self.thread.unpark();
    }
}

/// Groups of packets that wait for the host; behind them the reader stops.
const GROUPS_WAITING: usize = 4;
