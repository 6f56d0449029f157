import type { Moment } from '../ledger.ts';
import { recoverySeconds } from '../speed.ts';
import type { Run, Verdict } from './verdict.ts';

/** What a `kill -9` takes of the audit (docs/operating.md): the last moment, or what waits while storage is held up. */
const lastMomentMs = 1_000;
/** A record waits for the storage as these do. */
const writes: ReadonlySet<string> = new Set(['start_chat', 'send_chat_reply']);
/** How long after an outage records may still wait. */
const graceMs = recoverySeconds * 1_000;

/** Every token given out and every call answered is in the audit, once, but for those of the moment before a kill -9. */
export async function auditVerdicts({ stage, ledger, traffic, outages, clientId }: Run): Promise<readonly Verdict[]> {
  const { store } = stage.database;
  const kills = outages.all
    .filter(({ what }) => what.startsWith('kill'))
    .map(({ of, from, to }) => {
      const momentMs = lastMomentMs + traffic.longest(writes, from - graceMs, from);
      const heldUp = outages.all.filter(
        (other) => other.of !== of && other.from < from && other.to + graceMs >= from - momentMs,
      );
      // What is read of its answers before it runs again was written before it was killed.
      return { of, from: Math.min(from, ...heldUp.map((other) => other.from)) - momentMs, to };
    });
  const excusable = ({ at, replica }: Moment): boolean =>
    kills.some(({ of, from, to }) => of === replica && at >= from && at <= to);
  const told = async (
    what: string,
    event: string,
    subject: string,
    sent: number,
    done: readonly Moment[],
  ): Promise<Verdict> => {
    const rows = await store.admin(
      `SELECT request_id FROM audit WHERE event = '${event}' AND subject = '${subject}' AND outcome = 'ok'`,
    );
    const ids = new Set(rows.map(([id]) => String(id)));
    const least = done.filter((moment) => !excusable(moment)).length;
    const counted = `${rows.length} records of ${done.length} acknowledged, ${sent} sent`;
    return {
      promise: `audit: ${what} all recorded, once`,
      looked: counted,
      evidence: [
        ...(ids.size < least ? [`${least - ids.size} records are lost: ${counted}`] : []),
        ...(ids.size > sent ? [`there are more records than requests: ${counted}`] : []),
        ...(rows.length > ids.size ? [`${rows.length - ids.size} records are there twice`] : []),
      ],
    };
  };
  const { tokens, toolCalls } = ledger;
  return [
    await told('tokens', 'token.issued', clientId, tokens.sent, tokens.given),
    await told('tool calls', 'tool.call', clientId, toolCalls.sent, toolCalls.answered),
  ];
}
