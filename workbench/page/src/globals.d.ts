/** The Grafana that this build stands in for: `10` or `13`. */
declare const __GRAFANA__: string;
/** The release whose packages the build has: `13.2.3`. */
declare const __GRAFANA_VERSION__: string;
/** Where the build's icons and fonts are served, with a slash at its end. */
declare const __PUBLIC_PATH__: string;

declare module '*.css';

interface Window {
  grafanaBootData?: unknown;
  __grafana_public_path__?: string;
}

/** A file of Grafana 13's runtime that its package keeps to itself. */
declare module '#runtime-settings' {
    export function initDataSourceInstanceSettings(
    settings: Record<string, import('@grafana/data').DataSourceInstanceSettings>,
    defaultName: string
  ): void;
}
