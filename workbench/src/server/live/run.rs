//! The run behind a channel: started by its first viewer, shared by all, kept going through errors.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::address::Address;
use super::protocol::one_line;
use super::{Live, Run};

/// Starts a run with the first viewer's data.
pub(super) fn start(live: Live, address: Address, data: Vec<u8>, number: u64) -> Run {
    let settings_changed = Arc::new(Notify::new());
    let (stop, stopped) = watch::channel(());
    tokio::spawn(keep(
        live,
        address,
        data,
        number,
        settings_changed.clone(),
        stopped,
    ));
    Run {
        settings_changed,
        _stop: stop,
    }
}

/// How one call of `RunStream` ended.
enum End {
    /// The plugin said so: nobody starts it again but a new subscription.
    Ok,
    Error,
}

async fn keep(
    live: Live,
    address: Address,
    data: Vec<u8>,
    number: u64,
    settings_changed: Arc<Notify>,
    mut stopped: watch::Receiver<()>,
) {
    let channel = address.channel();
    let nobody = nobody_left(&live, &channel);
    tokio::pin!(nobody);
    let mut short_runs = 0;
    loop {
        let start = Instant::now();
        let end = tokio::select! {
            end = run_once(&live, &address, &channel, &data) => end,
            // At once, with the settings of now.
            () = settings_changed.notified() => {
                short_runs = 0;
                continue;
            }
            () = &mut nobody => return,
            _ = stopped.changed() => return,
        };
        if let End::Ok = end {
            return live.ended(&channel, number);
        }
        if start.elapsed() >= SHORT {
            short_runs = 0;
            continue;
        }
        let pause = backoff(short_runs);
        short_runs += 1;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = &mut nobody => return,
            _ = stopped.changed() => return,
        }
    }
}

async fn run_once(live: &Live, address: &Address, channel: &str, data: &[u8]) -> End {
    let inner = &live.0;
    let (Some(plugin), Some(source)) = (inner.plugin.running(), inner.sources.find(&address.uid))
    else {
        return End::Error;
    };
    let Ok(mut packets) = plugin.client.run_stream(&source, &address.path, data).await else {
        return End::Error;
    };
    loop {
        match packets.next().await {
            Ok(Some(packet)) => match one_line(&packet) {
                Some(packet) => live.publish(channel, &packet),
                // Grafana takes a packet that is no JSON for an error of the run.
                None => return End::Error,
            },
            Ok(None) => return End::Ok,
            Err(_) => return End::Error,
        }
    }
}

/// Waits until the third look in a row finds no viewer, and has the channel forgotten.
async fn nobody_left(live: &Live, channel: &str) {
    let mut looks = tokio::time::interval(live.options().presence_interval);
    looks.tick().await;
    let mut empty = 0;
    // Somebody may come between the last look and the end: then the run goes on.
    while empty < EMPTY_LOOKS || !live.forget(channel) {
        looks.tick().await;
        empty = if live.viewers(channel) == 0 {
            empty + 1
        } else {
            0
        };
    }
}

/// The pause after the n-th short run in a row: 0, 0.2, 0.4, 0.8 … 5 seconds.
fn backoff(short_runs: u32) -> Duration {
    match short_runs {
        0 => Duration::ZERO,
        n => (Duration::from_millis(100) * 2_u32.saturating_pow(n)).min(LONGEST_PAUSE),
    }
}

/// A run that is shorter is followed by a pause.
const SHORT: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const EMPTY_LOOKS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses() {
        let pauses: Vec<u128> = (0..8).map(|n| backoff(n).as_millis()).collect();
        assert_eq!(pauses, [0, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert_eq!(backoff(u32::MAX), LONGEST_PAUSE);
    }
}
