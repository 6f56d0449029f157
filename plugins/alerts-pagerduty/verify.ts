import type { AlertRequest } from '../../src/contract/alerts/index.ts';
import { bringsSecret, isSigned, requestHeader } from '../../src/contract/alerts/index.ts';

/**
 * PagerDuty signs with a secret that it makes itself, and sends one signature for each while they are rotated. The source's
 * secret is that one, or one of ours in a custom header: PagerDuty's signature then says nothing that can be checked.
 */
export function verify(request: AlertRequest, secret: string): boolean {
  const signatures = (requestHeader(request, 'x-pagerduty-signature') ?? '')
    .split(',')
    .flatMap((part) => /^v1=(\S+)$/.exec(part.trim())?.[1] ?? []);
  return isSigned([request.body], signatures, secret) || bringsSecret(request, secret);
}
