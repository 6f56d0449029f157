import { z } from 'zod';
import type { Cursor, ScanEstimate } from '../../src/contract/telemetry/index.ts';
import { ask } from './catalog.ts';
import type { Connections } from './connections.ts';

const plan = z.object({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  Schema: z.string().optional(),
  'Plan Rows': z.number(),
  get Plans() {
    return z.array(plan).optional();
  },
});
type Plan = z.output<typeof plan>;

/** One row of one cell, the plans; parsed twice where the server sends its JSON as text. */
const answer = z.tuple([z.tuple([z.array(z.object({ Plan: plan })).min(1)])]);

/**
 * What the scans of a plan read: all of a table that is scanned from end to end, else what as many rows of it take.
 * Indexes are not counted.
 */
export async function estimateOf(cursor: Cursor, connections: Connections, signal: AbortSignal): Promise<ScanEstimate> {
  let json = '';
  for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) json += Buffer.from(chunk.json).toString();
  await cursor.close();
  const [[[{ Plan: root } = { Plan: undefined }]]] = answer.parse(JSON.parse(`[${json}]`));
  const scans = root === undefined ? [] : scansOf(root);
  const sizes = await sizesOf(scans, connections, signal);
  let bytes = 0;
  let rows = 0;
  for (const scan of scans) {
    const { size: whole, tuples } = sizes.get(keyOf(scan)) ?? { size: 0, tuples: 0 };
    const part = tuples > 0 ? (scan['Plan Rows'] / tuples) * whole : whole;
    const read = scan['Node Type'] === 'Seq Scan' ? whole : Math.min(whole, part);
    bytes += read;
    rows += scan['Node Type'] === 'Seq Scan' ? tuples : scan['Plan Rows'];
  }
  return { bytes: Math.ceil(bytes), rows: Math.ceil(rows) };
}

function scansOf(node: Plan): readonly Plan[] {
  const below = (node.Plans ?? []).flatMap((child) => scansOf(child));
  return node['Relation Name'] === undefined ? below : [node, ...below];
}

function keyOf(scan: Plan): string {
  return JSON.stringify([scan.Schema, scan['Relation Name']]);
}

async function sizesOf(scans: readonly Plan[], connections: Connections, signal: AbortSignal) {
  const sizes = new Map<string, { size: number; tuples: number }>();
  if (scans.length === 0) return sizes;
  const text = `
    SELECT n.nspname::text, c.relname::text, pg_catalog.pg_relation_size(c.oid)::text, greatest(c.reltuples, 0)::text
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE (n.nspname, c.relname) IN (
      SELECT s ->> 0, s ->> 1 FROM pg_catalog.jsonb_array_elements($1::jsonb) AS s)`;
  const names = scans.map((scan) => [scan.Schema, scan['Relation Name']]);
  for (const [schema, name, size, tuples] of await ask(connections, text, [JSON.stringify(names)], signal)) {
    sizes.set(JSON.stringify([schema, name]), { size: Number(size), tuples: Number(tuples) });
  }
  return sizes;
}
