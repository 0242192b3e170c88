import { css, cx } from '@emotion/css';
import { type GrafanaTheme2 } from '@grafana/data';
import { FieldValidationMessage, Icon, Tooltip, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';

interface Props {
  label: string;
  /** The id of the control, which makes the label its accessible name. */
  htmlFor?: string;
  /** Says in plain words what the control does. */
  help: ReactNode;
  /** What is wrong. */
  error?: string;
  /** What is worth knowing about the present choice. */
  note?: string;
  /** What was tried and is as it should be. */
  success?: string;
  /** Takes the room that is left in the row. */
  grow?: boolean;
  /** Takes a row of its own. */
  wide?: boolean;
  children: ReactNode;
}

/** One control of the query editor, under its label. */
export function QueryField({ label, htmlFor, help, error, note, success, grow = false, wide = false, children }: Props) {
  const styles = useStyles2(getStyles);
  return (
    <div className={cx(styles.field, grow && styles.grow, wide && styles.wide)}>
      <div className={styles.head}>
        <label className={styles.label} htmlFor={htmlFor}>
          {label}
        </label>
        <Tooltip content={<>{help}</>} placement="top" interactive>
          <span className={styles.help} tabIndex={0} role="img" aria-label="Help">
            <Icon name="info-circle" size="sm" />
          </span>
        </Tooltip>
      </div>
      {children}
      {note !== undefined && <div className={styles.note}>{note}</div>}
      {success !== undefined && (
        <div className={styles.success} role="status">
          <Icon name="check" size="sm" /> {success}
        </div>
      )}
      {error !== undefined && (
        <div className={styles.error}>
          <FieldValidationMessage>{error}</FieldValidationMessage>
        </div>
      )}
    </div>
  );
}

/** Takes no room of its own in the row, so that a long text does not push the other controls away. */
const beside = { width: 0, minWidth: 'max(100%, 260px)' };

function getStyles(theme: GrafanaTheme2) {
  return {
    field: css({ minWidth: 0, maxWidth: '100%' }),
    grow: css({ flex: '1 1 240px', maxWidth: 480 }),
    wide: css({ flex: '1 1 100%', maxWidth: 960 }),
    head: css({
      display: 'flex',
      alignItems: 'center',
      gap: theme.spacing(0.75),
      minHeight: theme.spacing(2),
      marginBottom: theme.spacing(0.5),
      whiteSpace: 'nowrap',
    }),
    label: css({
      margin: 0,
      fontSize: theme.typography.bodySmall.fontSize,
      fontWeight: theme.typography.fontWeightMedium,
      lineHeight: 1.25,
    }),
    help: css({ display: 'inline-flex', color: theme.colors.text.secondary, '&:hover': { color: theme.colors.text.primary } }),
    note: css({
      ...theme.typography.bodySmall,
      ...beside,
      color: theme.colors.text.secondary,
      marginTop: theme.spacing(0.5),
    }),
    success: css({ ...theme.typography.bodySmall, ...beside, color: theme.colors.success.text, marginTop: theme.spacing(0.5) }),
    error: css({ ...beside, overflowWrap: 'anywhere' }),
  };
}
