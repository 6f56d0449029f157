import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../contract/core/index.ts';
import { OrganizationLogs } from './logs-of-organizations.ts';
import { MemorySink, silent, until } from '../../../test/support/otlp/gateway.ts';
import { decode } from '../../../test/support/otlp/rows.ts';

const organizationId = newId('org');
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sightline-logs-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function batches(body: string) {
  const request = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: body } }] }] }] };
  return decode('logs', 'json', Buffer.from(JSON.stringify(request)), Date.now()).batches;
}

it('keeps what is being written while it stops, and removes a log with nothing left to load', async () => {
  const sink = new MemorySink();
  const logs = new OrganizationLogs(directory, sink, silent);
  await logs.recover();
  await logs.append(organizationId, batches('loaded'));
  await until(() => sink.rows.length === 1 && logs.totalBehindBytes === 0, 'the first row');
  const written = logs.append(organizationId, batches('under way'));
  await logs.stop();
  await written;
  await logs.recover();
  await until(() => sink.rows.length === 2 && logs.totalBehindBytes === 0, 'the second');
  await logs.stop();
  expect(sink.names()).toEqual(['loaded', 'under way']);
  expect(await readdir(join(directory, organizationId))).toEqual([]);
});
