import { type DataQueryRequest } from '@grafana/data';
import { setTemplateSrv } from '@grafana/runtime';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React, { useState } from 'react';
import { firstValueFrom } from 'rxjs';

import { type DataSource } from '../../src/datasource';
import { type TopicVariableQuery } from '../../src/types';
import { VariableQueryEditor } from '../../src/VariableQueryEditor';
import { TopicVariables } from '../../src/variables';

const user = userEvent.setup({ delay: null, pointerEventsCheck: 0 });

/** Opens the editor and returns what it was changed to. */
function open(saved: unknown): TopicVariableQuery[] {
  const changes: TopicVariableQuery[] = [];
  function Variable() {
    const [query, setQuery] = useState(saved as TopicVariableQuery);
    const onChange = (changed: TopicVariableQuery) => {
      changes.push(changed);
      setQuery(changed);
    };
    return <VariableQueryEditor query={query} onChange={onChange} onRunQuery={() => undefined} datasource={undefined as never} />;
  }
  render(<Variable />);
  return changes;
}

describe('the editor of a variable', () => {
  it.each<[string, unknown, string, string, TopicVariableQuery[]]>([
    ['a new variable', '', 'Topics with', 'ord', [{ refId: 'topics', search: 'ord' }]],
    ['a saved one', { refId: 'x', search: 'a', limit: 5 }, 'Topics with', 'b', [{ refId: 'x', search: 'b', limit: 5 }]],
    ['a limit', { refId: 'x', search: 'a' }, 'At most', '20', [{ refId: 'x', search: 'a', limit: 20 }]],
    ['no limit', { refId: 'x', limit: 5 }, 'At most', '', [{ refId: 'x' }]],
    ['a limit that makes no sense', { refId: 'x' }, 'At most', '1001', []],
    ['the same', { refId: 'x', search: 'a' }, 'Topics with', 'a', []],
  ])('%s', async (_, saved, label, text, want) => {
    const changes = open(saved);
    expect(changes).toEqual([]);
    await user.clear(screen.getByLabelText(label));
    await user.type(screen.getByLabelText(label), `${text}{Enter}`);
    expect(changes).toStrictEqual(want);
  });

  it('has the internal topics on request', async () => {
    const changes = open('');
    await user.click(screen.getByLabelText('Internal topics'));
    expect(changes).toStrictEqual([{ refId: 'topics', internal: true }]);
  });
});

describe('a variable', () => {
  setTemplateSrv({ replace: (text = '') => text.replace('$team', 'red') } as never);

  it.each<[unknown, object]>([
    ['', { search: '', limit: 1000, internal: undefined }],
    [{ refId: 'x', search: '$team.', limit: 5, internal: true }, { search: 'red.', limit: 5, internal: true }],
  ])('has the topics that %j asks for', async (query, asked) => {
    const topics = vi.fn(async () => ['red.a', 'red.b']);
    const variables = new TopicVariables({ topics } as unknown as DataSource);
    const request = { targets: [query], scopedVars: {} } as unknown as DataQueryRequest<TopicVariableQuery>;
    expect(await firstValueFrom(variables.query(request))).toEqual({ data: [{ text: 'red.a' }, { text: 'red.b' }] });
    expect(topics).toHaveBeenCalledExactlyOnceWith(asked);
  });
});
