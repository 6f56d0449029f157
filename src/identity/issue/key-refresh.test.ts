import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { silentLogger } from '../../../test/contract/host.ts';
import { createKeyRefresh, refreshMs } from './upkeep.ts';

describe('the look at the signing keys', () => {
  let away: boolean;
  let looks: number;
  let refresh: ReturnType<typeof createKeyRefresh>;

  beforeEach(() => {
    jest.useFakeTimers();
    [away, looks] = [false, 0];
    refresh = createKeyRefresh(async () => {
      looks += 1;
      if (away) throw new Error('the storage is away');
    }, silentLogger);
    refresh.start();
  });
  afterEach(async () => {
    await refresh.stop();
    jest.useRealTimers();
  });

  it('is taken once a minute', async () => {
    await jest.advanceTimersByTimeAsync(refreshMs * 3);
    expect(looks).toBe(3);
    expect(refresh.failing).toBe(false);
  });

  it('that failed is repeated soon: a storage that is back finds no issuer that is unwell for a minute more', async () => {
    away = true;
    await jest.advanceTimersByTimeAsync(refreshMs);
    expect(refresh.failing).toBe(true);
    away = false;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(refresh.failing).toBe(false);
    expect(looks).toBe(2);
    await jest.advanceTimersByTimeAsync(refreshMs);
    expect(looks).toBe(3);
  });

  it('ends with the issuer, also where it is stopped while one is under way', async () => {
    await jest.advanceTimersByTimeAsync(refreshMs - 1);
    jest.advanceTimersByTime(1);
    await refresh.stop();
    await jest.advanceTimersByTimeAsync(refreshMs * 2);
    expect(looks).toBe(1);
  });
});
