//! Which schema each record is read by: the one that it names, or the query's own.

use std::sync::Arc;
use std::time::Instant;

use super::by_id::{Bound, ById, Typed};
use super::wire_format::{FrameError, Wire};
use crate::record::Header;
use crate::schema::{SchemaFault, SchemaId, SchemaText};

/// Finds the schemas of one half of a stream's records.
#[derive(Debug)]
pub(super) struct Schemas<T: Typed> {
    by_id: ById<T>,
    pub(super) wire: Wire,
    /// Where the body of the record begins that is at hand; `None` where each record is read by the query's own schema.
    start: Option<Result<usize, FrameError>>,
}

impl<T: Typed> Schemas<T> {
    /// Reads each record by the schema that it names.
    pub(super) fn named(by_id: ById<T>, wire: Wire) -> Self {
        Self {
            by_id,
            wire,
            start: Some(Ok(0)),
        }
    }

    /// Reads each record by the query's own schema, which `by_id` was given.
    pub(super) fn own(by_id: ById<T>, wire: Wire) -> Self {
        Self {
            by_id,
            wire,
            start: None,
        }
    }

    /// Tells whether records name their schemas, so that each has to be prepared.
    pub(super) fn are_named(&self) -> bool {
        self.start.is_some()
    }

    /// Forgets the columns: those of a record that was taken back are no more.
    pub(super) fn forget_columns(&mut self) {
        self.by_id.forget_columns();
    }

    /// Finds the schema of a record; an error is one that is not here.
    pub(super) fn prepare(
        &mut self,
        bytes: &[u8],
        headers: &[Header<'_>],
        now: Instant,
    ) -> Result<(), SchemaId> {
        let Some(start) = &mut self.start else {
            return Ok(());
        };
        match self.wire.frame(bytes, headers) {
            Ok(frame) => {
                *start = Ok(frame.start);
                if self.by_id.turn_to(&frame.id, now) {
                    Ok(())
                } else {
                    Err(frame.id)
                }
            }
            Err(error) => {
                *start = Err(error);
                Ok(())
            }
        }
    }

    /// Takes the schema of `id`, or the reason why there is none.
    pub(super) fn provide(
        &mut self,
        id: &SchemaId,
        answer: Result<Arc<SchemaText>, SchemaFault>,
        now: Instant,
    ) {
        self.by_id.provide(id, answer, now);
    }

    /// Gives the schema to ask for again, after a record that could not be decoded.
    pub(super) fn doubt(&self, now: Instant) -> Option<SchemaId> {
        let is_framed = matches!(self.start, Some(Err(_)));
        self.by_id.doubt(now).filter(|_| !is_framed)
    }

    /// Gives the place where the body of the record begins that was prepared; `None` where the query's own schema reads it.
    #[inline]
    pub(super) fn start(&self) -> Result<Option<usize>, FrameError> {
        match &self.start {
            None => Ok(None),
            Some(Ok(start)) => Ok(Some(*start)),
            Some(Err(error)) => Err(error.clone()),
        }
    }

    /// Gives the schema of the record that was prepared.
    #[inline]
    pub(super) fn current(&mut self) -> Result<&mut Bound<T>, SchemaFault> {
        self.by_id.current()
    }
}
