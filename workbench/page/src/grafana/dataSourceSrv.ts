import {
  DataSourceApi,
  DataSourceInstanceSettings,
  DataSourceJsonData,
  DataSourcePlugin,
  DataSourcePluginMeta,
  DataSourceSettings,
} from '@grafana/data';
import { DataQuery, DataSourceRef } from '@grafana/schema';
import { DataSourceSrv, getBackendSrv } from '@grafana/runtime';
import { BehaviorSubject } from 'rxjs';
import { shareSettings } from '#platform';
import { loadAmdModule } from './amd';
import { SHARED_MODULES } from './shared';

type Api = DataSourceApi<DataQuery, DataSourceJsonData>;
export type KafkaPlugin = DataSourcePlugin<Api>;
type Reference = DataSourceRef | string | null;

/** The names that module.js asked its loader for, in order: tests read them from `window.workbench`. */
export const requestedModules: string[] = [];

/** The page's one data source: its plugin, its settings, and the instance that is made anew when they change. */
export class PageDataSourceSrv implements DataSourceSrv {
  /** Emits the new instance after each reload, so that panels ask it again. */
  readonly instance: BehaviorSubject<Api>;

  private constructor(
    readonly plugin: KafkaPlugin,
    private settings: DataSourceInstanceSettings
  ) {
    this.instance = new BehaviorSubject(this.instantiate());
  }

  /** Loads the plugin of the first data source that the host's frontend settings list. */
  static async load(): Promise<PageDataSourceSrv> {
    const settings = await fetchInstanceSettings();
    const exports = await loadAmdModule(moduleUrl(settings.meta), SHARED_MODULES, requestedModules);
    const plugin = exports.plugin as KafkaPlugin | undefined;
    if (!plugin?.DataSourceClass) {
      throw new Error(`module.js of ${settings.type} exports no "plugin" with a data source class`);
    }
    plugin.meta = settings.meta;
    return new PageDataSourceSrv(plugin, settings);
  }

  get(): Promise<Api> {
    return Promise.resolve(this.instance.value);
  }

  getInstanceSettings(ref?: Reference): DataSourceInstanceSettings | undefined {
    const wanted = typeof ref === 'string' ? ref : ref?.uid;
    const { uid, name } = this.settings;
    return wanted === undefined || wanted === uid || wanted === name || wanted === 'default'
      ? this.settings
      : undefined;
  }

  getList(): DataSourceInstanceSettings[] {
    return [this.settings];
  }

  async reload(): Promise<void> {
    this.settings = await fetchInstanceSettings();
    this.instance.next(this.instantiate());
  }

  registerRuntimeDataSource(): void {
    throw new Error('the workbench page has no runtime data sources');
  }

  /** Reads what the data source page edits: the settings with the names of the secrets that are set. */
  readSettings(): Promise<DataSourceSettings> {
    return getBackendSrv().get(`/api/datasources/uid/${this.settings.uid}`);
  }

  /** Saves the edited settings and makes a new instance, as Grafana does. */
  async saveSettings(settings: DataSourceSettings): Promise<DataSourceSettings> {
    await getBackendSrv().put(`/api/datasources/uid/${this.settings.uid}`, settings);
    await this.reload();
    return this.readSettings();
  }

  private instantiate(): Api {
    const api = new this.plugin.DataSourceClass(this.settings as never);
    api.meta = this.settings.meta;
    api.components = this.plugin.components;
    return api;
  }
}

interface FrontendSettings {
  datasources: Record<string, DataSourceInstanceSettings>;
}

async function fetchInstanceSettings(): Promise<DataSourceInstanceSettings> {
  const { datasources } = await getBackendSrv().get<FrontendSettings>('/api/frontend/settings');
  const settings = Object.values(datasources).at(0);
  if (!settings) {
    throw new Error('the host has no data source');
  }
  shareSettings(settings);
  return settings;
}

function moduleUrl(meta: DataSourcePluginMeta): string {
  return `/${meta.module.replace(/^\//, '').replace(/(\.js)?$/, '.js')}`;
}
