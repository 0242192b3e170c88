import { CoreApp, RawTimeRange } from '@grafana/data';
import { DataQuery } from '@grafana/schema';
import { BehaviorSubject, combineLatest, distinctUntilChanged, map, skip, Subscription } from 'rxjs';
import { PageDataSourceSrv } from './grafana/dataSourceSrv';
import { PageTemplateSrv } from './grafana/templateSrv';
import { PanelType } from './panels/types';
import { resolveRange } from './query/range';
import { QueryRunner } from './query/runner';

/** A panel: its title, kind and queries. `targets` changes with each edit; the queries run when they are told to. */
export class Panel {
  readonly targets: BehaviorSubject<DataQuery[]>;
  readonly type: BehaviorSubject<PanelType>;
  readonly runner = new QueryRunner();
  /** In pixels; 0 until the panel is first laid out. */
  private width = 0;

  constructor(
    readonly id: number,
    readonly title: string,
    type: PanelType,
    targets: DataQuery[],
    private readonly dashboard: Dashboard
  ) {
    this.targets = new BehaviorSubject(targets);
    this.type = new BehaviorSubject(type);
  }

  /** Tells the panel its width; the first time is when its queries run by themselves. */
  layOut(width: number): void {
    const first = this.width === 0 && width > 0;
    this.width = Math.round(width);
    if (first) {
      this.run();
    }
  }

  run(): void {
    if (this.width === 0) {
      return;
    }
    this.runner.run(this.dashboard.dataSources.instance.value, this.targets.value, {
      panelId: this.id,
      panelTitle: this.title,
      panelPluginId: this.type.value,
      range: this.dashboard.range.value,
      maxDataPoints: this.width,
      timezone: 'browser',
    });
  }

  /** Leaves the page: the stream ends, and coming back asks anew. */
  leave(): void {
    this.width = 0;
    this.runner.cancel();
  }

  /** Draws with another visualization; the queries are told of it, so they run again. */
  changeType(type: PanelType): void {
    this.type.next(type);
    this.run();
  }

  changeTarget(index: number, target: DataQuery): void {
    this.targets.next(this.targets.value.map((old, at) => (at === index ? target : old)));
  }

  addTarget(target?: DataQuery): void {
    const refId = nextRefId(this.targets.value);
    this.targets.next([...this.targets.value, { ...(target ?? this.dashboard.defaultQuery()), refId }]);
  }

  removeTarget(index: number): void {
    this.targets.next(this.targets.value.filter((_, at) => at !== index));
    this.run();
  }
}

/** The page's dashboard: its panels, its time range, and what makes all panels ask anew. */
export class Dashboard {
  readonly panels = new BehaviorSubject<Panel[]>([]);
  readonly range = new BehaviorSubject<RawTimeRange>({ from: 'now-5m', to: 'now' });
  private readonly inner = new Subscription();
  private ids = 1;

  constructor(
    readonly dataSources: PageDataSourceSrv,
    readonly templates: PageTemplateSrv
  ) {
    const values = templates.variables.pipe(
      map((variables) => variables.map(({ name, value }) => `${name}=${value}`).join('&')),
      distinctUntilChanged()
    );
    this.inner.add(
      combineLatest([this.range, values, dataSources.instance])
        .pipe(skip(1))
        .subscribe(() => this.refresh())
    );
  }

  addPanel(type: PanelType, title: string, query?: Partial<DataQuery> & Record<string, unknown>): Panel {
    const target = { ...this.defaultQuery(), ...query, refId: 'A' };
    const panel = new Panel(this.ids++, title, type, [target], this);
    this.panels.next([...this.panels.value, panel]);
    return panel;
  }

  removePanel(panel: Panel): void {
    panel.leave();
    this.panels.next(this.panels.value.filter((other) => other !== panel));
  }

  refresh(): void {
    this.templates.updateTimeRange(resolveRange(this.range.value));
    this.panels.value.forEach((panel) => panel.run());
  }

  /** What the data source makes of a new query. */
  defaultQuery(): DataQuery {
    return { refId: 'A', ...this.dataSources.instance.value.getDefaultQuery?.(CoreApp.Dashboard) };
  }
}

function nextRefId(targets: DataQuery[]): string {
  const taken = new Set(targets.map((target) => target.refId));
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return letters.find((letter) => !taken.has(letter)) ?? `Q${targets.length}`;
}
