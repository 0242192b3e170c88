import {
  isValidLiveChannelAddress,
  LiveChannelAddress,
  LiveChannelEvent,
  LiveChannelPresenceStatus,
  DataQueryResponse,
} from '@grafana/data';
import { GrafanaLiveSrv, LiveDataStreamOptions, LiveQueryDataOptions } from '@grafana/runtime';
import { Centrifuge } from 'centrifuge';
import { BehaviorSubject, Observable } from 'rxjs';
import { LiveChannel } from './channel';
import { LiveFrames } from './frames';
import { lagOfMainThread } from './lag';

export interface LiveOptions {
  url: string;
  /** What the socket puts before each channel's name: the organisation's id, or its namespace from 12.4 on. */
  prefix: string;
  enabled: boolean;
}

/** Grafana Live's browser side: one socket, one channel an address, shared by everything on the page. */
export class PageLiveSrv implements GrafanaLiveSrv {
  /** The channels that are open now, by their full name: tests read them from `window.workbench`. */
  readonly channels = new Map<string, LiveChannel>();
  private readonly frames = new Map<string, LiveFrames>();
  private readonly connected = new BehaviorSubject(false);
  private readonly ready = lagOfMainThread();
  private readonly centrifuge: Centrifuge;

  constructor(private readonly options: LiveOptions) {
    this.centrifuge = new Centrifuge(options.url, {
      timeout: 30_000,
      data: { sessionId: crypto.randomUUID(), orgId: 1 },
    });
    this.centrifuge.on('connected', () => this.connected.next(true));
    this.centrifuge.on('connecting', () => this.connected.next(false));
    this.centrifuge.on('disconnected', () => this.connected.next(false));
    if (options.enabled) {
      this.centrifuge.connect();
    }
  }

  getConnectionState(): Observable<boolean> {
    return this.connected.asObservable();
  }

  getStream<T>(address: LiveChannelAddress): Observable<LiveChannelEvent<T>> {
    return this.channel(address).listen() as Observable<LiveChannelEvent<T>>;
  }

  getDataStream(options: LiveDataStreamOptions): Observable<DataQueryResponse> {
    const id = this.channelId(options.addr);
    let frames = this.frames.get(id);
    if (!frames) {
      frames = new LiveFrames(this.channel(options.addr), this.ready, () => this.frames.delete(id));
      this.frames.set(id, frames);
    }
    return frames.listen(options);
  }

  getPresence(address: LiveChannelAddress): Promise<LiveChannelPresenceStatus> {
    return this.channel(address).presence();
  }

  publish(address: LiveChannelAddress, data: unknown): Promise<unknown> {
    return this.centrifuge.publish(this.channelId(address), data);
  }

  getQueryData(_options: LiveQueryDataOptions): Observable<DataQueryResponse> {
    throw new Error('queries over Live are an experiment of Grafana that the workbench page has not');
  }

  private channel(address: LiveChannelAddress): LiveChannel {
    const id = this.channelId(address);
    const open = this.channels.get(id);
    if (open) {
      return open;
    }
    const channel = new LiveChannel(this.centrifuge, id, address, () => this.channels.delete(id));
    this.channels.set(id, channel);
    queueMicrotask(() => {
      if (!isValidLiveChannelAddress(address)) {
        channel.fail('invalid channel address');
        return;
      }
      try {
        channel.subscribe();
      } catch (error) {
        channel.fail(error instanceof Error ? error.message : String(error));
      }
    });
    return channel;
  }

  /** Each Grafana names the part with the data source's uid its own way, and falls back on nothing. */
  private channelId(address: LiveChannelAddress): string {
    const { scope, path } = address;
    const uid = __GRAFANA__ === '10' ? address.namespace : address.stream;
    return `${this.options.prefix}/${scope}/${uid}/${path}`;
  }
}
