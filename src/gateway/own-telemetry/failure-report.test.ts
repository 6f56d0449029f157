import { expect, it } from '@jest/globals';
import type { Logger } from '../../contract/core/index.ts';
import { FailureReport } from './index.ts';

it('says once a minute that nothing can be sent, how often it failed meanwhile, and not what the other end answered', () => {
  const said: object[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields) => void said.push(fields),
    error: () => undefined,
    child: () => logger,
  };
  let now = 5;
  const report = new FailureReport(logger, 'http://collector.example', () => now);
  const failure = Object.assign(new Error('Unauthorized'), { data: 'the answer' });
  for (; now <= 120_005; now += 10_000) report.failed('traces', failure);
  const line = { endpoint: 'http://collector.example', signal: 'traces', why: 'Unauthorized' };
  expect(said).toEqual([
    { ...line, failures: 1 },
    { ...line, failures: 6 },
    { ...line, failures: 6 },
  ]);
});
