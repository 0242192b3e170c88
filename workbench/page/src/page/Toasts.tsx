import { css } from '@emotion/css';
import { AppEvents, GrafanaTheme2 } from '@grafana/data';
import { getAppEvents } from '@grafana/runtime';
import { Alert, AlertVariant, useStyles2 } from '@grafana/ui';
import React, { useEffect, useState } from 'react';

const SHOWN_MS = 6_000;

interface Toast {
  id: number;
  severity: AlertVariant;
  text: string;
}

let ids = 0;

/** Shows the application events that Grafana shows as notifications in the corner. */
export function Toasts() {
  const styles = useStyles2(getStyles);
  const [toasts, setToasts] = useState<Toast[]>([]);
  useEffect(() => {
    const drop = (id: number) => setToasts((all) => all.filter((toast) => toast.id !== id));
    const show = (severity: AlertVariant) => (payload: unknown[]) => {
      const id = ids++;
      setToasts((all) => [...all, { id, severity, text: payload.map(String).join(': ') }]);
      setTimeout(() => drop(id), SHOWN_MS);
    };
    const handlers = [
      [AppEvents.alertSuccess, show('success')],
      [AppEvents.alertWarning, show('warning')],
      [AppEvents.alertError, show('error')],
    ] as const;
    const events = getAppEvents();
    const subscriptions = handlers.map(([event, handler]) =>
      events.getStream({ type: event.name } as never).subscribe((message) => handler(message.payload as unknown[]))
    );
    return () => subscriptions.forEach((subscription) => subscription.unsubscribe());
  }, []);
  return (
    <div className={styles.corner}>
      {toasts.map(({ id, severity, text }) => (
        <Alert key={id} severity={severity} title={text} elevated />
      ))}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  corner: css({ position: 'fixed', top: 60, right: theme.spacing(2), width: 400, zIndex: theme.zIndex.portal }),
});
