import { type SelectableValue } from '@grafana/data';
import React from 'react';

import { type IsolationLevel } from '../../types';
import { Choice } from '../parts/Choice';
import { flag } from '../parts/lenient';
import { Toggle } from '../parts/Toggle';
import { type GroupProps } from './edit';

const LEVELS: Array<SelectableValue<IsolationLevel>> = [
  { label: 'Committed', value: 'readCommitted', description: 'What producers finished' },
  { label: 'All', value: 'readUncommitted', description: 'Also what was rolled back or is still open' },
];

/** Which records are read, and what happens when more arrive than a browser can show. */
export function Reading({ query, edit }: GroupProps) {
  const latest = query.autoOffsetReset !== 'earliest' && query.autoOffsetReset !== 'lastN';
  return (
    <>
      <Choice<IsolationLevel>
        label="Transactions"
        help="Committed shows records once their transaction is finished, and never those that were rolled back. All shows every record as soon as it is written."
        value={query.isolationLevel ?? 'readCommitted'}
        options={LEVELS}
        onCommit={(isolationLevel) => edit({ isolationLevel })}
        width={18}
      />
      <Toggle
        label="Pace the stream"
        help="Sends at most as much as a browser can keep up with. Without it a fast topic may cut viewers off."
        value={flag(query.pacing, true)}
        onCommit={(pacing) => edit({ pacing })}
      />
      {latest && (
        <Toggle
          label="Every record"
          help="A stream that starts at the latest record skips forward when it falls too far behind. Switch this on to see every record, even if late."
          value={flag(query.everyRecord)}
          onCommit={(everyRecord) => edit({ everyRecord })}
        />
      )}
    </>
  );
}
