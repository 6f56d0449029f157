import type { AlertRequest } from '../../src/contract/alerts/index.ts';
import { bringsSecret, isSigned, requestHeader } from '../../src/contract/alerts/index.ts';

const replayWindowSeconds = 300;

/**
 * Alertmanager signs nothing: it brings the secret. Grafana does the same or signs, and what is signed must be signed rightly,
 * whatever else the request brings: the body, or `<seconds>:<body>` where it sends the time.
 */
export function verify(request: AlertRequest, secret: string, now: Date): boolean {
  const signature = requestHeader(request, 'x-grafana-alerting-signature');
  if (signature === undefined) return bringsSecret(request, secret);
  const timestamp = requestHeader(request, 'x-grafana-alerting-timestamp');
  if (timestamp === undefined) return isSigned([request.body], [signature], secret);
  return isRecent(timestamp, now) && isSigned([timestamp, ':', request.body], [signature], secret);
}

function isRecent(timestamp: string, now: Date): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now.getTime() / 1_000 - Number(timestamp)) <= replayWindowSeconds;
}
