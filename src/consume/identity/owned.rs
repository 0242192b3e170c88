//! What librdkafka hands over to its caller, each destroyed once.

use std::ffi::{c_char, c_int};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::Duration;

use rdkafka::bindings as rd;
use rdkafka::client::NativeClient;
use rdkafka::error::RDKafkaErrorCode as Code;

use crate::config::IsolationLevel;

/// Owns the options of one question.
pub(super) struct Options(pub(super) NonNull<rd::rd_kafka_AdminOptions_t>);

impl Options {
    pub(super) fn new(
        client: &NativeClient,
        question: rd::rd_kafka_admin_op_t,
        timeout: Duration,
    ) -> Result<Self, Code> {
        // SAFETY: the client is alive.
        let options = unsafe { rd::rd_kafka_AdminOptions_new(client.ptr(), question) };
        let options = Self(NonNull::new(options).ok_or(Code::InvalidArgument)?);
        let mut text: [c_char; 128] = [0; 128];
        // SAFETY: the options are alive; librdkafka writes at most `text.len()` bytes.
        let set = unsafe {
            rd::rd_kafka_AdminOptions_set_request_timeout(
                options.0.as_ptr(),
                milliseconds(timeout).max(1),
                text.as_mut_ptr(),
                text.len(),
            )
        };
        if is_error(set) {
            Err(set.into())
        } else {
            Ok(options)
        }
    }

    pub(super) fn send_to(&self, broker: i32) -> Result<(), Code> {
        let mut text: [c_char; 128] = [0; 128];
        // SAFETY: the options are alive; librdkafka writes at most `text.len()` bytes.
        let set = unsafe {
            rd::rd_kafka_AdminOptions_set_broker(
                self.0.as_ptr(),
                broker,
                text.as_mut_ptr(),
                text.len(),
            )
        };
        if is_error(set) {
            Err(set.into())
        } else {
            Ok(())
        }
    }

    pub(super) fn isolate(&self, isolation: IsolationLevel) -> Result<(), Code> {
        let level = match isolation {
            IsolationLevel::ReadCommitted => {
                rd::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
            }
            IsolationLevel::ReadUncommitted => {
                rd::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED
            }
        };
        // SAFETY: the options are alive; an error is handed over to us, and destroyed once.
        unsafe {
            let error = rd::rd_kafka_AdminOptions_set_isolation_level(self.0.as_ptr(), level);
            if error.is_null() {
                return Ok(());
            }
            let code = rd::rd_kafka_error_code(error);
            rd::rd_kafka_error_destroy(error);
            Err(code.into())
        }
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: they are ours, and nothing uses them any more: librdkafka has copied what it needs.
        unsafe { rd::rd_kafka_AdminOptions_destroy(self.0.as_ptr()) };
    }
}

/// Owns the queue that one answer comes to.
pub(super) struct Reply<'c> {
    pub(super) queue: NonNull<rd::rd_kafka_queue_t>,
    /// The queue must not outlive its client.
    client: PhantomData<&'c NativeClient>,
}

impl<'c> Reply<'c> {
    pub(super) fn new(client: &'c NativeClient) -> Result<Self, Code> {
        // SAFETY: the client is alive, and `'c` keeps it so for as long as the queue lives.
        let queue = unsafe { rd::rd_kafka_queue_new(client.ptr()) };
        Ok(Self {
            queue: NonNull::new(queue).ok_or(Code::Fail)?,
            client: PhantomData,
        })
    }

    pub(super) fn event(&self, wait: Duration) -> Option<Result<Event, Code>> {
        // SAFETY: the queue is alive; an event that comes out is ours.
        let event = unsafe { rd::rd_kafka_queue_poll(self.queue.as_ptr(), milliseconds(wait)) };
        let event = Event(NonNull::new(event)?);
        // SAFETY: the event is alive.
        let code = unsafe { rd::rd_kafka_event_error(event.0.as_ptr()) };
        Some(if is_error(code) {
            Err(code.into())
        } else {
            Ok(event)
        })
    }
}

impl Drop for Reply<'_> {
    fn drop(&mut self) {
        // SAFETY: the queue is ours. librdkafka drops an answer that comes to a destroyed queue.
        unsafe { rd::rd_kafka_queue_destroy(self.queue.as_ptr()) };
    }
}

/// Owns one event.
pub(super) struct Event(pub(super) NonNull<rd::rd_kafka_event_t>);

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is ours, and what was read from it has been copied.
        unsafe { rd::rd_kafka_event_destroy(self.0.as_ptr()) };
    }
}

/// Rounds up: a wait that is cut short would be a spin.
fn milliseconds(time: Duration) -> c_int {
    c_int::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX)
}

/// Tells whether a call of librdkafka failed.
pub(super) fn is_error(code: rd::rd_kafka_resp_err_t) -> bool {
    code != rd::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR
}
