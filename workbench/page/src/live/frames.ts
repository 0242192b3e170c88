import {
  DataFrameJSON,
  DataQueryResponse,
  isLiveChannelMessageEvent,
  isLiveChannelStatusEvent,
  LiveChannelEvent,
  LoadingState,
  StreamingDataFrame,
} from '@grafana/data';
import { LiveDataStreamOptions } from '@grafana/runtime';
import { Observable, Subject, Subscription } from 'rxjs';
import { LiveChannel } from './channel';

/** How long the rows of a channel are kept once its last panel has left. */
const LINGER_MS = 5_000;

let streams = 0;

/**
 * The rows of one channel, for `getDataStream`: one buffer, as long as its most demanding panel wants it, filled from
 * the packets while the main thread keeps up, and in one go once it has caught up.
 */
export class LiveFrames {
  private readonly changes = new Subject<Partial<DataQueryResponse>>();
  private readonly inner = new Subscription();
  private readonly waiting: DataFrameJSON[] = [];
  private frame?: StreamingDataFrame;
  private ready = true;

  constructor(
    channel: LiveChannel,
    readiness: Observable<boolean>,
    private readonly onClose: () => void
  ) {
    this.inner.add(
      readiness.subscribe((ready) => {
        this.ready = ready;
        this.flush();
      })
    );
    this.inner.add(channel.listen().subscribe((event) => this.receive(event)));
  }

  listen({ frame, key, buffer }: LiveDataStreamOptions): Observable<DataQueryResponse> {
    const responseKey = key ?? `xstr/${streams++}`;
    return new Observable((subscriber) => {
      this.seed(frame, buffer);
      const emit = (change: Partial<DataQueryResponse>) =>
        subscriber.next({
          state: LoadingState.Streaming,
          data: this.frame ? [this.frame] : [],
          key: responseKey,
          ...change,
        });
      emit({});
      const changes = this.changes.subscribe({ next: emit, complete: () => subscriber.complete() });
      return () => {
        changes.unsubscribe();
        setTimeout(() => this.closeIfAlone(), LINGER_MS);
      };
    });
  }

  private seed(frame: DataFrameJSON | undefined, buffer: LiveDataStreamOptions['buffer']): void {
    if (!this.frame) {
      this.frame = StreamingDataFrame.fromDataFrameJSON(frame ?? { schema: { fields: [] } }, buffer);
      return;
    }
    if (buffer) {
      const { maxLength, maxDelta } = this.frame.getOptions();
      this.frame.resize({
        maxLength: Math.max(maxLength, buffer.maxLength ?? 0),
        maxDelta: Math.max(maxDelta, buffer.maxDelta ?? 0),
      });
    }
    if (frame && this.frame.length === 0) {
      this.frame.push(frame);
    }
  }

  private receive(event: LiveChannelEvent<unknown>): void {
    if (isLiveChannelMessageEvent(event)) {
      this.waiting.push(event.message as DataFrameJSON);
      this.flush();
    } else if (isLiveChannelStatusEvent(event)) {
      if (event.message) {
        this.waiting.push(event.message as DataFrameJSON);
        this.flush();
      }
      if (event.error) {
        const error = { message: `Streaming channel error: ${String(event.error)}` };
        this.changes.next({ state: LoadingState.Error, error });
      }
    }
  }

  private flush(): void {
    if (!this.ready || this.waiting.length === 0 || !this.frame) {
      return;
    }
    for (const packet of this.waiting.splice(0)) {
      this.frame.push(packet);
    }
    this.changes.next({});
  }

  private closeIfAlone(): void {
    if (!this.changes.observed) {
      this.inner.unsubscribe();
      this.onClose();
    }
  }
}
