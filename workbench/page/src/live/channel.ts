import {
  DataFrameJSON,
  LiveChannelAddress,
  LiveChannelConnectionState,
  LiveChannelEvent,
  LiveChannelEventType,
  LiveChannelPresenceStatus,
  LiveChannelStatusEvent,
} from '@grafana/data';
import { Centrifuge, Subscription } from 'centrifuge';
import { Observable, Subject } from 'rxjs';

/** How long a channel without listeners stays subscribed. */
const CLOSE_DELAY_MS = 250;

/**
 * One channel of the socket, shared by all its listeners. The first one subscribes, with the `data` of its address;
 * each later one first gets the current status, with the newest packet that carries a schema.
 */
export class LiveChannel {
  private readonly events = new Subject<LiveChannelEvent<unknown>>();
  private readonly status: LiveChannelStatusEvent;
  private subscription?: Subscription;
  private lastWithSchema?: DataFrameJSON;
  private closed = false;

  constructor(
    private readonly centrifuge: Centrifuge,
    id: string,
    private readonly address: LiveChannelAddress,
    private readonly onClose: () => void
  ) {
    this.status = {
      type: LiveChannelEventType.Status,
      id,
      timestamp: Date.now(),
      state: LiveChannelConnectionState.Pending,
    };
  }

  /** The newest packet that carries a schema. */
  get seed(): DataFrameJSON | undefined {
    return this.lastWithSchema;
  }

  subscribe(): void {
    const subscription = this.centrifuge.newSubscription(this.status.id, { data: this.address.data });
    this.subscription = subscription;
    subscription
      .on('publication', ({ data }) => this.receive(data as DataFrameJSON | null))
      .on('subscribing', () => this.report({ state: LiveChannelConnectionState.Connecting }))
      .on('subscribed', ({ data }) => {
        const initial = data as DataFrameJSON | undefined;
        this.remember(initial);
        this.report({ state: LiveChannelConnectionState.Connected, error: undefined }, initial);
      })
      .on('unsubscribed', () => this.report({ state: LiveChannelConnectionState.Disconnected }))
      .on('error', ({ error }) => this.report({ error: error.message }))
      .on('join', ({ info }) => this.events.next({ type: LiveChannelEventType.Join, user: info.user }))
      .on('leave', ({ info }) => this.events.next({ type: LiveChannelEventType.Leave, user: info.user }));
    subscription.subscribe();
  }

  /** Ends the channel with an error for all listeners: a bad address, or a socket that refuses it at once. */
  fail(error: string): void {
    this.report({ state: LiveChannelConnectionState.Invalid, error });
    this.close();
  }

  listen(): Observable<LiveChannelEvent<unknown>> {
    return new Observable((subscriber) => {
      subscriber.next({ ...this.status, message: this.lastWithSchema });
      const inner = this.events.subscribe(subscriber);
      return () => {
        inner.unsubscribe();
        if (!this.events.observed) {
          setTimeout(() => {
            if (!this.events.observed) {
              this.close();
            }
          }, CLOSE_DELAY_MS);
        }
      };
    });
  }

  async presence(): Promise<LiveChannelPresenceStatus> {
    if (!this.subscription) {
      throw new Error('not subscribed');
    }
    const { clients } = await this.subscription.presence();
    return { users: Object.keys(clients) } as unknown as LiveChannelPresenceStatus;
  }

  private receive(packet: DataFrameJSON | null): void {
    if (packet) {
      this.remember(packet);
      this.events.next({ type: LiveChannelEventType.Message, message: packet });
    }
    if (this.status.error) {
      this.report({ error: undefined });
    }
  }

  private remember(packet: DataFrameJSON | undefined): void {
    if (packet?.schema) {
      this.lastWithSchema = packet;
    }
  }

  private report(change: Partial<LiveChannelStatusEvent>, message?: unknown): void {
    Object.assign(this.status, change, { timestamp: Date.now() });
    this.events.next(message === undefined ? { ...this.status } : { ...this.status, message });
  }

  private close(): void {
    if (this.closed) {
      return;
    }
    this.closed = true;
    if (this.subscription) {
      this.subscription.removeAllListeners();
      this.subscription.unsubscribe();
      this.centrifuge.removeSubscription(this.subscription);
    }
    this.report({ state: LiveChannelConnectionState.Shutdown });
    this.events.complete();
    this.onClose();
  }
}
