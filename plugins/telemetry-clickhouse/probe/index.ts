import type { Finding } from '../../../src/contract/telemetry/index.ts';
import { identifier, textOf } from '../quote.ts';
import { grantFindings, systemFindings } from './grants.ts';
import { attempt, type ProbeOptions, type Send } from './attempt.ts';
import { outsideFindings } from './outside.ts';
import { rowFindings } from './rows.ts';
import { settingFindings, setupFindings } from './settings.ts';

export type { ProbeOptions } from './attempt.ts';
export type { Send, Sender } from './attempt.ts';

/** Attempts as the gateway's user what must not succeed. Nothing is written, changed or ended, whatever it may do. */
export async function probeWarehouse(options: ProbeOptions): Promise<readonly Finding[]> {
  const { send, own } = options;
  const user = await userName(send);
  const login = { user, isOwn: user === identifier(own) };
  const tables = await options.tables(options.tenants[0]);
  return [
    ...(await rowFindings(options)),
    ...(await grantFindings(options, login, tables)),
    ...(await settingFindings(options, login)),
    ...(await setupFindings(options)),
    ...(await outsideFindings(send, login)),
    ...(await systemFindings(options, login, tables)),
  ];
}

async function userName(send: Send): Promise<string> {
  const outcome = await attempt(send, 'SELECT currentUser() AS name');
  return outcome.kind === 'done' ? identifier(textOf(outcome.rows[0]?.['name'])) : 'the user';
}
