//! What a stream says of what went wrong.

use crate::columns::{Count, Trouble};

/// Says what happened how often, with what it was the first time. Only the number changes from one text to the next, so that
/// a panel shows the last one alone.
pub(super) fn describe(trouble: Trouble, Count { times, sample }: &Count) -> String {
    match trouble {
        Trouble::Undecodable => {
            format!("Records that could not be decoded: {times}. The first: {sample}")
        }
        Trouble::BadLine => {
            format!("Lines that could not be decoded: {times}. The first: {sample}")
        }
        Trouble::BadKey => format!("Keys that could not be decoded: {times}. The first: {sample}"),
        Trouble::Misfit => format!(
            "Values left out because they are not of their column's type: {times}. The first: {sample}. A column type set in the query can make it text"
        ),
        Trouble::OutOfRange => format!(
            "Numbers left out because they are larger than 1.8e308: {times}. The first: `{sample}`"
        ),
        Trouble::Imprecise => format!(
            "Whole numbers beyond 2^53, which lose their last digits: {times}. The first: `{sample}`. The column type text, set in the query, keeps all digits"
        ),
        Trouble::InvalidUtf8 => format!(
            "Texts that are not UTF-8, shown with U+FFFD in places: {times}. The first: `{sample}`"
        ),
        Trouble::LeftOut => format!(
            "Fields left out because the field limit is reached: {times}. The first: `{sample}`"
        ),
        Trouble::NoTimestamp => {
            format!("Records without a timestamp, shown at the time of their arrival: {times}")
        }
        Trouble::NoTimeField => {
            format!("Records without a time in `{sample}`, shown at the record's own time: {times}")
        }
        Trouble::OutOfWindow => format!(
            "Times outside of the years 1677 to 2262, shown at the time of arrival: {times}. The first: {sample}"
        ),
        Trouble::OddFilter => {
            format!("Filter entries that are not what they should be: {times}. The first: {sample}")
        }
        Trouble::FilteredOut => format!(
            "Nothing has passed the filters on measurements, fields and tags yet. Lines left out: {times}. The first: {sample}"
        ),
    }
}
