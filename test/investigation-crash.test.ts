import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

const created = z.looseObject({ key: z.string() });
const started = z.object({ chat_id: z.string() });
const read = z.object({
  incident: z.object({ waiting_on: z.object({ party: z.string(), reason: z.string().optional() }) }),
  document: z.object({ version: z.number() }).optional(),
  investigation: z
    .object({
      status: z.string(),
      steps: z.array(
        z.object({ evidence_id: z.string(), sql: z.string().optional(), recorded_at: z.string().optional() }),
      ),
    })
    .optional(),
});
const transcript = z.object({ messages: z.array(z.object({ role: z.string() })) });

/** A gateway with the playbook and the demo shop, killed while it investigates an incident. */
describe('a gateway that is killed in the middle of an investigation', () => {
  let directory = '';
  let gateway: RunningGateway;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    await writeFile(join(directory, 'sightline.config.json'), JSON.stringify({ limits: { requestsPerMinute: 6_000 } }));
    gateway = await startGateway(directory);
    const sent = ['demo', '--scenario', 'payment-errors', '--minutes', '30'];
    await sightlineJson(directory, sent, z.unknown());
  }, 120_000);
  afterAll(async () => {
    await gateway?.stop();
    await removeDirectory(directory);
  });

  it('goes on when it is started again: no step twice, none lost, one answer, one document', async () => {
    const { key } = await sightlineJson(directory, ['incident', 'create', 'Checkout fails'], created);
    const credentials = await createKey(directory, 'default');
    let token = await exchange(gateway.url, credentials);
    const call = async (name: string, args: object): Promise<unknown> =>
      (await callTool(gateway.url, token, name, { ...args })).structured;
    const look = async () =>
      read.parse(await call('read_incident', { incident_id: key, include: ['document', 'evidence'] }));
    const about = { message: 'Why does checkout fail in the last 30 minutes?', incident_id: key };
    const chat = started.parse(await call('start_chat', about));

    let before = await look();
    while ((before.investigation?.steps.length ?? 0) < 3) before = await look();
    await gateway.kill();
    const killed = new Date().toISOString();
    expect(before.investigation?.status).toBe('running');
    expect(before.incident.waiting_on.party).toBe('agent');

    gateway = await startGateway(directory);
    token = await exchange(gateway.url, credentials);
    let after = await look();
    for (let turn = 0; turn < 120 && after.investigation?.status === 'running'; turn += 1) {
      await delay(500);
      after = await look();
    }
    const steps = after.investigation?.steps ?? [];
    expect(after.investigation?.status).toBe('completed');
    expect(steps.slice(0, before.investigation?.steps.length)).toEqual(before.investigation?.steps);
    expect(steps.map(({ evidence_id: id }) => id)).toEqual(steps.map((_, index) => `E${index + 1}`));
    const whole = await Promise.all(
      steps.map(async ({ evidence_id }) => {
        const { investigation } = read.parse(await call('read_incident', { incident_id: key, evidence_id }));
        return investigation?.steps[0];
      }),
    );
    expect(new Set(whole.map((step) => step?.sql)).size).toBe(steps.length);
    expect(whole.filter((step) => (step?.recorded_at ?? '') > killed).length).toBeGreaterThan(0);
    const { messages } = transcript.parse(await call('read_chat', chat));
    expect(messages.map(({ role }) => role)).toEqual(['user', 'agent']);
    expect(after.document?.version).toBe(1);
    expect(after.incident.waiting_on.party).toBe('human');
  }, 120_000);
});
