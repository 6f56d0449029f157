import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '../../../test/contract/host.ts';
import { SightlineError } from '../../contract/core/index.ts';
import type { Finding, WarehouseOperations } from '../../contract/telemetry/index.ts';
import { holdBoundary, tryBoundary } from './boundary.ts';

const held: Finding = { check: 'other rows', status: 'ok', detail: 'None were seen.' };
const probing = (probe: WarehouseOperations['probe']) => ({
  operations: { setup: async () => [], inspect: async () => ({ server: '', candidates: [] }), probe },
});
const label = 'telemetry plugin "warehouse"';

async function refusal(probe: WarehouseOperations['probe'], timeoutMs?: number): Promise<unknown> {
  try {
    await holdBoundary(probing(probe), label, silentLogger, timeoutMs);
  } catch (error) {
    return error;
  }
  throw new Error('it was served');
}
const broken = (why: string) => ({ code: 'plugin_failed', operatorMessage: expect.stringContaining(why) });

describe('a boundary that was tried', () => {
  it('is served where all holds, and where there is none to try', async () => {
    await holdBoundary(
      probing(async () => [held]),
      label,
      silentLogger,
    );
    await holdBoundary({}, label, silentLogger);
    expect(await tryBoundary({}, 1_000)).toEqual([]);
  });

  it('is not served where something succeeds that must not', async () => {
    const found: Finding = { check: 'writes', status: 'fail', detail: 'A table was made.', hint: 'REVOKE it.' };
    expect(await refusal(async () => [held, found])).toMatchObject(broken('writes: A table was made. REVOKE it.'));
  });

  it('does not hold because its probe failed, and what the engine said goes to the operator alone', async () => {
    const said = () => Promise.reject(new Error('connection to 10.0.0.1 refused'));
    const error = await refusal(said);
    expect(error).toMatchObject({ ...broken('10.0.0.1'), message: expect.not.stringContaining('10.0.0.1') });
    const known = new SightlineError('forbidden', 'No.', { operatorMessage: 'telemetry.connections is empty.' });
    expect(await refusal(() => Promise.reject(known))).toMatchObject(broken('telemetry.connections is empty.'));
    const thrown = (): never => {
      throw new TypeError('no login');
    };
    expect(await refusal(thrown, 20)).toMatchObject(broken('no login'));
    // Nothing of it comes later, when nobody listens any more.
    await delay(50);
  });

  it('does not hold because its probe never ends, or answers when its time was up', async () => {
    const late = { ...broken('0.02 s'), code: 'unavailable' };
    expect(await refusal(() => new Promise(() => {}), 20)).toMatchObject(late);
    const answers = (signal: AbortSignal) =>
      new Promise<readonly Finding[]>((resolve) => signal.addEventListener('abort', () => resolve([held])));
    expect(await refusal(answers, 20)).toMatchObject(late);
  });

  it('is unavailable, and not wrongly set up, where the warehouse is away: a supervisor then starts it again', async () => {
    const away = new SightlineError('telemetry_unavailable', 'No.', { operatorMessage: 'connection refused' });
    expect(await refusal(() => Promise.reject(away))).toMatchObject({
      ...broken('connection refused'),
      code: 'unavailable',
    });
  });

  it('does not hold because nothing was tried, or because a finding says neither ok nor warn', async () => {
    expect(await refusal(async () => [])).toMatchObject(broken('tried nothing'));
    const odd: readonly Finding[] = JSON.parse('[{"check":"writes","status":"FAIL","detail":"A table was made."}]');
    expect(await refusal(async () => odd)).toMatchObject(broken('A table was made.'));
  });
});
