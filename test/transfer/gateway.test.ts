import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { callTool } from '../support/call.ts';
import {
  beginSightline,
  createKey,
  exchange,
  removeDirectory,
  sightline,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type Credentials,
} from '../support/gateway.ts';
import { rowsOf } from './support.ts';

/* A backup is made of a gateway that works, and what is restored from it works as well. */

const started = z.object({ chat_id: z.string() });
const listed = z.object({ incidents: z.array(z.object({ key: z.string() })) });
const keys = z.object({ keys: z.array(z.string()) });

describe('a backup under load', () => {
  let source: string;
  let target: string;
  let backup: string;
  let credentials: Credentials;
  let incidents: string;
  const acknowledgedBefore: string[] = [];

  const importIncidents = (directory: string) =>
    sightlineJson(directory, ['incident', 'import', incidents, '--org', 'acme'], keys);

  beforeAll(async () => {
    [source, target] = [await temporaryDirectory(), await temporaryDirectory()];
    backup = join(source, 'backup.jsonl.gz');
    incidents = join(source, 'incidents.json');
    await writeFile(
      incidents,
      JSON.stringify(
        Array.from({ length: 3 }, (_, index) => ({
          title: `Incident ${index}`,
          severity: 'high',
          started_at: '2026-03-01T00:00:00Z',
        })),
      ),
    );
    credentials = await createKey(source, 'acme');
    await importIncidents(source);
    const gateway = await startGateway(source);
    const token = await exchange(gateway.url, credentials);
    const acknowledged: string[] = [];
    const stop = new AbortController();
    const write = async (line: number): Promise<void> => {
      for (let turn = 0; !stop.signal.aborted; turn += 1) {
        const { structured, isError, text } = await callTool(gateway.url, token, 'start_chat', {
          message: `chat ${line}/${turn}`,
        });
        if (isError && /rate/i.test(text)) await sleep(50);
        else acknowledged.push(started.parse(structured).chat_id);
      }
    };
    const writing = Promise.all([0, 1, 2].map(write));
    const enough = async () => {
      while (acknowledged.length < 20) await sleep(10);
    };
    try {
      await Promise.race([enough(), writing]);
      acknowledgedBefore.push(...acknowledged);
      const { code, stderr } = await sightline(source, ['export', backup]);
      expect([code, stderr]).toEqual([0, '']);
    } finally {
      stop.abort();
      try {
        await writing;
      } finally {
        await gateway.kill();
      }
    }
    await copyFile(join(source, 'master.key'), join(target, 'master.key'));
  }, 120_000);
  afterAll(async () => {
    await removeDirectory(source);
    await removeDirectory(target);
  });

  it('has all that was acknowledged before it began, and nothing by half', async () => {
    const rows = (await rowsOf(backup)).map((line) => row.parse(JSON.parse(line)));
    const of = (table: string) => rows.filter(([name]) => name === table).map(([, , values]) => values);
    const chats = new Map(of('chats').map((chat) => [chat['id'], chat]));
    for (const id of acknowledgedBefore) expect(chats.has(id)).toBe(true);
    const messages = of('chat_messages');
    for (const [id, chat] of chats) {
      const own = messages.filter((message) => message['chat_id'] === id).map(({ seq }) => Number(seq));
      expect(own.toSorted((a, b) => a - b)).toEqual(Array.from({ length: Number(chat['last_seq']) }, (_, i) => i + 1));
    }
    expect(of('investigations').length).toBeGreaterThanOrEqual(chats.size);
  });

  it('becomes a gateway that takes the old key, knows the old chats, and goes on counting', async () => {
    const { code, stdout, stderr } = await sightline(target, ['import', backup]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(': 1 organization, ');
    // Not a bare serve, which would begin an empty workspace elsewhere.
    expect(stdout).toMatch(new RegExp(`^Start it with: .* --data ${target}( .*)? serve$`, 'm'));
    const gateway = await startGateway(target);
    try {
      const token = await exchange(gateway.url, credentials);
      const { structured } = await callTool(gateway.url, token, 'list_incidents', {});
      expect(listed.parse(structured).incidents.map(({ key }) => key)).toEqual(
        expect.arrayContaining(['INC-1', 'INC-2', 'INC-3']),
      );
      const [first = ''] = acknowledgedBefore;
      const chat = await callTool(gateway.url, token, 'read_chat', { chat_id: first });
      expect(chat.isError).toBe(false);
      expect(chat.text).toMatch(/chat [012]\/\d/);
      expect((await importIncidents(target)).keys).toEqual(['INC-4', 'INC-5', 'INC-6']);
      const again = await sightline(target, ['import', backup]);
      expect(again.code).toBe(1);
      expect(again.stderr).toContain('not empty');
    } finally {
      await gateway.stop();
    }
  }, 120_000);

  it('keeps an audit that verifies: what the old gateway recorded, and what the new one adds', async () => {
    const verify = async (directory: string) => {
      const { code, stdout } = await sightline(directory, ['audit', 'verify', '--json']);
      return { code, ...verified.parse(JSON.parse(stdout)) };
    };
    const exported = (await rowsOf(backup)).filter((line) => row.parse(JSON.parse(line))[0] === 'audit').length;
    const { records, chains, ...whole } = await verify(target);
    expect(whole).toEqual({ code: 0, ok: true, problems: [] });
    expect(exported).toBeGreaterThan(acknowledgedBefore.length);
    expect(records).toBeGreaterThan(exported);
    expect(chains).toBeGreaterThan(1);
  });

  it('is refused under another master key, with a sentence, and says so to scripts', async () => {
    const directory = await temporaryDirectory();
    const { code, stdout, stderr } = await sightline(directory, ['import', backup, '--json']);
    expect([code, stdout]).toEqual([3, '']);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'config_invalid' } });
    expect(stderr).not.toMatch(/at \w+ \(|"v1\./);
    await removeDirectory(directory);
  });

  it('leaves nothing behind of an import that is killed, which can be done again', async () => {
    const directory = await temporaryDirectory();
    await copyFile(join(source, 'master.key'), join(directory, 'master.key'));
    for (const delay of [350, 450, 550, 650]) {
      const child = await beginSightline(directory, ['import', backup]);
      const exited = once(child, 'exit');
      await sleep(delay);
      child.kill('SIGKILL');
      await exited;
    }
    const organizations = z.array(z.object({ name: z.string() }));
    const before = await sightlineJson(directory, ['org', 'list'], organizations);
    const { code } = await sightline(directory, ['import', backup]);
    // Whole, where the kill came too late; else nothing of it.
    expect(code).toBe(before.length === 0 ? 0 : 1);
    expect(await sightlineJson(directory, ['org', 'list'], organizations)).toHaveLength(1);
    const fresh = join(directory, 'again.jsonl');
    expect((await sightline(directory, ['export', fresh])).code).toBe(0);
    expect(await rowsOf(fresh)).toEqual(await rowsOf(backup));
    await removeDirectory(directory);
  });
});

const verified = z.object({
  ok: z.boolean(),
  records: z.number(),
  chains: z.number(),
  problems: z.array(z.object({ what: z.string() })),
});
const row = z.tuple([z.string(), z.string().nullable(), z.record(z.string(), z.unknown())]);
