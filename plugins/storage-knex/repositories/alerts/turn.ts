import type { AlertNotice } from '../../../../src/contract/alerts/index.ts';
import type { KeptAlert } from './alert-rows.ts';

/** What a notice says about an alert: that it begins to fire, goes on, ended, or nothing that is not known already. */
export type Turn = 'begins' | 'goes on' | 'ended' | 'nothing';

/**
 * Senders repeat themselves, and what they send may overtake. A notice belongs to a firing by its start, since a sender says the
 * same start of the same firing each time; so does one that has no other start to give than the time it was sent.
 * @param closedAt when the incident of an alert that is not resolved was closed.
 */
export function turnOf(known: KeptAlert | undefined, notice: AlertNotice, closedAt: Date | undefined): Turn {
  if (notice.status === 'resolved') {
    if (known === undefined) return 'ended';
    if (known.status === 'resolved') return beginsAfter(known, notice) ? 'ended' : 'nothing';
    const end = notice.endsAt ?? notice.startsAt;
    return end < known.startsAt && notice.startsAt < known.startsAt ? 'nothing' : 'ended';
  }
  if (known === undefined) return 'begins';
  if (known.status === 'resolved') return beginsAfter(known, notice) ? 'begins' : 'nothing';
  if (closedAt === undefined) return 'goes on';
  // Its end may have been lost. What began after the incident was closed is another firing; what began before was closed with it.
  return notice.startsAt > closedAt ? 'begins' : 'nothing';
}

function beginsAfter({ startsAt, endsAt = startsAt, updatedAt }: KeptAlert, notice: AlertNotice): boolean {
  // By the sender's clock or by ours, whichever is earlier: one of them may be ahead.
  const ended = Math.min(endsAt.getTime(), updatedAt.getTime());
  return notice.startsAt > startsAt && notice.startsAt.getTime() >= ended;
}
