//! What waits to be written to one client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{mpsc, watch};

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Close {
    /// With a close frame.
    Code(u16, &'static str),
    /// Without one, as a network does.
    Abruptly,
}

/// The end to put messages in. Clones share it.
#[derive(Clone)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<String>,
    queued: Arc<AtomicUsize>,
    limit: usize,
    close: Arc<watch::Sender<Option<Close>>>,
}

/// The end to take messages from.
pub(super) struct Messages {
    queue: mpsc::UnboundedReceiver<String>,
    queued: Arc<AtomicUsize>,
    pub(super) close: watch::Receiver<Option<Close>>,
}

pub(super) fn outbox(limit: usize) -> (Outbox, Messages) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let (close, closing) = watch::channel(None);
    let queued = Arc::new(AtomicUsize::new(0));
    let messages = Messages {
        queue: receiver,
        queued: queued.clone(),
        close: closing,
    };
    (
        Outbox {
            queue: sender,
            queued,
            limit,
            close: Arc::new(close),
        },
        messages,
    )
}

impl Outbox {
    /// Queues a message. The limit is looked at afterwards: one message over it ends the client.
    pub(super) fn push(&self, message: String) {
        let queued = self.queued.fetch_add(message.len(), Ordering::Relaxed) + message.len();
        if queued > self.limit {
            self.close(Close::Code(3008, "slow"));
        }
        // The reader is gone with its connection.
        let _ = self.queue.send(message);
    }

    /// Ends the connection; the first reason counts.
    pub(super) fn close(&self, how: Close) {
        self.close.send_if_modified(|close| {
            let first = close.is_none();
            close.get_or_insert(how);
            first
        });
    }

    /// Bytes that wait.
    pub(super) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }
}

impl Messages {
    /// Waits for messages, and gives those that are there, at most 16, a line each.
    pub(super) async fn next(&mut self) -> Option<String> {
        let mut text = self.queue.recv().await?;
        let mut taken = text.len();
        for _ in 1..BATCH {
            let Ok(more) = self.queue.try_recv() else {
                break;
            };
            taken += more.len();
            text.push('\n');
            text.push_str(&more);
        }
        self.queued.fetch_sub(taken, Ordering::Relaxed);
        Some(text)
    }
}

/// Messages in one WebSocket frame, as centrifuge's writer has it.
const BATCH: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_are_batched_and_counted() {
        let (outbox, mut messages) = outbox(100);
        for _ in 0..20 {
            outbox.push("12345".into());
        }
        assert_eq!((outbox.queued(), *messages.close.borrow()), (100, None));
        let first = messages.next().await.expect("messages");
        assert_eq!((first.lines().count(), outbox.queued()), (16, 20));
        assert_eq!(messages.next().await.expect("messages").lines().count(), 4);
        outbox.push("x".repeat(101));
        assert_eq!(*messages.close.borrow(), Some(Close::Code(3008, "slow")));
        outbox.close(Close::Abruptly);
        assert_eq!(
            *messages.close.borrow(),
            Some(Close::Code(3008, "slow")),
            "the first counts"
        );
    }
}
