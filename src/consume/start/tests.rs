use super::*;

fn look(id: Option<&str>, extents: &[(i32, i64, i64)]) -> Look {
    let extents = extents
        .iter()
        .map(|&(partition, low, high)| Extent {
            partition,
            low,
            high,
        })
        .collect();
    Look {
        topic_id: id.map(str::to_owned),
        extents,
        closed: Vec::new(),
    }
}

fn at(id: Option<&str>, next: &[(i32, i64)]) -> Begin {
    Begin::At(Cursor {
        topic_id: id.map(str::to_owned),
        next: next.iter().copied().collect(),
    })
}

fn next(progress: &Progress) -> Vec<(i32, i64)> {
    progress.next().collect()
}

#[test]
fn beginnings() {
    let two = look(Some("a"), &[(0, 3, 10), (1, 0, 7)]);
    let lost = |partition, offsets| Change::Lost { partition, offsets };
    for (begin, look, want, changes) in [
        (Begin::Newest, &two, &[(0, 10), (1, 7)], vec![]),
        (Begin::Oldest, &two, &[(0, 3), (1, 0)], vec![]),
        (
            at(Some("a"), &[(0, 5), (1, 7)]),
            &two,
            &[(0, 5), (1, 7)],
            vec![],
        ),
        // A partition that the cursor does not name, and a cursor without an id.
        (at(None, &[(1, 2)]), &two, &[(0, 3), (1, 2)], vec![]),
        // Another topic: its offsets mean nothing here.
        (
            at(Some("b"), &[(0, 5), (1, 7)]),
            &two,
            &[(0, 3), (1, 0)],
            vec![Change::Recreated],
        ),
        (
            at(Some("a"), &[(0, 1), (1, 0)]),
            &two,
            &[(0, 3), (1, 0)],
            vec![lost(0, 2)],
        ),
        (
            at(Some("a"), &[(0, -4), (1, i64::MIN)]),
            &two,
            &[(0, 6), (1, 0)],
            vec![],
        ),
        (
            at(Some("a"), &[(0, 10), (1, 8)]),
            &two,
            &[(0, 10), (1, 7)],
            vec![Change::BeyondEnd {
                partition: 1,
                wanted: 8,
                end: 7,
            }],
        ),
        (
            at(None, &[(0, 10), (1, 8)]),
            &look(None, &[(0, 3, 10), (1, 1, 7)]),
            &[(0, 10), (1, 1)],
            vec![Change::BeyondEnd {
                partition: 1,
                wanted: 8,
                end: 7,
            }],
        ),
    ] {
        let (progress, found) = Progress::begin(begin.clone(), look);
        assert_eq!(next(&progress), want, "{begin:?}");
        assert_eq!(found, changes, "{begin:?}");
    }
}

#[test]
fn later_looks() {
    let before = look(Some("a"), &[(0, 0, 10), (1, 0, 10)]);
    for (later, reason, want, changes) in [
        // Retention has passed the position, but what was fetched may still be on its way.
        (
            look(Some("a"), &[(0, 20, 30), (1, 0, 12)]),
            Reason::Routine,
            &[(0, 10), (1, 10)][..],
            vec![],
        ),
        (
            look(Some("a"), &[(0, 20, 30), (1, 0, 12)]),
            Reason::Refused,
            &[(0, 20), (1, 10)],
            vec![Change::Lost {
                partition: 0,
                offsets: 10,
            }],
        ),
        (
            look(Some("a"), &[(0, 0, 4), (1, 0, 12)]),
            Reason::Refused,
            &[(0, 4), (1, 10)],
            vec![Change::BeyondEnd {
                partition: 0,
                wanted: 10,
                end: 4,
            }],
        ),
        (
            look(Some("a"), &[(0, 0, 10), (1, 0, 10), (2, 1, 5), (3, 0, 0)]),
            Reason::Routine,
            &[(0, 10), (1, 10), (2, 1), (3, 0)],
            vec![Change::Added(vec![2, 3])],
        ),
        (
            look(Some("b"), &[(0, 0, 99)]),
            Reason::Routine,
            &[(0, 0)],
            vec![Change::Recreated],
        ),
        // One broker is down: its partition keeps its place.
        (
            look(Some("a"), &[(0, 0, 10)]),
            Reason::Routine,
            &[(0, 10), (1, 10)],
            vec![],
        ),
    ] {
        let (mut progress, _) = Progress::begin(Begin::Newest, &before);
        let found = progress.follow(&later, reason);
        assert_eq!(next(&progress), want, "{later:?} {reason:?}");
        assert_eq!(found, changes, "{later:?} {reason:?}");
        assert_eq!(progress.topic_id(), later.topic_id.as_deref());
    }
}

#[test]
fn a_partition_without_leader_begins_as_the_others_did() {
    for (begin, want) in [
        (Begin::Newest, 9),
        (Begin::Oldest, 2),
        (at(Some("a"), &[(1, 4)]), 4),
    ] {
        let closed = Look {
            closed: vec![(1, Code::LeaderNotAvailable)],
            ..look(Some("a"), &[(0, 0, 10)])
        };
        let (mut progress, _) = Progress::begin(begin.clone(), &closed);
        assert_eq!(progress.of(1), None);
        let changes = progress.follow(&look(Some("a"), &[(0, 0, 10), (1, 2, 9)]), Reason::Routine);
        assert_eq!(
            (progress.of(1), changes),
            (Some(want), vec![Change::Opened(1)]),
            "{begin:?}"
        );
    }
}

/// What a cursor carries of a partition that could not be counted.
#[test]
fn the_last_records_of_a_closed_partition_are_counted_when_it_opens() {
    let closed = Look {
        closed: vec![(1, Code::LeaderNotAvailable)],
        ..look(Some("a"), &[(0, 0, 10)])
    };
    let opened = look(Some("a"), &[(0, 0, 10), (1, 2, 90)]);
    let mut begin = Begin::last(3, &closed);
    assert_eq!(begin.uncounted(&closed), [(closed.extents[0], 3)]);
    begin.counted([(0, 6)].into());
    let (mut progress, _) = Progress::begin(begin, &closed);
    let cursor = progress.cursor();
    assert_eq!(cursor.next, [(0, 6), (1, -3)].into());

    // Whoever goes on from the cursor, and the reader itself.
    let mut resumed = Begin::At(cursor);
    for begin in [&mut resumed, progress.origin()] {
        assert_eq!(begin.uncounted(&opened), [(opened.extents[1], 3)]);
        assert_eq!(begin.uncounted(&look(Some("b"), &[(1, 2, 90)])), []);
        begin.counted([(1, 80)].into());
        assert_eq!(begin.uncounted(&opened), []);
    }
    assert_eq!(
        progress.follow(&opened, Reason::Routine),
        [Change::Opened(1)]
    );
    assert_eq!(progress.cursor().next, [(0, 6), (1, 80)].into());
    let (resumed, changes) = Progress::begin(resumed, &opened);
    assert_eq!((next(&resumed), changes), (vec![(0, 6), (1, 80)], vec![]));
}

#[test]
fn progress_of_records() {
    let ends = look(Some("a"), &[(0, 0, 10), (5, 0, 10)]);
    let (mut progress, _) = Progress::begin(Begin::Oldest, &ends);
    progress.took(5, 3);
    progress.took(7, 3);
    progress.reached(0, 10);
    progress.reached(0, 2);
    assert_eq!(next(&progress), [(0, 10), (5, 4)]);
    assert_eq!(progress.lag(&ends), 6);
    assert_eq!(
        progress.skip(&look(Some("a"), &[(0, 0, 90), (5, 0, 250)])),
        146
    );
    assert_eq!(
        progress.cursor(),
        Cursor {
            topic_id: Some("a".into()),
            next: [(0, 10), (5, 150)].into()
        }
    );
}
