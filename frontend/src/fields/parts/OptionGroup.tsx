import { css } from '@emotion/css';
import { type GrafanaTheme2 } from '@grafana/data';
import { Icon, useStyles2 } from '@grafana/ui';
import React, { type ReactNode, useId, useState } from 'react';

interface Props {
  title: string;
  /** What is set inside, shown while the group is closed. */
  summary: string[];
  children: ReactNode;
}

/** Settings that most queries leave alone, behind one line that says which are set. */
export function OptionGroup({ title, summary, children }: Props) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.group}>
      <button type="button" className={styles.head} aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'angle-down' : 'angle-right'} />
        <span className={styles.title}>{title}</span>
        {!open && <span className={styles.summary}>{summary.join(' · ')}</span>}
      </button>
      {open && (
        <div id={id} className={styles.body}>
          {children}
        </div>
      )}
    </div>
  );
}

function getStyles(theme: GrafanaTheme2) {
  return {
    group: css({ width: '100%', minWidth: 0 }),
    head: css({
      display: 'flex',
      alignItems: 'center',
      gap: theme.spacing(0.75),
      maxWidth: '100%',
      padding: 0,
      border: 'none',
      background: 'none',
      color: theme.colors.text.primary,
      fontSize: theme.typography.bodySmall.fontSize,
    }),
    title: css({ fontWeight: theme.typography.fontWeightMedium }),
    summary: css({
      paddingLeft: theme.spacing(1),
      color: theme.colors.text.secondary,
      overflow: 'hidden',
      textOverflow: 'ellipsis',
      whiteSpace: 'nowrap',
    }),
    body: css({ display: 'flex', flexWrap: 'wrap', gap: theme.spacing(2), paddingTop: theme.spacing(1.5) }),
  };
}
