export type { AlertInput, AlertNotice, AlertRequest, Warn } from './alerts.ts';
export {
  alertLabelsSchema,
  alertNotice,
  alertTime,
  environmentLabels,
  fingerprintOf,
  firstLabel,
  severityOf,
  untitledAlert,
} from './alert-notice.ts';
export {
  bringsSecret,
  isSigned,
  mostAlerts,
  readAlertBody,
  readAlerts,
  requestHeader,
  wrongAlert,
} from './alert-proof.ts';
export type { AlertPath } from './alert-proof.ts';
