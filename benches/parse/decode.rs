//! The core's reader of JSON as its source stands, compiled against the columns of this program.

use std::marker::PhantomData;

use crate::columns::RowWriter;

#[path = "../../src/decode/gap.rs"]
mod gap;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the core reads keys by it too, and makes it public"
)]
#[path = "../../src/decode/json/mod.rs"]
mod json;

pub(crate) use json::JsonDecoder;

/// Stands where the core makes the rows of a record.
pub(crate) struct RecordRows<'a>(pub(crate) PhantomData<&'a mut ()>);

#[expect(clippy::unused_self, reason = "the core's has a set to write to")]
impl RecordRows<'_> {
    #[inline]
    pub(crate) fn row<E>(
        &mut self,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        write(&mut RowWriter(PhantomData))
    }
}
