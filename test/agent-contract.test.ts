import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import playbook from '../plugins/agent-playbook/index.ts';
import { dialect } from '../plugins/telemetry-duckdb/dialect.ts';
import { agentContract } from '../src/contract-tests/agent.ts';
import { testHost } from '../src/contract-tests/host.ts';

describe('agent-playbook', () => {
  agentContract({ describe, it, expect, beforeAll, afterAll, beforeEach, afterEach }, async (query) => {
    const directory = await mkdtemp(join(tmpdir(), 'sightline-agent-'));
    return {
      agent: playbook.create(playbook.configSchema.parse({}), { ...testHost(directory), dialect, query }),
      cleanup: () => rm(directory, { recursive: true }),
    };
  });
});
