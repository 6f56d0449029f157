import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { createPlaybook } from './playbook.ts';

/** Investigates by a fixed playbook of questions in SQL: no model, the same answer every time, nothing leaves the machine. */
export default definePlugin({
  kind: 'agent',
  name: 'playbook',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, host) => createPlaybook(host),
});
