import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

const read = z.looseObject({
  document: z.object({ markdown: z.string() }),
  investigation: z.looseObject({
    steps: z.array(z.object({ evidence_id: z.string(), question: z.string(), sql: z.string().optional() })),
  }),
});
const chats = z.object({ chats: z.array(z.object({ id: z.string() })) });
const answered = z.object({ chat: z.object({ status: z.string() }) });

const questions = [
  'only payment',
  'Compare with the first 20 minutes.',
  'all services',
  'Why does checkout fail in the last 20 minutes?',
  'Why is cart slow in the last 40 minutes?',
];

/** What `npm start` makes, asked on and on. */
describe('the incident of a first start', () => {
  let directory = '';
  let gateway: RunningGateway;
  let token = '';

  beforeAll(async () => {
    directory = await temporaryDirectory();
    await writeFile(join(directory, 'sightline.config.json'), JSON.stringify({ limits: { requestsPerMinute: 6_000 } }));
    gateway = await startGateway(directory, { args: [] });
    token = await exchange(gateway.url, await createKey(directory, 'default'));
    await settled();
  }, 120_000);

  afterAll(async () => {
    await gateway?.stop();
    await removeDirectory(directory);
  });

  const call = (name: string, args: Record<string, unknown>) => callTool(gateway.url, token, name, args);

  async function settled(): Promise<void> {
    for (let attempt = 0; attempt < 120; attempt += 1) {
      await delay(250);
      const list = chats.safeParse((await call('list_chats', {})).structured).data?.chats ?? [];
      const states = await Promise.all(
        list.map(async ({ id }) => {
          const { structured } = await call('read_chat', { chat_id: id, wait_seconds: 1, limit: 1 });
          return answered.safeParse(structured).data?.chat.status;
        }),
      );
      if (states.length > 0 && states.every((status) => status === 'completed')) return;
    }
    throw new Error('the chats came to no end');
  }

  async function look() {
    const { structured, text } = await call('read_incident', { incident_id: 'INC-1' });
    const size = encode(JSON.stringify(structured)).length;
    return { ...read.parse(structured), size, tokens: Math.max(size, encode(text).length) };
  }

  function expectReadable({ document: { markdown }, tokens }: Awaited<ReturnType<typeof look>>): void {
    expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(6_000);
    expect(tokens).toBeLessThanOrEqual(4_000);
    expect(markdown).toMatch(/## Next steps\n\n- /);
    expect(markdown).not.toContain('```sql');
    const timeline = /## Timeline\n\n((?:- .*\n?)+)/.exec(markdown)?.[1]?.trim().split('\n') ?? [];
    const times = timeline.map((line) => line.slice(0, 18));
    expect(times).toEqual(times.toSorted());
  }

  it('is short and tells what to do next, after five more questions and a person who edits it, too', async () => {
    const first = await look();
    expectReadable(first);
    const edited = join(directory, 'edited.md');
    for (const [at, message] of questions.entries()) {
      if (at === 2) {
        const ours = `We called Ann. ${'She looks into it. '.repeat(40)}[${first.investigation.steps[0]?.evidence_id}]`;
        await writeFile(edited, (await look()).document.markdown.replace(/(## Summary\n\n).*/, `$1${ours}`));
        expect((await sightline(directory, ['incident', 'document', 'INC-1', '--write', edited])).code).toBe(0);
      }
      const begun = await call('start_chat', { message, incident_id: 'INC-1' });
      expect(begun.isError).toBe(false);
      await settled();
      const after = await look();
      expectReadable(after);
      if (at >= 2) expect(after.document.markdown).toContain('We called Ann.');
    }
    // Each evidence id that the document shows is one step, whichever investigation took it.
    const { document } = await look();
    const cited = [...new Set(document.markdown.match(/\bE\d+\b/g))];
    expect(cited.length).toBeGreaterThan(3);
    for (const [, id = '', question = ''] of document.markdown.matchAll(/^- \*\*(E\d+)\*\* ([^?]*\?)/gm)) {
      const { structured } = await call('read_incident', { incident_id: 'INC-1', evidence_id: id });
      const { steps } = z.object({ investigation: read.shape.investigation }).parse(structured).investigation;
      expect(steps).toMatchObject([{ evidence_id: id, question: expect.stringContaining(question) }]);
    }
    const [oldest] = first.investigation.steps;
    const { structured } = await call('read_incident', { incident_id: 'INC-1', evidence_id: oldest?.evidence_id });
    expect(JSON.stringify(structured)).toContain(oldest?.question);
  }, 240_000);
});
