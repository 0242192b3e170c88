import React from 'react';

import { text } from '../parts/lenient';
import { NumberSetting } from './parts';
import { type SectionProps } from './settings';

/** How much this data source sends and shows at most. */
export function Limits({ settings, set, readOnly }: SectionProps) {
  return (
    <>
      <NumberSetting
        label="Live budget"
        help="What all live panels of this data source may send to browsers in a tenth of a second. More than this waits, and grows into larger packets."
        unit="KiB"
        initial={512}
        least={32}
        most={65_536}
        value={text(settings.liveSlotKiB)}
        onChange={(liveSlotKiB) => set({ liveSlotKiB })}
        readOnly={readOnly}
      />
      <NumberSetting
        label="Flatten depth"
        help="How many levels of nested fields become columns of their own, a.b.c. What lies deeper is shown as JSON text."
        unit="levels"
        initial={5}
        least={1}
        most={64}
        value={text(settings.flattenMaxDepth)}
        onChange={(flattenMaxDepth) => set({ flattenMaxDepth })}
        readOnly={readOnly}
      />
      <NumberSetting
        label="Field limit"
        help="How many columns the values of one stream make at most. The panel says how many fields were left out."
        unit="columns"
        initial={1000}
        least={1}
        most={10_000}
        value={text(settings.flattenFieldCap)}
        onChange={(flattenFieldCap) => set({ flattenFieldCap })}
        readOnly={readOnly}
      />
    </>
  );
}
