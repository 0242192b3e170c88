use std::time::Duration;

use super::*;

fn shares(bytes: usize, count: usize) -> Vec<Share> {
    let budget = Arc::new(SlotBudget::new(bytes));
    (0..count)
        .map(|_| Share::new(Arc::clone(&budget)))
        .collect()
}

#[test]
fn channels_share_a_slot() {
    let start = Instant::now();
    let mut shares = shares(100, 3);
    for (ms, channel, bytes, want) in [
        (0, 0, 60, true),
        (10, 1, 60, false),
        // What still fits leaves.
        (20, 2, 40, true),
        (99, 0, 1, false),
        // The second channel's 60 bytes and the first one's byte are kept for them.
        (100, 2, 40, false),
        (110, 0, 1, true),
        (120, 1, 60, true),
        (130, 2, 40, false),
        (200, 2, 40, true),
        // Larger than a slot: one for itself.
        (210, 0, 500, false),
        (300, 0, 500, true),
        (350, 1, 1, false),
        (400, 1, 1, true),
    ] {
        let now = start + Duration::from_millis(ms);
        let slot = start + SLOT * (ms as u32 / 100 + 1);
        let want = if want { Ok(()) } else { Err(slot) };
        assert_eq!(
            shares[channel].take(bytes, now),
            want,
            "{bytes} bytes of channel {channel} at {ms} ms"
        );
    }
}

/// Channels that always have a full packet, against some that have little, in the worst order: the busy ones ask first, and
/// again and again.
#[test]
fn a_busy_channel_starves_nobody() {
    const KIB: usize = 1024;
    let start = Instant::now();
    for (busy, quiet) in [(1, 1), (4, 1), (10, 3), (40, 20)] {
        let mut shares = shares(512 * KIB, busy + quiet);
        let mut sent = vec![0_usize; busy + quiet];
        let mut missed = 0;
        let slots = 200;
        for slot in 0..slots {
            let mut waits_for = vec![true; busy + quiet];
            for step in 0..20 {
                let now = start + SLOT * slot + Duration::from_millis(step * 5);
                for (channel, share) in shares.iter_mut().enumerate() {
                    let bytes = if channel < busy { 128 * KIB } else { 2 * KIB };
                    // A quiet channel has one packet a slot, and comes last.
                    if channel >= busy && (!waits_for[channel] || step < 3) {
                        continue;
                    }
                    if share.take(bytes, now).is_ok() {
                        sent[channel] += bytes;
                        waits_for[channel] = false;
                    }
                }
            }
            missed += waits_for[busy..].iter().filter(|waits| **waits).count();
        }
        let (of_busy, of_quiet) = sent.split_at(busy);
        let most = of_busy.iter().max().copied().unwrap_or(0);
        let least = of_busy.iter().min().copied().unwrap_or(0);
        assert!(most - least <= 2 * 128 * KIB, "{busy}+{quiet}: {of_busy:?}");
        // The first slot is gone before a quiet channel asks; from then on one slot's wait is the most.
        assert!(
            missed <= quiet * slots as usize / 2,
            "{busy}+{quiet}: {missed} slots missed"
        );
        let fair = (slots as usize / 2 - 1) * 2 * KIB;
        assert!(
            of_quiet.iter().all(|&bytes| bytes >= fair),
            "{busy}+{quiet}: {of_quiet:?}"
        );
        let all: usize = sent.iter().sum();
        assert!(
            all >= slots as usize * 512 * KIB * 3 / 4 || busy < 4,
            "{busy}+{quiet}: {} KiB of {} a slot are used",
            all / slots as usize / KIB,
            512
        );
    }
}

#[test]
fn one_that_does_not_come_back_is_not_waited_for() {
    let start = Instant::now();
    let mut shares = shares(100, 3);
    assert!(shares[0].take(100, start).is_ok());
    assert!(shares[1].take(100, start).is_err());
    let later = |slots| start + SLOT * slots;
    assert!(
        shares[2].take(100, later(1)).is_err(),
        "its turn is the next"
    );
    assert!(shares[2].take(100, later(2)).is_ok(), "it is gone");
}
