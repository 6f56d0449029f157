import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { isWhole, seenOf } from './course.ts';
import { install } from './install.ts';
import { kinds } from './kinds/index.ts';
import { versionOf, type Kind, type Saw } from './kinds/kind.ts';
import { openPlace, type Place } from './place.ts';
import { Stage } from './stage.ts';
import { readRecord, writeRecord, type Entry, type Outcome } from './table.ts';

/* Installs the clients, drives each against a gateway and a scripted model, and writes what came of it to docs/clients.md. */

const { values } = parseArgs({
  options: { only: { type: 'string' }, json: { type: 'boolean', default: false }, keep: { type: 'string' } },
});
const only = values.only?.split(',');
const unknown = only?.filter((name) => !kinds.some((kind) => kind.name === name)) ?? [];
if (unknown.length > 0)
  throw new Error(`There is no client ${unknown.join()}; there are ${kinds.map(({ name }) => name).join()}.`);
const chosen = kinds.filter(({ name }) => only?.includes(name) ?? true);

const say = (line: string): void => void (values.json || process.stdout.write(`${line}\n`));

const place = await openPlace();
let stage: Stage | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.allSettled([stage?.close(), place.close()]).then(() => process.exit(130)));
}
const entries: Entry[] = [];
try {
  for (const [index, kind] of chosen.entries()) {
    const entry = await visit(kind, place);
    entries.push(entry);
    const part = `[${index + 1}/${chosen.length}]`;
    say(`${part} ${kind.title} ${entry.version}: token ${worded(entry.bearer)}; browser ${worded(entry.oauth)}`);
  }
} finally {
  await place.close();
}
const record = await readRecord();
await writeRecord(kinds, [...record.filter(({ name }) => entries.every((entry) => entry.name !== name)), ...entries]);
if (values.json) process.stdout.write(`${JSON.stringify(entries, undefined, 2)}\n`);
process.exitCode = entries.every(({ bearer, oauth }) => bearer.state === 'passed' && oauth.state !== 'failed') ? 0 : 1;

async function visit(kind: Kind, at: Place): Promise<Entry> {
  const base = { name: kind.name, version: versionOf(kind) };
  let installed: string;
  try {
    installed = await install(kind);
  } catch (error) {
    const failed: Outcome = { state: 'failed', why: wordOf(error) };
    return { ...base, bearer: failed, oauth: failed };
  }
  const bearer = await tryOut(at, installed, kind.bearer);
  const { oauth } = kind;
  if (typeof oauth === 'string') return { ...base, bearer, oauth: { state: 'none', why: oauth } };
  return { ...base, bearer, oauth: await tryOut(at, installed, oauth) };
}

async function tryOut(at: Place, installed: string, course: (stage: Stage) => Promise<Saw>): Promise<Outcome> {
  const opened = await Stage.open(at, installed);
  stage = opened;
  const begun = performance.now();
  try {
    const saw = await course(opened);
    if (values.keep !== undefined) await writeFile(values.keep, JSON.stringify(saw, undefined, 2));
    const seen = seenOf(saw, at.reference);
    const seconds = Math.round((performance.now() - begun) / 100) / 10;
    if (!seen.finished) return { state: 'failed', why: 'the course was not finished', seen };
    return { state: 'passed', seconds, seen, whole: isWhole(seen) };
  } catch (error) {
    return { state: 'failed', why: wordOf(error) };
  } finally {
    await opened.close();
  }
}

function worded(outcome: Outcome): string {
  if (outcome.state === 'failed') return `FAILED, ${outcome.why}`;
  if (outcome.state === 'none') return `not tried, ${outcome.why}`;
  const { rows, manual } = outcome.seen;
  return `ok in ${outcome.seconds} s, ${rows.whole} of ${rows.of} rows, manual ${manual ? 'whole' : 'CUT'}`;
}

function wordOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 300);
}
