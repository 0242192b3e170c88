import { type FormEvent, type KeyboardEvent, useState } from 'react';

/** What a text means: a value to save, or why it cannot be saved. */
export type Parsed<T> = { value: T } | { error: string };

interface Draft {
  /** What is wrong with the text that is typed, if anything. */
  error: string | undefined;
  /** The properties of the input, or of the text area. */
  input: {
    value: string;
    onChange(event: FormEvent<HTMLInputElement | HTMLTextAreaElement>): void;
    onBlur(): void;
    onKeyDown(event: KeyboardEvent): void;
  };
}

/**
 * Holds what is typed back until the field is left or Enter is pressed, so that no keystroke starts a stream.
 *
 * In a text area, where Enter begins a line, it is Enter with Ctrl or Cmd. Escape gives the saved text back. A text with
 * an error stays in the field and is not committed.
 */
export function useDraft<T>(saved: string, parse: (text: string) => Parsed<T>, commit: (value: T) => void): Draft {
  const [draft, setDraft] = useState<string>();
  const parsed = draft === undefined ? undefined : parse(draft);

  const finish = () => {
    if (draft === undefined || parsed === undefined || 'error' in parsed) {
      return;
    }
    setDraft(undefined);
    if (draft.trim() !== saved) {
      commit(parsed.value);
    }
  };

  return {
    error: parsed && 'error' in parsed ? parsed.error : undefined,
    input: {
      value: draft ?? saved,
      onChange: (event) => setDraft(event.currentTarget.value),
      onBlur: finish,
      onKeyDown: (event) => {
        const lines = event.currentTarget instanceof HTMLTextAreaElement;
        if (event.key === 'Enter' && (!lines || event.ctrlKey || event.metaKey)) {
          finish();
        } else if (event.key === 'Escape') {
          setDraft(undefined);
        }
      },
    },
  };
}

/** Takes any text, without the white space around it. */
export function anyText(text: string): Parsed<string> {
  return { value: text.trim() };
}

/** Tells whether a text holds a template variable: `$name`, `${name}` or `[[name]]`. */
export function hasVariable(text: string): boolean {
  return /\$\w|\$\{[^}]+\}|\[\[[^\]]+\]\]/.test(text);
}
