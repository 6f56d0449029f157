export type { AlertInput, AlertNotice, AlertRequest } from './alerts.ts';
export {
  alertLabelsSchema,
  alertNotice,
  alertTime,
  environmentLabels,
  fingerprintOf,
  firstLabel,
  severityOf,
} from './alert-notice.ts';
export { bringsSecret, isSigned, readAlertBody, readAlerts, requestHeader } from './alert-proof.ts';
