import { SightlineError } from '../../../src/contract/core/index.ts';
import { severities } from '../../../src/contract/storage/index.ts';
import type { AlertInput, AlertNotice } from '../../../src/contract/alerts/index.ts';

/** The notices in a body; none when it is refused as it may be. Throws what the input must not. */
export function noticesOf(input: Pick<AlertInput, 'normalize'>, body: unknown): readonly AlertNotice[] {
  try {
    return input.normalize(body, (warning) => {
      if (warning.length > 500) throw new Error('a warning is long');
    });
  } catch (error) {
    if (error instanceof SightlineError && error.code === 'invalid_argument' && error.message.length <= 500) return [];
    throw error;
  }
}

/** Which of a notice's promises are broken. */
export function noticeFaults(notice: AlertNotice): readonly string[] {
  const faults: string[] = [];
  const hold = (fault: string, holds: boolean) => {
    if (!holds) faults.push(fault);
  };
  const { startsAt, endsAt, labels, description = 'x', environment = 'x', group = 'x' } = notice;
  hold('fingerprint', isLine(notice.fingerprint, 200));
  hold('group', isLine(group, 200));
  hold('title', isLine(notice.title, 300));
  hold('environment', isLine(environment, 200));
  hold('description', isLine(description.replaceAll(/[\n\t]/g, ' '), 5_000));
  hold('status', ['firing', 'acknowledged', 'resolved'].includes(notice.status));
  hold('severity', severities.includes(notice.severity));
  hold('services', notice.services.length <= 20 && notice.services.every((service) => isLine(service, 200)));
  hold('labels', Object.keys(labels).length <= 64 && Object.getPrototypeOf(labels) === Object.prototype);
  for (const [name, value] of Object.entries(labels)) {
    hold('label', isLine(name, 100) && name !== '__proto__' && (value === '' || isLine(value, 500)));
  }
  hold('url', notice.url === undefined || (/^https?:\/\//.test(notice.url) && isLine(notice.url, 2_000)));
  hold('startsAt', startsAt.getTime() > Date.UTC(2000, 0) && startsAt.getTime() < Date.UTC(2100, 0));
  hold('endsAt', endsAt === undefined || (endsAt >= startsAt && endsAt.getTime() < Date.UTC(2100, 0)));
  return faults;
}

function isLine(text: unknown, longest: number): boolean {
  return (
    typeof text === 'string' &&
    text !== '' &&
    text.length <= longest &&
    text.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(text)
  );
}
