import { environmentLabels, firstLabel, type AlertNotice } from '../../contract/alerts/index.ts';

/** OpenTelemetry's and Kubernetes' names for what telemetry calls a service, the surest first. */
const serviceLabels = 'service.name service_name service app.kubernetes.io/name app_kubernetes_io_name app'.split(' ');

/** Kubernetes' objects that run it, as kube-state-metrics names them. */
const workloadLabels = 'deployment statefulset daemonset cronjob job_name'.split(' ');

/** What measures others and scrapes as a `service` or `job` of its own: an alert from it is about something else. */
const exporters =
  /(?:^|[-_./])(?:kube-state-metrics|kubelet|c-?advisor|blackbox[-_\w]*|snmp|pushgateway|[a-z]+[-_]?exporter)$/i;

/** What follows the workload in the name of a pod: of a deployment, of a stateful or daemon set, of a job. */
const podEndings = [/-(?=[a-z]*\d)[a-z\d]{6,10}-[a-z\d]{5}$/, /-[bcdf-hj-np-tv-xz2456789]{5}$/, /-\d{1,4}$/] as const;
/** The time in the name of a cron job's job, in minutes or seconds. */
const jobTime = /-\d{7,11}$/;

const heartbeats = new Set(['Watchdog', 'DeadMansSwitch', 'InfoInhibitor']);

/** Fires all the time, so that its silence is noticed elsewhere, or only inhibits others: it is no news. */
export function isHeartbeat({ status, labels }: AlertNotice): boolean {
  if (status === 'resolved') return false;
  return heartbeats.has(labels['alertname'] ?? '') || /^\s*none\s*$/i.test(labels['severity'] ?? '');
}

/** The notice with the service and environment that its labels name, where it does not name them itself. */
export function named(notice: AlertNotice): AlertNotice {
  const service = serviceOf(notice.labels);
  const environment = notice.environment ?? firstLabel(notice.labels, [...environmentLabels, 'namespace']);
  return {
    ...notice,
    services: notice.services.length > 0 || service === undefined ? notice.services : [service],
    ...(environment !== undefined && { environment }),
  };
}

/** The first name that is no exporter's. A container may be a sidecar, so that its pod comes first; a scrape job is a guess. */
function serviceOf(labels: AlertNotice['labels']): string | undefined {
  const { pod = '', container = '', job = '' } = labels;
  const ending = podEndings.find((each) => each.test(pod));
  const names = [
    ...serviceLabels.map((name) => labels[name] ?? ''),
    ...workloadLabels.map((name) => (labels[name] ?? '').replace(jobTime, '')),
    // An exporter's own pod stands beside what it exports.
    ...(exporters.test(container) ? [] : [ending ? pod.replace(ending, '').replace(jobTime, '') : '', container, pod]),
    job,
  ];
  return names.find((name) => name.trim() !== '' && !exporters.test(name));
}
