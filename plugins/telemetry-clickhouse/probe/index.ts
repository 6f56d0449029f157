import type { Finding } from '../../../src/contract/telemetry/index.ts';
import { grantFindings, systemFindings } from './grants.ts';
import type { ProbeOptions } from './attempt.ts';
import { outsideFindings } from './outside.ts';
import { rowFindings } from './rows.ts';
import { settingFindings, setupFindings } from './settings.ts';

export type { ProbeOptions } from './attempt.ts';
export type { Send, Sender } from './attempt.ts';

/** Attempts as the gateway's user what must not succeed. Nothing is written, changed or ended, whatever it may do. */
export async function probeWarehouse(options: ProbeOptions): Promise<readonly Finding[]> {
  const { send } = options;
  const tables = await options.tables(options.tenants[0]);
  return [
    ...(await rowFindings(options)),
    ...(await grantFindings(options, tables)),
    ...(await settingFindings(options)),
    ...(await setupFindings(options)),
    ...(await outsideFindings(send)),
    ...(await systemFindings(options, tables)),
  ];
}
