import { css } from '@emotion/css';
import { type GrafanaTheme2 } from '@grafana/data';
import { Button, RadioButtonList, useStyles2 } from '@grafana/ui';
import React, { useId, useState } from 'react';

import { type DetectAnswer, type KafkaQuery, type Proposal } from '../../types';
import { type GroupProps } from './edit';
import { FORMATS, KEYS } from './Format';

interface Props extends Pick<GroupProps, 'edit'> {
  found: DetectAnswer;
  close(): void;
}

/** What the last records of the topic look like, for a person to take or to leave. */
export function Findings({ found, edit, close }: Props) {
  const styles = useStyles2(getStyles);
  const values = proposals(found.value);
  const keys = proposals(found.key);
  const [value, setValue] = useState(0);
  const [key, setKey] = useState(0);
  const hex = found.hex ?? [];

  const use = () => {
    close();
    edit({ ...RESET, ...values[value]?.query, ...keys[key]?.query });
  };

  return (
    <section className={styles.box} aria-label="What Detect found">
      <div>{looked(found)}</div>
      <Choose title="Value" options={values} chosen={value} onChange={setValue} nothing={nothing(found, 'value')} />
      <Choose title="Key" options={keys} chosen={key} onChange={setKey} />
      {value === 0 && found.rows && found.rows.columns.length > 0 && <Rows {...found.rows} />}
      {hex.length > 0 && <pre className={styles.hex}>{hex.join('\n')}</pre>}
      <div className={styles.actions}>
        {values.length + keys.length > 0 && (
          <Button type="button" size="sm" onClick={use}>
            Use this
          </Button>
        )}
        <Button type="button" size="sm" variant="secondary" onClick={close}>
          Close
        </Button>
      </div>
    </section>
  );
}

/** What would read the records otherwise than what was proposed, and shown, reads them. */
const RESET: Partial<KafkaQuery> = {
  framing: undefined,
  subjectStrategy: undefined,
  subject: undefined,
  avroReaderSchema: undefined,
  protobufMessage: undefined,
  keyProtobufMessage: undefined,
};

function proposals(first: Proposal | null | undefined): Proposal[] {
  return first ? [first, ...(first.alternatives ?? [])] : [];
}

function looked({ topic, records }: DetectAnswer): string {
  if (records === 0) {
    return `${topic} holds no records to look at.`;
  }
  return records === 1 ? `Looked at the only record of ${topic}:` : `Looked at the last ${records} records of ${topic}:`;
}

function nothing({ records, hex }: DetectAnswer, what: string): string | undefined {
  if (records === 0) {
    return undefined;
  }
  return hex?.length ? `No format fits this ${what}. Its first bytes:` : `No format fits this ${what}.`;
}

interface ChooseProps {
  title: string;
  options: Proposal[];
  chosen: number;
  onChange(chosen: number): void;
  /** What is said where there is no proposal. */
  nothing?: string;
}

/** One proposal and why; several, to choose from. */
function Choose({ title, options, chosen, onChange, nothing }: ChooseProps) {
  const name = useId();
  const styles = useStyles2(getStyles);
  if (options.length === 0 && nothing === undefined) {
    return null;
  }
  return (
    <div className={styles.proposal} role="group" aria-label={title}>
      <span className={styles.title}>{title}</span>
      {options.length === 0 && <span>{nothing}</span>}
      {options.length === 1 && options[0] && (
        <span>
          <b>{label(options[0].format)}</b>: {options[0].why}
        </span>
      )}
      {options.length > 1 && (
        // As texts, since the list takes the number 0 for nothing chosen.
        <RadioButtonList<string>
          name={name}
          value={String(chosen)}
          options={options.map(({ format, why }, at) => ({ label: label(format), value: String(at), description: why }))}
          onChange={(at) => onChange(Number(at))}
        />
      )}
    </div>
  );
}

function label(format: string): string {
  return [...FORMATS, ...KEYS].find(({ value }) => value === format)?.label ?? format;
}

/** The first rows, as they would be shown. */
function Rows({ columns, rows }: NonNullable<DetectAnswer['rows']>) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.scroll}>
      <table className={styles.table} aria-label="The first rows">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {columns.map((name, column) => (
                <td key={name}>{cells[column]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function getStyles(theme: GrafanaTheme2) {
  return {
    box: css({
      ...theme.typography.bodySmall,
      display: 'flex',
      flexDirection: 'column',
      gap: theme.spacing(1),
      width: '100%',
      minWidth: 0,
      padding: theme.spacing(1.5),
      border: `1px solid ${theme.colors.border.medium}`,
      borderRadius: theme.shape.radius?.default ?? 2,
      background: theme.colors.background.primary,
    }),
    proposal: css({ display: 'flex', gap: theme.spacing(1.5), overflowWrap: 'anywhere' }),
    title: css({ flex: `0 0 ${theme.spacing(5)}`, color: theme.colors.text.secondary }),
    hex: css({ margin: 0, padding: theme.spacing(1), fontSize: 'inherit', overflowX: 'auto', whiteSpace: 'pre' }),
    scroll: css({ overflowX: 'auto' }),
    table: css({
      borderCollapse: 'collapse',
      fontSize: 'inherit',
      textAlign: 'left',
      'th, td': {
        padding: theme.spacing(0.25, 1),
        borderBottom: `1px solid ${theme.colors.border.weak}`,
        maxWidth: 420,
        overflow: 'hidden',
        textOverflow: 'ellipsis',
        whiteSpace: 'nowrap',
      },
      th: { fontWeight: theme.typography.fontWeightMedium },
    }),
    actions: css({ display: 'flex', gap: theme.spacing(1) }),
  };
}
