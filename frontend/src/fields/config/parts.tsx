import { css } from '@emotion/css';
import { type SelectableValue } from '@grafana/data';
import { Field, Input, SecretInput, SecretTextArea, Select, Switch, TextArea } from '@grafana/ui';
import React, { type ReactElement, type ReactNode, useId, useState } from 'react';

import { type KafkaSecrets } from '../../types';
import { type Parsed, useDraft } from '../parts/draft';
import { between } from './check';
import { type Secrets } from './settings';

/** The width of a text of ordinary length, in units of 8 pixels. */
const WIDE = 56;
const NARROW = 20;
/** The same width for texts of several lines, which do not take it in those units. */
const area = css({ width: WIDE * 8, fontFamily: 'monospace' });

interface Common {
  label: string;
  /** Says in plain words what the setting does. */
  help: ReactNode;
  error?: string;
  required?: boolean;
  readOnly: boolean;
}

interface TextProps extends Common {
  value: string;
  onChange(text: string): void;
  placeholder?: string;
}

/** A setting of one line. */
export function TextSetting({ value, onChange, placeholder, readOnly, ...field }: TextProps) {
  const id = useId();
  return (
    <Labelled {...field} id={id}>
      <Input
        id={id}
        aria-label={field.label}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        placeholder={placeholder}
        width={WIDE}
        disabled={readOnly}
        autoComplete="off"
      />
    </Labelled>
  );
}

interface NumberProps extends Omit<Common, 'error'> {
  value: string;
  /** Gets `undefined` where the field is emptied. */
  onChange(value: number | undefined): void;
  least: number;
  most: number;
  /** What applies where nothing or 0 is saved. */
  initial: number;
  unit?: string;
}

/** A setting that is a whole number, taken when the field is left or Enter is pressed and it is in range. */
export function NumberSetting({ value, onChange, least, most, initial, unit, readOnly, ...field }: NumberProps) {
  const id = useId();
  const saved = value === '0' ? '' : value;
  const { error, input } = useDraft(saved, (text) => whole(text, least, most), onChange);
  return (
    <Labelled {...field} id={id} error={error ?? between(saved, least, most)}>
      <Input
        {...input}
        id={id}
        aria-label={field.label}
        inputMode="numeric"
        placeholder={String(initial)}
        suffix={unit}
        width={NARROW}
        disabled={readOnly}
        autoComplete="off"
      />
    </Labelled>
  );
}

function whole(text: string, least: number, most: number): Parsed<number | undefined> {
  const error = between(text, least, most);
  return error === undefined ? { value: Number(text) || undefined } : { error };
}

interface ListProps extends Common {
  value: string[];
  onChange(entries: string[] | undefined): void;
  placeholder?: string;
}

/** A setting that is a list, one entry a line. */
export function ListSetting({ value, onChange, placeholder, readOnly, ...field }: ListProps) {
  const id = useId();
  // Keeps the empty lines of somebody who is still typing.
  const [typed, setTyped] = useState('');
  const shown = lines(typed).join('\n') === value.join('\n') ? typed : value.join('\n');
  return (
    <Labelled {...field} id={id}>
      <TextArea
        id={id}
        aria-label={field.label}
        value={shown}
        onChange={(event) => {
          const text = event.currentTarget.value;
          setTyped(text);
          onChange(lines(text).length === 0 ? undefined : lines(text));
        }}
        placeholder={placeholder}
        rows={Math.max(3, shown.split('\n').length)}
        className={area}
        disabled={readOnly}
      />
    </Labelled>
  );
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

interface ChoiceProps<T extends string> extends Common {
  value: T;
  options: Array<SelectableValue<T>>;
  onChange(value: T): void;
}

/** A setting with a few values. A saved one that is none of them shows as it is. */
export function ChoiceSetting<T extends string>({ value, options, onChange, readOnly, ...field }: ChoiceProps<T>) {
  const id = useId();
  return (
    <Labelled {...field} id={id}>
      <Select<T>
        inputId={id}
        aria-label={field.label}
        value={options.find((option) => option.value === value) ?? { value, label: value }}
        options={options}
        onChange={(option) => {
          if (option.value !== undefined && option.value !== value) {
            onChange(option.value);
          }
        }}
        width={WIDE}
        disabled={readOnly}
      />
    </Labelled>
  );
}

interface SwitchProps extends Common {
  value: boolean;
  onChange(value: boolean): void;
}

/** A setting that is on or off. */
export function SwitchSetting({ value, onChange, readOnly, ...field }: SwitchProps) {
  const id = useId();
  return (
    <Labelled {...field} id={id}>
      <Switch
        id={id}
        aria-label={field.label}
        value={value}
        onChange={(event) => onChange(event.currentTarget.checked)}
        disabled={readOnly}
      />
    </Labelled>
  );
}

interface SecretProps extends Omit<Common, 'help'> {
  /** That it is kept encrypted, where there is no more to say. */
  help?: ReactNode;
  name: keyof KafkaSecrets;
  secrets: Secrets;
  /** What is said while there is none. */
  missing?: string;
  placeholder?: string;
  /** Several lines, for a certificate or a key. */
  multiline?: boolean;
}

/** A setting that is kept encrypted and never shown again. */
export function SecretSetting(props: SecretProps) {
  const { name, secrets, placeholder, multiline = false, readOnly, missing, help = ENCRYPTED, error, ...field } = props;
  const id = useId();
  const common = {
    id,
    'aria-label': field.label,
    isConfigured: secrets.saved(name),
    onReset: () => secrets.reset(name),
    value: secrets.typed(name),
    placeholder,
    disabled: readOnly,
  };
  return (
    <Labelled {...field} id={id} help={help} error={error ?? (secrets.present(name) ? undefined : missing)}>
      {multiline ? (
        <SecretTextArea
          {...common}
          onChange={(event) => secrets.type(name, event.currentTarget.value)}
          rows={6}
          className={area}
        />
      ) : (
        <SecretInput
          {...common}
          onChange={(event) => secrets.type(name, event.currentTarget.value)}
          width={WIDE}
          autoComplete="new-password"
        />
      )}
    </Labelled>
  );
}

const ENCRYPTED = 'Kept encrypted by Grafana and never shown again.';

interface LabelledProps extends Omit<Common, 'readOnly'> {
  id: string;
  children: ReactElement<{ invalid?: boolean }>;
}

/** Puts a setting under its label and its help; the control's accessible name is the label alone. */
function Labelled({ id, label, help, error, required, children }: LabelledProps) {
  return (
    <Field label={label} description={help} htmlFor={id} required={required} invalid={error !== undefined} error={error}>
      {children}
    </Field>
  );
}
