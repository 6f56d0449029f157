import type { Claim } from '../../../src/contract/storage/index.ts';
import { code } from '../sql.ts';
import { placed, type Change, type Changes } from '../steps/changes.ts';
import type { Suspect } from '../suspects.ts';
import { claim } from './findings.ts';

/** What was deployed or turned: facts, which blame nothing. Those of the service that is blamed stand by themselves. */
export function changed(
  { before, during }: Changes,
  began: Date | undefined,
  suspect?: Pick<Suspect, 'service' | 'category'>,
): readonly Claim[] {
  const what = suspect?.category === 'errors' ? 'the failures began' : 'it began';
  const told = (changes: readonly Change[], lead = ''): readonly Claim[] => {
    const list = changes.slice(0, 3);
    if (list.length === 0) return [];
    const ids = new Set(list.flatMap(({ evidenceIds }) => evidenceIds));
    return [claim(`${lead}${list.map((one) => placed(one, began, what)).join('; ')}`, [...ids])];
  };
  const own = before.filter(({ service }) => service === suspect?.service);
  const others = before.filter(({ service }) => service !== suspect?.service);
  return [
    ...own.slice(0, 2).flatMap((change) => told([change])),
    ...told(others, 'Elsewhere: '),
    ...told(during, 'Around that time: '),
  ];
}

/** What came after the beginning did not bring it about. */
export function tooLate({ after }: Changes, began: Date | undefined): readonly string[] {
  return after
    .slice(0, 3)
    .map((change) => `As its cause: ${placed(change, began, 'it began')} [${change.evidenceIds.join(', ')}].`);
}

/** The latest change of the service that is blamed can be taken back. */
export function undo({ before }: Changes, service: string): readonly string[] {
  const change = before.find((one) => one.service === service && one.status !== 'failed');
  if (change === undefined) return [];
  const { kind, version, flag, url } = change;
  const see = url === '' ? '' : `: ${code(url, 200)}`;
  if (kind !== 'deploy') return [`Turn the flag ${code(flag, 100)} back, and see whether it ends${see}.`];
  const release = `${code(service, 60)}${version === '' ? '' : ` ${code(version, 60)}`}`;
  return [`Roll back ${release}, or compare it with the version before${see}.`];
}
