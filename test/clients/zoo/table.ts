import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../../support/gateway.ts';
import type { Kind } from './kinds/kind.ts';

const seen = z.object({
  manual: z.boolean(),
  rows: z.object({ whole: z.number(), of: z.number() }),
  truncated: z.boolean(),
  resultId: z.boolean(),
  warnings: z.boolean(),
  finished: z.boolean(),
  answer: z.boolean(),
});
const outcome = z.discriminatedUnion('state', [
  z.object({ state: z.literal('passed'), seconds: z.number(), seen, whole: z.boolean() }),
  z.object({ state: z.literal('failed'), why: z.string(), seen: seen.optional() }),
  z.object({ state: z.literal('none'), why: z.string() }),
]);
const entry = z.object({ name: z.string(), version: z.string(), bearer: outcome, oauth: outcome });
export type Outcome = z.output<typeof outcome>;
/** What came of one client's visit. */
export type Entry = z.output<typeof entry>;

const recordFile = join(import.meta.dirname, 'record.json');
const page = join(root, 'docs/clients.md');
const [opening, closing] = ['<!-- clients: from here', '<!-- clients: to here -->'];

export async function readRecord(): Promise<readonly Entry[]> {
  const text = await readFile(recordFile, 'utf8').catch(() => '[]');
  return z.array(entry).parse(JSON.parse(text));
}

/** Keeps the record, and the page's table of it. */
export async function writeRecord(kinds: readonly Kind[], entries: readonly Entry[]): Promise<void> {
  const order = kinds.map(({ name }) => name);
  const sorted = entries.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  await writeFile(recordFile, `${JSON.stringify(sorted, undefined, 2)}\n`);
  await writeFile(page, withTable(await readFile(page, 'utf8'), tableOf(kinds, sorted)));
}

/** The page with this table between its marks. */
export function withTable(text: string, table: string): string {
  const [from, to] = [text.indexOf('\n', text.indexOf(opening)) + 1, text.indexOf(closing)];
  if (from === 0 || to < from) throw new Error('docs/clients.md has no place for the table');
  return `${text.slice(0, from)}\n${table}\n${text.slice(to)}`;
}

export function tableOf(kinds: readonly Kind[], entries: readonly Entry[]): string {
  const rows = entries.flatMap(({ name, version, bearer, oauth }) => {
    const kind = kinds.find((each) => each.name === name);
    return kind === undefined
      ? []
      : [[kind.title, version, stateOf(bearer), stateOf(oauth), sightOf(bearer), kind.limits]];
  });
  const head = ['client', 'version', 'token', 'browser', 'the model sees', 'known limits'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function stateOf(of: Outcome): string {
  if (of.state === 'passed') return 'yes';
  return of.state === 'none' ? `–: ${of.why}` : `**no**: ${of.why.replaceAll('|', '/')}`;
}

function sightOf(of: Outcome): string {
  if (of.state === 'none' || of.seen === undefined) return '–';
  const { rows, manual, truncated, resultId, warnings } = of.seen;
  const head = truncated && resultId && warnings ? 'the head' : 'not all of the head';
  const sight =
    rows.whole === rows.of && head === 'the head' ? `all ${rows.of} rows` : `${head}, ${rows.whole} of ${rows.of} rows`;
  return manual ? sight : `${sight}; the manual is cut`;
}
