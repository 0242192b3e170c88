import React from 'react';

import { list } from '../parts/lenient';
import { globs } from './check';
import { ListSetting } from './parts';
import { type SectionProps } from './settings';

/** Which topics this data source shows at all. */
export function Topics({ settings, set, readOnly }: SectionProps) {
  const allow = list(settings.topicAllow);
  const deny = list(settings.topicDeny);
  return (
    <>
      <ListSetting
        label="Allowed topics"
        help="One pattern a line: * stands for any text, ? for one character, {a,b} for either. Empty allows every topic."
        placeholder={'orders.*\nsensors-?'}
        value={allow}
        error={globs(allow)}
        onChange={(topicAllow) => set({ topicAllow })}
        readOnly={readOnly}
      />
      <ListSetting
        label="Denied topics"
        help="Topics that stay hidden even where a pattern above allows them. One pattern a line."
        placeholder="*.private"
        value={deny}
        error={globs(deny)}
        onChange={(topicDeny) => set({ topicDeny })}
        readOnly={readOnly}
      />
    </>
  );
}
