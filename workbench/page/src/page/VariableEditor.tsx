import { CustomVariableSupport, QueryEditorProps, DataSourceApi } from '@grafana/data';
import { DataQuery } from '@grafana/schema';
import React, { ComponentType } from 'react';
import { Dashboard } from '../dashboard';
import { useValue } from './hooks';

type EditorProps = QueryEditorProps<DataSourceApi, DataQuery>;

/** The plugin's own editor of the query behind a dashboard variable. */
export function VariableEditor({ name, dashboard }: { name: string; dashboard: Dashboard }) {
  const dataSource = useValue(dashboard.dataSources.instance);
  const variable = useValue(dashboard.templates.variables).find((other) => other.name === name);
  const support = dataSource.variables;
  if (!(support instanceof CustomVariableSupport)) {
    return null;
  }
  const Editor = support.editor as ComponentType<EditorProps>;
  return (
    <Editor
      datasource={dataSource}
      query={variable?.query ?? ('' as unknown as DataQuery)}
      onChange={(query) => dashboard.templates.changeQuery(name, query)}
      onRunQuery={() => undefined}
    />
  );
}
