import { css } from '@emotion/css';
import { type GrafanaTheme2 } from '@grafana/data';
import { ConfigSection } from '@grafana/plugin-ui';
import { useStyles2 } from '@grafana/ui';
import React, { type JSX } from 'react';

import { Advanced } from './fields/config/Advanced';
import { Connection } from './fields/config/Connection';
import { Limits } from './fields/config/Limits';
import { Registry } from './fields/config/Registry';
import { Sasl } from './fields/config/Sasl';
import { protocolOf, Security } from './fields/config/Security';
import { type EditorProps, section } from './fields/config/settings';
import { Tls } from './fields/config/Tls';
import { Topics } from './fields/config/Topics';

/**
 * The page of a data source's settings.
 *
 * It writes nothing of its own accord, so opening the page leaves nothing to save; keys it has no control for stay as
 * they are.
 */
export function ConfigEditor(props: EditorProps) {
  const styles = useStyles2(getStyles);
  const settings = section(props);
  const protocol = protocolOf(settings.settings.securityProtocol);
  const sasl = protocol.startsWith('SASL_');
  const tls = protocol.endsWith('SSL');

  return (
    <div className={styles.page} data-testid="kafka-settings">
      <Section title="Connection">
        <Connection {...settings} />
      </Section>
      <Section title="Security" description="How the brokers are spoken with.">
        <Security {...settings} />
      </Section>
      {sasl && (
        <Section title="Authentication" description="Who logs in to the brokers.">
          <Sasl {...settings} />
        </Section>
      )}
      {tls && (
        <Section title="TLS" description="How the brokers prove who they are, and how this data source does.">
          <Tls {...settings} />
        </Section>
      )}
      <Section
        title="Schema registry"
        description="Where the schemas of Avro and Protobuf topics are kept, if there is such a place."
      >
        <Registry {...settings} options={props.options} />
      </Section>
      <Section title="Topics" description="Which topics this data source shows, whatever the user behind it may read.">
        <Topics {...settings} />
      </Section>
      <Section title="Limits" description="What is sent and shown at most. An empty field takes the default." folds>
        <Limits {...settings} />
      </Section>
      <Section title="Advanced" description="Waiting times and the log. An empty field takes the default." folds>
        <Advanced {...settings} />
      </Section>
    </div>
  );
}

interface SectionProps {
  title: string;
  description?: string;
  /** Is closed at first, and opens with a click. */
  folds?: boolean;
  children: JSX.Element;
}

function Section({ title, description, folds = false, children }: SectionProps) {
  return (
    <ConfigSection title={title} description={description} isCollapsible={folds} isInitiallyOpen={!folds}>
      {children}
    </ConfigSection>
  );
}

function getStyles(theme: GrafanaTheme2) {
  return {
    page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(4), maxWidth: 720 }),
  };
}
