import { css } from '@emotion/css';
import { type GrafanaTheme2 } from '@grafana/data';
import { Button, TextArea, useStyles2 } from '@grafana/ui';
import React, { type ReactNode, useId, useRef, useState } from 'react';

import { type SchemaFormat } from '../../types';
import { type Asked } from './ask';
import { anyText, useDraft } from './draft';
import { QueryField } from './QueryField';

interface Props {
  label: string;
  help: ReactNode;
  format: SchemaFormat;
  /** The saved text; empty for none. */
  value: string;
  onCommit(text: string): void;
  /** Compiles the saved text. */
  check: Asked<string>;
  note?: string;
}

/** A schema's text: written, or read from a file, and compiled on request. */
export function SchemaField({ label, help, format, value, onCommit, check, note }: Props) {
  const id = useId();
  const styles = useStyles2(getStyles);
  const file = useRef<HTMLInputElement>(null);
  const [unread, setUnread] = useState<string>();
  const { input } = useDraft(value, anyText, (text) => {
    setUnread(undefined);
    onCommit(text);
  });
  const { endings, placeholder } = FORMATS[format];
  const error = unread ?? check.error;

  const read = async (chosen: File | undefined) => {
    if (chosen === undefined) {
      return;
    }
    try {
      const text = await contents(chosen, endings);
      setUnread(undefined);
      if (text !== value) {
        onCommit(text);
      }
    } catch (error) {
      setUnread(error instanceof Error ? error.message : String(error));
    }
  };

  return (
    <QueryField
      label={label}
      help={help}
      htmlFor={id}
      note={note}
      success={check.answer}
      error={error}
      wide
    >
      <TextArea
        {...input}
        id={id}
        className={styles.text}
        rows={Math.min(16, Math.max(5, input.value.split('\n').length))}
        placeholder={placeholder}
        spellCheck={false}
        invalid={error !== undefined}
        aria-invalid={error !== undefined}
      />
      <div className={styles.actions}>
        <Button
          type="button"
          size="sm"
          variant="secondary"
          icon={check.running ? 'spinner' : 'check'}
          disabled={check.running || input.value.trim() === ''}
          onClick={check.run}
        >
          Validate
        </Button>
        <Button type="button" size="sm" variant="secondary" icon="upload" onClick={() => file.current?.click()}>
          {`Upload ${endings.join(' or ')}`}
        </Button>
        <input
          ref={file}
          type="file"
          hidden
          aria-label={`${label} file`}
          accept={endings.join(',')}
          onChange={(event) => {
            const { currentTarget } = event;
            void read(currentTarget.files?.[0]);
            // So that the same file, changed, can be chosen again.
            currentTarget.value = '';
          }}
        />
      </div>
    </QueryField>
  );
}

const MOST_BYTES = 5 * 1024 * 1024;

/** Reads a chosen file, or says why it is not taken. */
async function contents(file: File, endings: string[]): Promise<string> {
  if (!endings.some((ending) => file.name.toLowerCase().endsWith(ending))) {
    throw new Error(`“${file.name}” is no ${endings.join(' or ')} file: choose one of those`);
  }
  if (file.size > MOST_BYTES) {
    throw new Error(`“${file.name}” has more than 5 MB: take so large a schema from a schema registry`);
  }
  const text = (await file.text()).trim();
  if (text === '') {
    throw new Error(`“${file.name}” is empty`);
  }
  return text;
}

const FORMATS: Record<SchemaFormat, { endings: string[]; placeholder: string }> = {
  avro: {
    endings: ['.avsc', '.json'],
    placeholder: '{"type": "record", "name": "Reading", "fields": [{"name": "value", "type": "double"}]}',
  },
  protobuf: {
    endings: ['.proto'],
    placeholder: 'syntax = "proto3";\n\nmessage Reading {\n  double value = 1;\n}',
  },
};

function getStyles(theme: GrafanaTheme2) {
  return {
    text: css({
      fontFamily: theme.typography.fontFamilyMonospace,
      fontSize: theme.typography.bodySmall.fontSize,
      resize: 'vertical',
    }),
    actions: css({ display: 'flex', gap: theme.spacing(1), marginTop: theme.spacing(0.5) }),
  };
}
