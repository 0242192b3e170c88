import { isLiveChannelMessageEvent, isLiveChannelStatusEvent, LiveChannelConnectionState, LiveChannelScope } from '@grafana/data';
import { getGrafanaLiveSrv } from '@grafana/runtime';
import { type Unsubscribable } from 'rxjs';

import { type LiveLink } from './packet';

/** What a channel tells its session. */
export interface ChannelEvents {
  /** A message; `again` where Grafana repeats the last one to a new subscriber. */
  message(message: unknown, again: boolean): void;
  /** The subscription stands, for the first time. */
  joined(): void;
  /** The connection is gone; Grafana tries to get it back. */
  cut(): void;
  /** Why there is no subscription yet, or again. */
  trouble(reason: string): void;
  /** The connection is back. What was sent in between is lost. */
  back(): void;
  /** The channel is closed for good. */
  lost(reason: string): void;
}

/**
 * Subscribes to the channel of a stream of the data source `uid`.
 *
 * Grafana tells of a lost connection in several ways, none of which all its versions have: the state of the channel, an
 * error, the state of the socket, or a second `connected` and nothing before it.
 */
export function openChannel(uid: string, { path, data }: LiveLink, events: ChannelEvents): Unsubscribable {
  const live = getGrafanaLiveSrv();
  let state: 'joining' | 'joined' | 'cut' | 'closed' = 'joining';
  let connectedAt: number | undefined;

  const cut = () => {
    if (state === 'joined') {
      state = 'cut';
      events.cut();
    }
  };
  const close = (reason: string) => {
    if (state !== 'closed') {
      state = 'closed';
      events.lost(reason);
    }
  };
  const connected = (at: number) => {
    if (state === 'joining') {
      state = 'joined';
      events.joined();
    } else if (state === 'cut' || at !== connectedAt) {
      cut();
      state = 'joined';
      events.back();
    }
    connectedAt = at;
  };

  // Grafana 12.4 renamed `namespace` to `stream`; some versions read only the one, some only the other.
  const address = { scope: LiveChannelScope.DataSource, namespace: uid, stream: uid, path, data };
  const subscription = live.getStream<unknown>(address).subscribe({
    next: (event) => {
      if (isLiveChannelMessageEvent(event)) {
        events.message(event.message, false);
        return;
      }
      if (!isLiveChannelStatusEvent(event)) {
        return;
      }
      if (event.error) {
        events.trouble(errorText(event.error));
      }
      switch (event.state) {
        case LiveChannelConnectionState.Connected:
          if (event.error) {
            cut();
          } else {
            connected(event.timestamp);
          }
          break;
        case LiveChannelConnectionState.Pending:
        case LiveChannelConnectionState.Connecting:
          cut();
          break;
        default:
          cut();
          close(errorText(event.error));
      }
      if (event.message) {
        events.message(event.message, true);
      }
    },
    error: (error) => close(errorText(error)),
    complete: () => close(errorText(undefined)),
  });
  subscription.add(live.getConnectionState().subscribe((up) => (up ? undefined : cut())));
  // What a closed channel still has to say concerns nobody.
  subscription.add(() => (state = 'closed'));
  return subscription;
}

function errorText(error: unknown): string {
  if (error instanceof Error) {
    return error.message;
  }
  const message: unknown = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return typeof message === 'string' && message !== '' ? message : 'Grafana closed the live channel';
}
