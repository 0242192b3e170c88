import { CustomVariableSupport, type DataQueryRequest, type DataQueryResponse } from '@grafana/data';
import { getTemplateSrv } from '@grafana/runtime';
import { from, map, type Observable } from 'rxjs';

import { type DataSource } from './datasource';
import { type TopicVariableQuery } from './types';
import { MOST_TOPICS, savedQuery, VariableQueryEditor } from './VariableQueryEditor';

/** Dashboard variables whose values are topics. Grafana itself applies the variable's regex and order. */
export class TopicVariables extends CustomVariableSupport<DataSource, TopicVariableQuery> {
  editor = VariableQueryEditor;

  constructor(private readonly datasource: DataSource) {
    super();
  }

  query({ targets, scopedVars }: DataQueryRequest<TopicVariableQuery>): Observable<DataQueryResponse> {
    const { search = '', limit = MOST_TOPICS, internal } = savedQuery(targets[0]);
    const found = this.datasource.topics({ search: getTemplateSrv().replace(search, scopedVars), limit, internal });
    return from(found).pipe(map((topics) => ({ data: topics.map((text) => ({ text })) })));
  }
}
