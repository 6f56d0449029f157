import { environmentLabels, firstLabel } from '../../contract/alerts/index.ts';
import type { AlertNotice } from '../../contract/alerts/index.ts';

/** In the order of how surely they name what telemetry calls a service. A scrape job or a deployment is a guess. */
const serviceLabels = [
  'service.name',
  'service_name',
  'service',
  'app.kubernetes.io/name',
  'app_kubernetes_io_name',
  'app',
  'deployment',
  'job',
] as const;

/** The notice with the service and environment that its labels name, where it does not name them itself. */
export function named(notice: AlertNotice): AlertNotice {
  const service = firstLabel(notice.labels, serviceLabels);
  const environment = notice.environment ?? firstLabel(notice.labels, [...environmentLabels, 'namespace']);
  return {
    ...notice,
    services: notice.services.length > 0 || service === undefined ? notice.services : [service],
    ...(environment !== undefined && { environment }),
  };
}
