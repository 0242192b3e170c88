import { ScopedVars, TimeRange, TypedVariableModel } from '@grafana/data';
import { TemplateSrv } from '@grafana/runtime';
import { DataQuery } from '@grafana/schema';
import { BehaviorSubject } from 'rxjs';

/** A dashboard variable: its name, what is chosen, what can be chosen, and the query that finds that. */
export interface PageVariable {
  name: string;
  value: string;
  options: string[];
  query?: DataQuery;
}

type Format = string | Function | undefined;

/** `$name`, `[[name]]`, `[[name:format]]`, `${name}`, `${name.path}`, `${name:format}`. */
const REFERENCE = /\$(\w+)|\[\[(\w+?)(?::(\w+))?\]\]|\$\{(\w+)(?:\.([^:^}]+))?(?::([^}]+))?\}/g;

/** Knows the dashboard's variables and writes their values into texts, with the formats that data sources use. */
export class PageTemplateSrv implements TemplateSrv {
  readonly variables = new BehaviorSubject<PageVariable[]>([]);
  private range?: TimeRange;

  constructor(variables: PageVariable[]) {
    this.variables.next(variables);
  }

  /** Chooses `value` for the variable `name`. */
  choose(name: string, value: string): void {
    this.update(name, { value });
  }

  /** Replaces what can be chosen for the variable `name`. */
  offer(name: string, options: string[]): void {
    this.update(name, { options });
  }

  getVariables(): TypedVariableModel[] {
    return this.variables.value.map(
      ({ name, value, options }) =>
        ({
          id: name,
          type: 'query',
          name,
          label: name,
          multi: false,
          includeAll: false,
          current: { selected: true, text: value, value },
          options: options.map((option) => ({ selected: option === value, text: option, value: option })),
        }) as unknown as TypedVariableModel
    );
  }

  replace(target = '', scopedVars: ScopedVars = {}, format?: Format): string {
    return target.replace(REFERENCE, (match, ...groups: Array<string | undefined>) => {
      const [plain, square, squareFormat, braces, path, bracesFormat] = groups;
      const name = plain ?? square ?? braces ?? '';
      const value = this.lookUp(name, scopedVars, path);
      return value === undefined ? match : write(value, name, bracesFormat ?? squareFormat ?? format);
    });
  }

  containsTemplate(target = ''): boolean {
    return [...target.matchAll(REFERENCE)].some(([, plain, square, , braces]) => {
      const name = plain ?? square ?? braces;
      return this.variables.value.some((variable) => variable.name === name);
    });
  }

  updateTimeRange(range: TimeRange): void {
    this.range = range;
  }

  private lookUp(name: string, scopedVars: ScopedVars, path: string | undefined): unknown {
    const scoped = scopedVars[name];
    if (scoped) {
      const value: unknown = scoped.value;
      return path ? (value as Record<string, unknown> | undefined)?.[path] : value;
    }
    if (name === '__from' || name === '__to') {
      return this.range?.[name === '__from' ? 'from' : 'to'].valueOf();
    }
    return this.variables.value.find((variable) => variable.name === name)?.value;
  }

  /** Changes the query of the variable `name`. */
  changeQuery(name: string, query: DataQuery): void {
    this.update(name, { query });
  }

  private update(name: string, change: Partial<PageVariable>): void {
    this.variables.next(
      this.variables.value.map((variable) => (variable.name === name ? { ...variable, ...change } : variable))
    );
  }
}

function write(value: unknown, name: string, format: Format): string {
  if (typeof format === 'function') {
    return String(format(value, { name, type: 'query', multi: false, includeAll: false }));
  }
  const values = (Array.isArray(value) ? value : [value]).map(String);
  switch (format) {
    case 'csv':
    case 'raw':
    case 'text':
      return values.join(',');
    case 'pipe':
      return values.join('|');
    case 'json':
      return JSON.stringify(value);
    case 'regex':
      return group(values.map((text) => text.replace(/[\\^$*+?.()|[\]{}/]/g, '\\$&')), '(', '|', ')');
    default:
      return group(values, '{', ',', '}');
  }
}

function group(values: string[], open: string, separator: string, close: string): string {
  return values.length === 1 ? values[0] : `${open}${values.join(separator)}${close}`;
}
