//! Tells records of the topic that is being read from those of another one that has taken its name.

/// Is which topic Kafka is asked for records of.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// librdkafka's word for it, once it has given one.
    id: Option<String>,
    is_other: bool,
}

impl Fetched {
    /// Takes librdkafka's word; `read` is the id of the topic that is being read, if it has one.
    pub(super) fn learn(&mut self, id: String, read: Option<&str>) {
        self.id = Some(id);
        self.compare(read);
    }

    /// Takes the id of the topic that is being read.
    pub(super) fn compare(&mut self, read: Option<&str>) {
        let fetched = self.id.as_deref();
        self.is_other = matches!((read, fetched), (Some(read), Some(fetched)) if read != fetched);
    }

    /// Tells whether records that come are of another topic than the one that is being read.
    pub(super) fn is_other(&self) -> bool {
        self.is_other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ids_that_differ_are_two_topics() {
        for (fetched, read, want) in [
            (None, None, false),
            (None, Some("a"), false),
            // Brokers before 2.8.
            (Some("a"), None, false),
            (Some("a"), Some("a"), false),
            (Some("a"), Some("b"), true),
        ] {
            let mut both = Fetched::default();
            both.compare(read);
            if let Some(id) = fetched {
                both.learn(id.to_owned(), read);
            }
            assert_eq!(both.is_other(), want, "{fetched:?} {read:?}");
            both.compare(fetched);
            assert!(!both.is_other(), "{fetched:?} {read:?}, after a look");
        }
    }
}
