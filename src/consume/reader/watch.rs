//! Looks after the topic and the brokers while records are read: what changed, what failed, and what is well again.

use std::time::{Duration, Instant};

use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError as ClientError, KafkaResult, RDKafkaErrorCode as Code};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use tracing::{debug, info};

use super::crew::Crew;
use super::trouble::{Failures, Kind, MAX_BACKOFF, MIN_BACKOFF};
use super::{End, Run, Standing, words};
use crate::config::StartPosition;
use crate::consume::clients::SETTLE;
use crate::consume::errors::{KafkaError, is_transport};
use crate::consume::last::count_back;
use crate::consume::look::Looking;
use crate::consume::start::{Begin, Change, Look, Progress, Reason};
use crate::pipeline::ErrorAt;
use crate::record::Now;

impl<'s, 'c: 's> Run<'s, 'c> {
    /// Looks at the topic where it is time to, and acts on what a look found.
    pub(super) fn watch(&mut self, time: Now) -> Option<End> {
        let Some(looking) = &mut self.looking else {
            let is_due = time.monotonic >= self.next_look
                || self.must_skip(time.monotonic)
                || self.pace.is_lag_news(time.monotonic);
            if is_due {
                self.looked_at = time.monotonic;
                self.looking = Some(Looking::new(self.job.client, self.subject, LOOK_LIMIT));
            }
            return None;
        };
        // Before anything is read there is nothing else to wait for.
        let wait = if self.is_assigned {
            Duration::ZERO
        } else {
            FIRST_WAIT
        };
        let answer = match looking.answer(wait) {
            Some(answer) => answer,
            None if self.is_in_vain(time.monotonic) => {
                Err(KafkaError::Connection(self.job.client.faults().faults()))
            }
            None => return None,
        };
        self.looking = None;
        match answer {
            Ok(look) => self.looked(&look, time),
            Err(error) => self.failed(&error, time),
        }
    }

    /// Takes no more records until a look has said which topic this is.
    ///
    /// Where the look finds the topic unchanged, it is librdkafka that was told of another one by a broker that is behind:
    /// then no record comes until it knows better.
    pub(super) fn doubt(&mut self, time: Now) {
        self.unassign();
        self.looking = None;
        self.next_look = time.monotonic.max(self.looked_at + LOOK_PAUSE);
    }

    /// Tells whether there is no use in waiting for the look that is on its way.
    fn is_in_vain(&self, now: Instant) -> bool {
        let is_late = now.duration_since(self.looked_at) >= SETTLE;
        let bootstrap = self.clients.bootstrap();
        self.job.client.faults().is_conclusive(bootstrap, is_late)
    }

    /// Takes a fault that the poll brought.
    pub(super) fn fault(&mut self, error: &ClientError, time: Now) {
        let Some(code) = error.rdkafka_error_code() else {
            debug!(%error, "kafka client");
            return;
        };
        match code {
            // The group is only a name here, and needs no right.
            Code::GroupAuthorizationFailed => {}
            Code::PartitionEOF => self.gets_records(time),
            Code::AutoOffsetReset | Code::OffsetOutOfRange => {
                self.reason = Reason::Refused;
                self.look_soon(time);
            }
            Code::TopicAuthorizationFailed => self.may_not_read(time),
            Code::UnknownTopicOrPartition | Code::UnknownPartition | Code::UnknownTopic => {
                self.look_soon(time);
            }
            code if is_transport(code) => {
                self.pace.restart();
                self.look_soon(time);
            }
            code => {
                let error = KafkaError::Answer {
                    code,
                    text: code.to_string(),
                };
                if self.troubles.raise(Kind::from(&error), time.monotonic) {
                    self.say(&words::cannot_read(&error, true), time);
                }
            }
        }
    }

    /// Notes that records, or the end of a partition, come from Kafka.
    pub(super) fn gets_records(&mut self, time: Now) {
        // Either they were fetched before, or brokers are back: the next look knows.
        if self
            .troubles
            .are(|kind| matches!(kind, Kind::Connection(_)))
        {
            let soon = time.monotonic.max(self.looked_at + LOOK_PAUSE);
            self.next_look = self.next_look.min(soon);
        }
        // Records that were fetched before the right was taken away prove nothing.
        let may_read = self.is_probing;
        let is_over = |kind, quiet| match kind {
            Kind::Read => may_read,
            Kind::Answer(_) => quiet >= ANSWER_QUIET,
            _ => false,
        };
        if let Some(lasted) = self.troubles.over(is_over, time.monotonic) {
            self.is_probing = false;
            self.worker
                .pipeline
                .notify(words::read_again(&self.subject.topic, lasted));
        }
    }

    fn may_not_read(&mut self, time: Now) {
        if self.troubles.raise(Kind::Read, time.monotonic) {
            self.say(&words::no_read_right(&self.subject.topic), time);
            self.look_soon(time);
        }
    }

    fn looked(&mut self, look: &Look, time: Now) -> Option<End> {
        if self.confirm_leaders(look, time) {
            self.failures = Failures::default();
        }
        self.job.client.faults().clear();
        self.clients.login().succeeded();
        if let Some(lasted) = self.troubles.over(
            |kind, _| matches!(kind, Kind::Connection(_)),
            time.monotonic,
        ) {
            self.worker.pipeline.notify(words::recovered(lasted));
        }
        if self
            .troubles
            .over(|kind, _| kind == Kind::Topic, time.monotonic)
            .is_some()
        {
            self.worker
                .pipeline
                .notify(words::is_there(&self.subject.topic));
        }
        let result = match self.progress.take() {
            None => self.begin(look).map(|()| None),
            Some(progress) => self.follow(progress, look, time),
        };
        match result {
            Ok(None) => {}
            Ok(Some(end)) => return Some(end),
            Err(error) => return self.not_assigned(&error, time),
        }
        let until_next = if self.failures.count > 0 {
            self.failures.backoff()
        } else if self.troubles.is(Kind::Read) {
            MAX_BACKOFF
        } else {
            self.metadata_interval
        };
        self.next_look = time.monotonic + until_next;
        None
    }

    /// Takes a fault that kept partitions from being read at all; the next look tries again.
    fn not_assigned(&mut self, error: &ClientError, time: Now) -> Option<End> {
        debug!(%error, "reading could not begin");
        let code = error.rdkafka_error_code().unwrap_or(Code::Fail);
        match code {
            Code::TopicAuthorizationFailed => {
                self.may_not_read(time);
                self.is_probing = true;
                self.next_look = time.monotonic + MAX_BACKOFF;
                None
            }
            // Retention was faster than the look: the next one knows.
            Code::AutoOffsetReset => {
                self.next_look = time.monotonic + MIN_BACKOFF;
                None
            }
            code if is_transport(code) => {
                let faults = self.job.client.faults().faults();
                self.failed(&KafkaError::Connection(faults), time)
            }
            code => self.failed(
                &KafkaError::Answer {
                    code,
                    text: error.to_string(),
                },
                time,
            ),
        }
    }

    /// Says which partitions have no leader that answers, once two looks agree; tells whether all have one.
    fn confirm_leaders(&mut self, look: &Look, time: Now) -> bool {
        if look.closed.is_empty() {
            if let Some(lasted) = self
                .troubles
                .over(|kind, _| kind == Kind::Leader, time.monotonic)
            {
                self.worker.pipeline.notify(words::recovered(lasted));
            }
            return true;
        }
        let since = self.failures.add(time.monotonic);
        if self.failures.count > 1 && self.troubles.raise(Kind::Leader, since) {
            // Where a broker is known to be dead, the cluster says only that nobody leads its partitions.
            let is_silent = look.closed.iter().any(|(_, code)| is_transport(*code));
            let faults = if is_silent {
                self.job.client.faults().faults()
            } else {
                Vec::new()
            };
            let text = words::cannot_reach(&self.subject.topic, &look.closed, faults);
            self.say(&text, time);
        }
        false
    }

    fn failed(&mut self, error: &KafkaError, time: Now) -> Option<End> {
        let since = self.failures.add(time.monotonic);
        self.pace.restart();
        // A broker that restarts may not know a topic for a moment: what is read is not given up over one answer. And
        // where records came meanwhile, brokers that cannot be reached are others.
        let is_sure = match (self.progress.is_some(), error.is_connection()) {
            (false, _) => true,
            (true, true) => self.taken_at < self.looked_at,
            (true, false) => self.failures.count > 1,
        };
        if is_sure {
            if self.troubles.raise(Kind::from(error), since) {
                info!(topic = self.subject.topic.as_str(), "stream: {error}");
                self.say(&words::cannot_read(error, self.progress.is_some()), time);
            }
            if error.is_about_topic() {
                self.unassign();
            }
            // A client that is kept would try again every second.
            if error.is_refused_login() {
                self.clients.login().failed(error, time.monotonic);
                return Some(self.end());
            }
        }
        self.next_look = time.monotonic + self.failures.backoff();
        None
    }

    /// Ends the run for a new client, which goes on where this one stands.
    fn end(&mut self) -> End {
        self.end_crew();
        End::Anew(Standing {
            progress: self.progress.take(),
            troubles: std::mem::take(&mut self.troubles),
        })
    }

    fn unassign(&mut self) {
        if self.is_assigned {
            self.is_assigned = false;
            self.worker.waiting.clear();
            self.end_crew();
            if let Err(error) = self.job.client.unassign() {
                debug!(%error, "unassign");
            }
        }
    }

    fn begin(&mut self, look: &Look) -> KafkaResult<()> {
        let mut begin = match (&self.job.spec.cursor, self.job.spec.start) {
            (Some(cursor), _) => Begin::At(cursor.clone()),
            (None, StartPosition::Latest) => Begin::Newest,
            (None, StartPosition::Earliest) => Begin::Oldest,
            (None, StartPosition::LastN(n)) => Begin::last(n, look),
        };
        self.count_back(&mut begin, look)?;
        let (progress, changes) = Progress::begin(begin, look);
        self.say_changes(&changes);
        self.assign(progress)
    }

    fn follow(
        &mut self,
        mut progress: Progress,
        look: &Look,
        time: Now,
    ) -> KafkaResult<Option<End>> {
        // Partitions that have a leader again may begin at their last records.
        if let Err(error) = self.count_back(progress.origin(), look) {
            self.progress = Some(progress);
            return Err(error);
        }
        let reason = std::mem::replace(&mut self.reason, Reason::Routine);
        let changes = progress.follow(look, reason);
        self.say_changes(&changes);
        if changes.contains(&Change::Recreated) {
            self.progress = Some(progress);
            return Ok(Some(self.end()));
        }
        let mut has_moved = !changes.is_empty() || reason == Reason::Refused || !self.is_assigned;
        if self.must_skip(time.monotonic) {
            let offsets = progress.skip(look);
            let rows = self.worker.pipeline.discard_pending();
            self.worker
                .pipeline
                .notify(words::passed_over(offsets, rows));
            self.pace.restart();
            has_moved = true;
        } else if self.pace.is_lag_news(time.monotonic) {
            self.pace.said(time.monotonic);
            self.worker.pipeline.notify(words::lag(progress.lag(look)));
        }
        if self.troubles.is(Kind::Read) {
            self.is_probing = true;
            has_moved = true;
        }
        if has_moved {
            return self.assign(progress).map(|()| None);
        }
        self.progress = Some(progress);
        Ok(None)
    }

    /// Finds where partitions begin that are read from their last records on; what was assigned is gone if there are any.
    fn count_back(&mut self, begin: &mut Begin, look: &Look) -> KafkaResult<()> {
        if begin.uncounted(look).is_empty() {
            return Ok(());
        }
        self.is_assigned = false;
        let packets = self.job.packets;
        let topic = &self.subject.topic;
        count_back(self.job.client, topic, begin, look, || !packets.is_closed()).map(drop)
    }

    fn end_crew(&mut self) {
        if let (Some(crew), Some(progress)) = (self.crew.take(), &mut self.progress) {
            crew.finish(progress);
        }
    }

    /// Makes Kafka send what `progress` names next, and drops what was fetched but not taken.
    fn assign(&mut self, mut progress: Progress) -> KafkaResult<()> {
        if let Some(crew) = self.crew.take() {
            crew.finish(&mut progress);
        }
        let progress = self.progress.insert(progress);
        let topic = self.subject.topic.as_str();
        let mut partitions = TopicPartitionList::with_capacity(progress.next().len());
        for (partition, next) in progress.next() {
            partitions.add_partition_offset(topic, partition, Offset::Offset(next))?;
        }
        self.worker.pipeline.topic_id(progress.topic_id());
        self.fetched.compare(progress.topic_id());
        self.is_drained = false;
        self.worker.waiting.clear();
        self.job.client.assign(&partitions)?;
        self.is_assigned = true;
        self.crew = Crew::start(
            self.scope,
            self.job,
            self.worker.pipeline,
            partitions.count(),
        );
        Ok(())
    }

    /// Tells whether this stream shows what is newest rather than everything, and cannot keep up.
    fn must_skip(&self, now: Instant) -> bool {
        self.job.spec.start == StartPosition::Latest
            && !self.job.spec.every_record
            && self.pace.is_behind(now)
    }

    fn look_soon(&mut self, time: Now) {
        // A look that failed has its own time, and one that is on its way will answer.
        if self.failures.count == 0 {
            self.next_look = self
                .next_look
                .min(time.monotonic.max(self.looked_at + LOOK_PAUSE));
        }
    }

    fn say(&mut self, text: &str, time: Now) {
        self.worker
            .pipeline
            .push_error(ErrorAt::default(), text, time);
    }

    fn say_changes(&mut self, changes: &[Change]) {
        for change in changes {
            self.worker
                .pipeline
                .notify(change.notice(&self.subject.topic));
        }
    }
}

/// How long one look may take.
const LOOK_LIMIT: Duration = Duration::from_secs(3);
/// The least time between two looks that a fault asks for.
const LOOK_PAUSE: Duration = Duration::from_millis(200);
/// How long Kafka must not have repeated an odd answer for it to be over.
const ANSWER_QUIET: Duration = Duration::from_secs(30);
/// How long the first look is waited for at a time.
const FIRST_WAIT: Duration = Duration::from_millis(5);
