//! The headers of a record, whatever their names.

use std::ffi::CStr;
use std::{ptr, slice};

use rdkafka::bindings as rd;
use rdkafka::message::BorrowedMessage;

use super::owned::is_error;
use crate::record::Header;

/// Gives the headers of `message`, in their order. A name is any bytes; a null value stays apart from an empty one.
pub fn headers<'m>(message: &'m BorrowedMessage<'_>) -> Vec<Header<'m>> {
    let mut headers = Vec::new();
    let mut list = ptr::null_mut();
    // SAFETY: the message is alive. The list that librdkafka hands out belongs to the message.
    let found = unsafe { rd::rd_kafka_message_headers(message.ptr(), &raw mut list) };
    if is_error(found) || list.is_null() {
        return headers;
    }
    for index in 0.. {
        let (mut name, mut value, mut size) = (ptr::null(), ptr::null(), 0);
        // SAFETY: the list is alive as long as the message; librdkafka checks the index and answers with an error
        // past the last header.
        let got = unsafe {
            rd::rd_kafka_header_get_all(list, index, &raw mut name, &raw mut value, &raw mut size)
        };
        if is_error(got) {
            break;
        }
        // SAFETY: name (zero-terminated) and value (`size` bytes) lie in the message's own memory, which `'m` borrows.
        headers.push(unsafe {
            Header {
                name: CStr::from_ptr(name).to_bytes(),
                value: (!value.is_null()).then(|| slice::from_raw_parts(value.cast::<u8>(), size)),
            }
        });
    }
    headers
}
