import { definePage } from '../../page.ts';
import { alertSourcePage, removeAlertSourcePage, rotateAlertSourcePage } from './alert-source.ts';
import { alertsPage } from './alerts.ts';
import { applicationsPage, revokeApplicationPage } from './applications.ts';
import { keyPage, retirePage, revokePage, rotatePage } from './key.ts';
import { keysPage } from './keys.ts';
import { endTokenPage, rotateTokenPage, telemetryPage } from './telemetry.ts';

const integrationsPage = definePage({
  path: '/integrations',
  access: 'member',
  get: ({ role }) => ({ redirect: role === 'admin' ? '/integrations/api-keys' : '/integrations/telemetry' }),
});

export const integrationPages = [
  integrationsPage,
  keysPage,
  keyPage,
  rotatePage,
  retirePage,
  revokePage,
  telemetryPage,
  rotateTokenPage,
  endTokenPage,
  alertsPage,
  alertSourcePage,
  rotateAlertSourcePage,
  removeAlertSourcePage,
  applicationsPage,
  revokeApplicationPage,
] as const;
