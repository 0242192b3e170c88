import {
  type DataFrame,
  type DataQueryError,
  type DataQueryResponse,
  LoadingState,
  type QueryResultMetaNotice,
} from '@grafana/data';
import { Observable, of } from 'rxjs';

import { dress, type Look } from './frame';
import { tooLarge } from './limit';
import { liveLink } from './packet';
import { type Answer, type Ask } from './session';
import { Sessions } from './sessions';
import { Throttle } from './throttle';

/** One target of a panel's query, and how the panel shows it. */
export interface Target {
  /** Tells it from other queries, with its variables filled in. */
  query: string;
  look: Look;
  ask: Ask;
}

/** What a panel asks of its streams. */
export interface PanelView {
  uid: string;
  /** Rows to show. */
  rows: number;
  /** The length of the panel's range in milliseconds. */
  span: number | undefined;
  panelPluginId: string | undefined;
}

/** What a target shows at a moment. */
interface Part {
  frames(): DataFrame[];
  error(): DataQueryError | undefined;
  watch(changed: () => void): () => void;
}

/** Finds the answer to one target. */
export function answerOf({ data, error, errors }: DataQueryResponse, refId: string): Answer {
  const frame = (data as DataFrame[]).find((frame) => frame.refId === refId);
  const all = errors ?? (error ? [error] : []);
  return { frame, link: liveLink(frame), error: all.find((error) => error.refId === refId) };
}

/** Shows an answer as it is, for a query that has no stream; `notices` say why. */
export function still(answer: DataQueryResponse, looks: Look[], notices: QueryResultMetaNotice[] = []): DataQueryResponse {
  const byRefId = new Map(looks.map((look) => [look.refId, look]));
  const data = (answer.data as DataFrame[]).map((frame) => {
    const look = byRefId.get(frame.refId ?? '');
    return look ? dress(frame, look, notices) : frame;
  });
  return { ...answer, data };
}

/** Shows an answer and then what its streams bring: each emission has the frames of all targets, under one key. */
export function follow(
  answer: DataQueryResponse,
  targets: Target[],
  view: PanelView,
  sessions: Sessions
): Observable<DataQueryResponse> {
  if (!targets.some(({ look, query }) => answerOf(answer, look.refId).link ?? sessions.before(query))) {
    return of(still(answer, targets.map(({ look }) => look)));
  }
  return new Observable((subscriber) => {
    const general = errorsOfNone(answer, targets);
    const answers = targets.map(({ look }) => withError(answerOf(answer, look.refId), general[0]));
    const parts = targets.map((target, i) => part(target, answers[i]!, view, sessions));
    const unclaimed = answers.some(({ error }) => error === general[0]) ? [] : general;
    const emit = new Throttle(
      () => subscriber.next(response(parts, unclaimed)),
      () => interval(view.panelPluginId, Sessions.total)
    );
    const unwatch = parts.map((part) => part.watch(() => emit.request()));
    emit.request();
    return () => {
      emit.stop();
      unwatch.forEach((stop) => stop());
    };
  });
}

function part({ query, look, ask }: Target, answer: Answer, view: PanelView, sessions: Sessions): Part {
  const { frame, link } = answer;
  const problem = link && tooLarge(link.data);
  const session =
    link && problem === undefined
      ? sessions.of(view.uid, query, { ...answer, link }, ask)
      : frame === undefined
        ? sessions.before(query)
        : undefined;
  if (!session) {
    const error = problem === undefined ? answer.error : { refId: look.refId, message: problem };
    return { frames: () => (frame ? [dress(frame, look)] : []), error: () => error, watch: () => () => undefined };
  }
  if (!link) {
    // A refresh that failed takes no rows away: the stream goes on, and may be right again by itself.
    session.fail(answer.error);
  }
  const { rows, span } = view;
  return {
    frames: () => [session.frame(look, rows, span)],
    error: () => session.error && { ...session.error, refId: look.refId },
    watch: (changed) => session.watch({ rows, changed }),
  };
}

/** Gives an answer that is none the error of the request as a whole. */
function withError(answer: Answer, general: DataQueryError | undefined): Answer {
  return answer.frame || answer.error ? answer : { ...answer, error: general };
}

/** Errors of the answer that belong to no target, such as that of the request as a whole. */
function errorsOfNone({ error, errors }: DataQueryResponse, targets: Target[]): DataQueryError[] {
  const refIds = new Set(targets.map(({ look }) => look.refId));
  return (errors ?? (error ? [error] : [])).filter(({ refId }) => refId === undefined || !refIds.has(refId));
}

function response(parts: Part[], unclaimed: DataQueryError[]): DataQueryResponse {
  const errors = [...unclaimed, ...parts.flatMap((part) => part.error() ?? [])];
  const response = { key: 'streamscope', data: parts.flatMap((part) => part.frames()) };
  return errors.length === 0
    ? { ...response, state: LoadingState.Streaming }
    : { ...response, state: LoadingState.Error, error: errors[0], errors };
}

/** A table costs the browser ten times what a graph does. */
function interval(panelPluginId: string | undefined, sessions: number): number {
  return panelPluginId === 'table' || sessions > MANY ? 200 : 100;
}

const MANY = 10;
