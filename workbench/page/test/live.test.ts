import { LiveChannelAddress, LiveChannelEvent, LiveChannelStatusEvent } from '@grafana/data';
import { Centrifuge } from 'centrifuge';
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LiveChannel } from '../src/live/channel';

/** What the channel uses of a subscription, and of the socket that makes it. */
class FakeSubscription extends EventEmitter {
  subscribe = () => undefined;
  unsubscribe = () => undefined;
}

function openChannel() {
  const subscription = new FakeSubscription();
  const asked: unknown[] = [];
  const removed: unknown[] = [];
  const socket = {
    newSubscription: (id: string, options: unknown) => {
      asked.push([id, options]);
      return subscription;
    },
    removeSubscription: (gone: unknown) => removed.push(gone),
  } as unknown as Centrifuge;
  const address = { scope: 'ds', namespace: 'k', path: 'p', data: { topic: 't' } } as unknown as LiveChannelAddress;
  const state = { closed: false };
  const channel = new LiveChannel(socket, '1/ds/k/p', address, () => (state.closed = true));
  channel.subscribe();
  const listen = () => {
    const events: Array<LiveChannelEvent<unknown>> = [];
    const subscription = channel.listen().subscribe((event) => events.push({ ...event }));
    return { events, stop: () => subscription.unsubscribe() };
  };
  return { channel, subscription, asked, removed, state, listen };
}

/** An event in short: `connected`, `pending+schema`, `message`, `error: text`. */
function short(event: LiveChannelEvent<unknown>): string {
  const { type, state, error, message } = event as LiveChannelStatusEvent;
  return type === 'status' ? `${state}${error ? ` error: ${error}` : ''}${message ? ' with a packet' : ''}` : type;
}

const packet = { schema: { fields: [] }, data: { values: [] } };

test('tells a listener the status first, then each change and each packet', () => {
  const { subscription, listen, asked } = openChannel();
  const first = listen();
  subscription.emit('subscribing', {});
  subscription.emit('subscribed', {});
  subscription.emit('publication', { data: packet });
  subscription.emit('error', { error: { message: 'too slow' } });
  subscription.emit('publication', { data: packet });
  subscription.emit('subscribing', {});
  subscription.emit('subscribed', { data: packet });
  subscription.emit('join', { info: { user: 'u' } });
  subscription.emit('unsubscribed', { code: 103, reason: 'permission denied' });
  assert.deepEqual(first.events.map(short), [
    'pending',
    'connecting',
    'connected',
    'message',
    'connected error: too slow',
    'message',
    'connected',
    'connecting',
    'connected with a packet',
    'join',
    'disconnected',
  ]);
  assert.deepEqual(asked, [['1/ds/k/p', { data: { topic: 't' } }]]);
});

test('gives a later listener the newest packet with a schema, and subscribes once', () => {
  const { subscription, listen, asked } = openChannel();
  listen();
  subscription.emit('subscribed', {});
  subscription.emit('publication', { data: packet });
  subscription.emit('publication', { data: { data: { values: [] } } });
  const late = listen();
  assert.deepEqual(late.events.map(short), ['connected with a packet']);
  assert.equal((late.events[0] as LiveChannelStatusEvent).message, packet);
  assert.equal(asked.length, 1);
});

test('stays open for a quarter of a second without listeners', async () => {
  const { subscription, listen, removed, state } = openChannel();
  const first = listen();
  first.stop();
  await sleep(100);
  const second = listen();
  await sleep(300);
  assert.equal(state.closed, false, 'somebody came back');
  subscription.emit('publication', { data: packet });
  assert.deepEqual(second.events.map(short), ['pending', 'message']);
  second.stop();
  await sleep(300);
  assert.equal(state.closed, true);
  assert.equal(removed.length, 1);
});

test('ends with the error of a bad address', () => {
  const { channel, listen, state } = openChannel();
  const { events } = listen();
  channel.fail('invalid channel address');
  assert.deepEqual(events.map(short), [
    'pending',
    'invalid error: invalid channel address',
    'shutdown error: invalid channel address',
  ]);
  assert.equal(state.closed, true);
});
