import {
  type LiveChannelAddress,
  LiveChannelConnectionState as State,
  type LiveChannelEvent,
  LiveChannelEventType,
  type LiveChannelStatusEvent,
} from '@grafana/data';
import { type GrafanaLiveSrv } from '@grafana/runtime';
import { BehaviorSubject, Observable, Subject } from 'rxjs';

interface Channel {
  address: LiveChannelAddress;
  status: LiveChannelStatusEvent;
  events: Subject<LiveChannelEvent>;
  lastWithSchema?: unknown;
}

/**
 * Grafana Live as a plugin meets it in the browser: channels by id, one subscription each however many observers it has,
 * closed 250 ms after the last one, the last message repeated to a new observer, and no status at the moment at which
 * the socket breaks but a second `connected` afterwards.
 */
export class FakeLive implements Pick<GrafanaLiveSrv, 'getStream' | 'getConnectionState'> {
  readonly subscribed: LiveChannelAddress[] = [];
  private readonly open = new Map<string, Channel>();
  private readonly up = new BehaviorSubject(true);
  private clock = 0;

  getConnectionState = (): Observable<boolean> => this.up.asObservable();

  getStream = <T>(address: LiveChannelAddress): Observable<LiveChannelEvent<T>> =>
    new Observable<LiveChannelEvent<T>>((subscriber) => {
      const channel = this.channel(address);
      subscriber.next({ ...channel.status, message: channel.lastWithSchema });
      const subscription = channel.events.subscribe(subscriber as never);
      return () => {
        subscription.unsubscribe();
        setTimeout(() => {
          if (!channel.events.observed) {
            this.open.delete(id(channel.address));
          }
        }, 250);
      };
    });

  /** The paths of the channels that have an observer. */
  get paths(): string[] {
    return [...this.open.values()].filter(({ events }) => events.observed).map(({ address }) => address.path);
  }

  /** Sends a packet to the page; one that nobody has subscribed to is lost, as the server keeps none. */
  publish(path: string, message: unknown): void {
    const channel = this.at(path);
    if (!channel || channel.status.state !== State.Connected || !this.up.value) {
      return;
    }
    // What travels is text.
    const copy: unknown = JSON.parse(JSON.stringify(message));
    channel.lastWithSchema = copy;
    channel.events.next({ type: LiveChannelEventType.Message, message: copy });
  }

  /** A packet arrives before the reply to the subscription that it belongs to. */
  overtake(path: string, message: unknown): void {
    this.at(path)?.events.next({ type: LiveChannelEventType.Message, message });
  }

  /** The server confirms a subscription that it has not confirmed yet. */
  confirm(path: string): void {
    const channel = this.at(path);
    if (channel?.status.state !== State.Connected) {
      this.say(channel, State.Connected);
    }
  }

  /** The server does not take a subscription for now, and the page tries again. */
  delay(path: string, error: string): void {
    const channel = this.at(path);
    if (channel) {
      channel.events.next({ ...channel.status, timestamp: ++this.clock, error });
    }
  }

  /** The server refuses a subscription for good. */
  refuse(path: string): void {
    this.say(this.at(path), State.Disconnected);
  }

  /** The socket breaks. */
  cut(): void {
    this.up.next(false);
  }

  /** The socket is back, and every channel is subscribed again. */
  restore(): void {
    this.up.next(true);
    this.open.forEach((channel) => this.say(channel, State.Connected));
  }

  private at(path: string): Channel | undefined {
    return [...this.open.values()].find(({ address }) => address.path === path);
  }

  private say(channel: Channel | undefined, state: State): void {
    if (channel) {
      channel.status = { ...channel.status, state, timestamp: ++this.clock };
      channel.events.next({ ...channel.status });
    }
  }

  private channel(address: LiveChannelAddress): Channel {
    const known = this.open.get(id(address));
    if (known) {
      return known;
    }
    const channel: Channel = {
      address,
      status: { type: LiveChannelEventType.Status, id: id(address), timestamp: ++this.clock, state: State.Pending },
      events: new Subject(),
    };
    this.open.set(id(address), channel);
    this.subscribed.push(address);
    return channel;
  }
}

function id({ scope, stream, path }: LiveChannelAddress): string {
  return `${scope}/${stream}/${path}`;
}
