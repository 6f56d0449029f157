import type { HostileStatement, IsolationTargets } from '../../../test/contract/index.ts';
import { dangerousCalls, hiddenCalls, placesOfASubquery } from './attacks-calls.ts';
import { admitted, oracles } from './attacks-oracles.ts';
import { notSelects, otherRelations, shadowing, spellings } from './attacks-statements.ts';

/** Statements that would harm the server, its sessions or the machine where no gate stands before it. */
const harmful =
  /pg_(?:terminate|cancel)_backend|pg_sleep|PROGRAM|pg_reload_conf|pg_rotate|pg_logical|lo_|advisory|SHUTDOWN/i;

/** What an attacker sends to PostgreSQL. */
export function attacks({ victim }: IsolationTargets): readonly HostileStatement[] {
  const refused = [
    ...notSelects(victim),
    ...otherRelations(victim),
    ...shadowing(),
    ...spellings(),
    ...dangerousCalls(victim),
    ...hiddenCalls(),
    ...placesOfASubquery(),
  ].map((sql): HostileStatement => {
    return harmful.test(sql) ? { sql, expect: 'refused', gateOnly: true } : { sql, expect: 'refused' };
  });
  return [...refused, ...oracles(), ...admitted()];
}
