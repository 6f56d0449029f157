import * as runner from '@jest/globals';
import { isolationContract, type HostileStatement, type IsolationTargets } from '../../test/contract/isolation.ts';
import { withEngine } from '../../test/support/clickhouse/with-engine.ts';
import { hostileStatements } from './support/attacks.ts';
import { warehouseByAttribute, warehouseWithout } from './support/layered.ts';

/**
 * What the server shows of a table that may be read, whatever its policies say: the primary keys and the counts of all rows.
 * The gate alone is before these; the probe names them.
 */
const gateAlone = /\bmergeTreeIndex\(|\bsystem\.(?:tables|parts)\b|\binformation_schema\.tables\b/i;

function statements({ victim }: IsolationTargets): readonly HostileStatement[] {
  const all = hostileStatements({ victim, table: 'sightline.sightline_spans', file: '/etc/hostname' });
  return all.map((statement) => (gateAlone.test(statement.sql) ? gated(statement) : statement));
}

function gated({ sql, expect }: HostileStatement): HostileStatement {
  return { sql, expect, gateOnly: true };
}

withEngine(() => {
  isolationContract(runner, () => warehouseWithout(), {
    statements,
    layers: [
      { without: "the server's row policies", make: () => warehouseWithout('policies') },
      { without: 'the row policies, where an attribute names the tenant', make: warehouseByAttribute },
      { without: 'the predicate beneath each table', make: () => warehouseWithout('predicate') },
      { without: 'the gate and the predicate', isGate: true, make: () => warehouseWithout('gate') },
    ],
  });
});
