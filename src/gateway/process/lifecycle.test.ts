import { describe, expect, it } from '@jest/globals';
import { SightlineError, type Component, type Logger } from '../../contract/core/index.ts';
import { createLifecycle } from './lifecycle.ts';

const errors: string[] = [];
const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (fields) => errors.push(JSON.stringify(fields)),
  child: () => logger,
};
const never = (): Promise<never> => new Promise<never>(() => {});

function component(calls: string[], name: string, overrides: Partial<Component> = {}): Component {
  return {
    start: async () => void calls.push(`start ${name}`),
    stop: async () => void calls.push(`stop ${name}`),
    health: async () => ({ ok: true }),
    ...overrides,
  };
}

describe('the lifecycle', () => {
  it('starts in order and stops in reverse, once', async () => {
    const calls: string[] = [];
    const lifecycle = createLifecycle({ logger, startTimeoutMs: 1_000, stopTimeoutMs: 1_000 });
    await lifecycle.start({ name: 'a', component: component(calls, 'a') });
    await lifecycle.start({ name: 'b', component: component(calls, 'b') });
    await lifecycle.stop();
    await lifecycle.stop();
    expect(calls).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  it('names the part that did not start, with its own sentence and hint', async () => {
    const lifecycle = createLifecycle({ logger, startTimeoutMs: 1_000, stopTimeoutMs: 1_000 });
    const broken = component([], 'x', {
      start: async () => {
        throw new SightlineError('config_invalid', 'the warehouse refused the password', {
          hint: 'look at telemetry.user',
        });
      },
    });
    await expect(lifecycle.start({ name: 'telemetry plugin "duckdb"', component: broken })).rejects.toMatchObject({
      code: 'plugin_failed',
      message: 'telemetry plugin "duckdb" did not start: the warehouse refused the password',
      hint: 'look at telemetry.user',
    });
  });

  it('says of a part whose server is away that it is unavailable, so that a supervisor starts it again', async () => {
    const lifecycle = createLifecycle({ logger, startTimeoutMs: 10, stopTimeoutMs: 1_000 });
    const away = (code: 'unavailable' | 'telemetry_unavailable'): Component =>
      component([], 'x', { start: () => Promise.reject(new SightlineError(code, 'nobody answers')) });
    const unavailable = { code: 'unavailable', message: 'storage did not start: nobody answers' };
    for (const code of ['unavailable', 'telemetry_unavailable'] as const) {
      await expect(lifecycle.start({ name: 'storage', component: away(code) })).rejects.toMatchObject(unavailable);
    }
  });

  it('gives a part that says so longer than the others', async () => {
    const lifecycle = createLifecycle({ logger, startTimeoutMs: 10, stopTimeoutMs: 1_000 });
    const slow = component([], 'x', { start: () => new Promise((resolve) => setTimeout(resolve, 60)) });
    await expect(lifecycle.start({ name: 'a', component: slow })).rejects.toMatchObject({ code: 'unavailable' });
    await lifecycle.start({ name: 'a', component: slow, startTimeoutMs: 60_000 });
  });

  it('gives up on a part that hangs, aborting it, and still stops the others', async () => {
    const calls: string[] = [];
    let aborted = false;
    const lifecycle = createLifecycle({ logger, startTimeoutMs: 20, stopTimeoutMs: 20 });
    await lifecycle.start({ name: 'a', component: component(calls, 'a') });
    await lifecycle.start({ name: 'b', component: component(calls, 'b', { stop: never }) });
    const hanging = component(calls, 'c', {
      start: (signal) => {
        signal.addEventListener('abort', () => (aborted = true));
        return never();
      },
    });
    await expect(lifecycle.start({ name: 'c', component: hanging })).rejects.toThrow('No answer came within 0.02 s.');
    expect(aborted).toBe(true);
    await lifecycle.stop();
    expect(calls).toEqual(['start a', 'start b', 'stop c', 'stop a']);
    expect(errors.join()).toContain('"part":"b"');
  });

  it('says how each part is, a silent one included', async () => {
    const lifecycle = createLifecycle({ logger, startTimeoutMs: 1_000, stopTimeoutMs: 1_000 });
    await lifecycle.start({ name: 'a', component: component([], 'a') });
    await lifecycle.start({
      name: 'b',
      component: component([], 'b', { health: () => Promise.reject(new Error('password=hunter2')) }),
    });
    expect(await lifecycle.health()).toEqual({ a: { ok: true }, b: { ok: false, detail: 'did not answer' } });
  });
});
