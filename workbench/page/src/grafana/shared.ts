import * as emotionCss from '@emotion/css';
import * as emotionReact from '@emotion/react';
import * as grafanaData from '@grafana/data';
import * as grafanaRuntime from '@grafana/runtime';
import * as grafanaUi from '@grafana/ui';
import lodash from 'lodash';
import moment from 'moment';
import React from 'react';
import ReactDOM from 'react-dom';
import * as rxjs from 'rxjs';
import * as rxjsOperators from 'rxjs/operators';

/**
 * What every Grafana from 10.2 on shares with its plugins. `react/jsx-runtime` is left out on purpose: only Grafana
 * 11.6.11, 12.0.10, 12.1.7, 12.2.5, 12.3 and later have it.
 */
export const SHARED_MODULES: Record<string, unknown> = {
  '@emotion/css': emotionCss,
  '@emotion/react': emotionReact,
  '@grafana/data': grafanaData,
  '@grafana/runtime': grafanaRuntime,
  '@grafana/ui': grafanaUi,
  lodash,
  moment,
  react: React,
  'react-dom': ReactDOM,
  rxjs,
  'rxjs/operators': rxjsOperators,
};
