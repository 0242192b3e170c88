import { type SelectableValue } from '@grafana/data';
import { Select } from '@grafana/ui';
import React, { useRef } from 'react';

interface Props {
  inputId: string;
  /** The accessible name, where no label stands beside it. */
  ariaLabel?: string;
  /** The saved text; empty for none. */
  value: string;
  options: Array<SelectableValue<string>>;
  onCommit(text: string): void;
  /** Is called when the list opens, with an empty text, and for each text typed after that. */
  onSearch?(text: string): void;
  /** Says whether a text that is no option may be taken; without it any may. */
  accepts?(text: string): boolean;
  placeholder: string;
  loading?: boolean;
  invalid?: boolean;
  clearable?: boolean;
  /** What the list says when it is empty. */
  empty?: string;
  /** In units of 8 pixels. */
  width?: number;
}

/**
 * A list to choose from that takes other text too.
 *
 * Text that was typed and not confirmed is taken when the field is left, if it is an option or like none of them: half
 * a word that only narrowed the list down is dropped.
 */
export function FreeSelect(props: Props) {
  const { value, options, onCommit, onSearch, accepts = () => true } = props;
  const typed = useRef('');
  const isOption = (text: string) => options.some((option) => option.value === text);

  const commit = (text: string) => {
    typed.current = '';
    if (text !== value) {
      onCommit(text);
    }
  };

  return (
    <Select<string>
      inputId={props.inputId}
      aria-label={props.ariaLabel}
      value={value === '' ? null : { label: value, value }}
      options={options}
      allowCustomValue
      allowCreateWhileLoading
      formatCreateLabel={(text) => `Use “${text.trim()}”`}
      isValidNewOption={(text) => text.trim() !== '' && accepts(text.trim()) && !isOption(text.trim())}
      isClearable={props.clearable}
      isLoading={props.loading}
      invalid={props.invalid}
      noOptionsMessage={props.empty}
      placeholder={props.placeholder}
      width={props.width}
      onOpenMenu={() => onSearch?.('')}
      onInputChange={(text, { action }) => {
        if (action === 'input-change') {
          typed.current = text;
          onSearch?.(text.trim());
        } else if (action === 'menu-close') {
          typed.current = '';
        }
      }}
      onChange={(option: SelectableValue<string> | null) => commit(option?.value?.trim() ?? '')}
      onBlur={() => {
        const text = typed.current.trim();
        const near = options.some((option) => option.value?.toLowerCase().includes(text.toLowerCase()));
        if (text !== '' && (isOption(text) || (!near && accepts(text)))) {
          commit(text);
        }
      }}
    />
  );
}
