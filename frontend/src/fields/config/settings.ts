import { type DataSourcePluginOptionsEditorProps } from '@grafana/data';

import { type KafkaOptions, type KafkaSecrets } from '../../types';

export type EditorProps = DataSourcePluginOptionsEditorProps<KafkaOptions, KafkaSecrets>;

/** What a section of the settings gets: what is saved, and the way to change it. */
export interface SectionProps {
  settings: KafkaOptions;
  secrets: Secrets;
  /** The data source is provisioned from a file, so nothing can be changed here. */
  readOnly: boolean;
  /** Changes these keys; one with `undefined` or an empty text is removed. Every other key stays as it is. */
  set(patch: Partial<KafkaOptions>): void;
}

/** The settings that never come back from the server once they are saved. */
export interface Secrets {
  /** Tells whether one is saved, or typed and about to be. */
  present(key: keyof KafkaSecrets): boolean;
  saved(key: keyof KafkaSecrets): boolean;
  typed(key: keyof KafkaSecrets): string;
  type(key: keyof KafkaSecrets, text: string): void;
  /** Forgets the saved one, so that another can be typed. */
  reset(key: keyof KafkaSecrets): void;
}

/** Reads and changes the settings that Grafana hands to the editor. */
export function section({ options, onOptionsChange }: EditorProps): SectionProps {
  const saved = (key: keyof KafkaSecrets) => options.secureJsonFields?.[key] === true;
  const typed = (key: keyof KafkaSecrets) => options.secureJsonData?.[key] ?? '';
  return {
    settings: options.jsonData,
    readOnly: options.readOnly === true,
    set: (patch) => {
      const jsonData: KafkaOptions = { ...options.jsonData, ...patch };
      for (const key of Object.keys(patch) as Array<keyof KafkaOptions>) {
        if (jsonData[key] === undefined || jsonData[key] === '') {
          delete jsonData[key];
        }
      }
      onOptionsChange({ ...options, jsonData });
    },
    secrets: {
      saved,
      typed,
      present: (key) => saved(key) || typed(key).trim() !== '',
      type: (key, text) => onOptionsChange({ ...options, secureJsonData: { ...options.secureJsonData, [key]: text } }),
      reset: (key) =>
        onOptionsChange({
          ...options,
          secureJsonFields: { ...options.secureJsonFields, [key]: false },
          secureJsonData: { ...options.secureJsonData, [key]: '' },
        }),
    },
  };
}
