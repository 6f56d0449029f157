import { expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import { createQueryPipeline } from '../../src/telemetry/query/pipeline.ts';
import { silentLogger } from '../../test/contract/host.ts';
import {
  expectMended,
  mistakes,
  outcomeOf,
  wrongValues,
  type Answer,
  type Outcome,
} from '../../test/support/mistakes.ts';
import { analysisError } from './support/analysis.ts';
import { acme, Harness } from './support/harness.ts';

/** As SHOW ATTRIBUTES asks for them. */
const sampled = ['map', 'key', 'value', '1', '1'];

it('are mended in one step, as far as gate, names and types tell', async () => {
  const harness = await Harness.start();
  try {
    const { telemetry, server } = harness;
    const pipeline = createQueryPipeline({ telemetry, logger: silentLogger, now: () => new Date() });
    const call = async (sql: string): Promise<Answer> => {
      const message = analysisError(sql, telemetry.dialect);
      const error = { status: 400, reason: 'invalidQuery', message: message ?? '' };
      server.script(
        () => true,
        message === undefined
          ? { fields: sampled.map((name) => ({ name, type: 'STRING' })), rows: [sampled] }
          : { error, dryRunError: error },
      );
      try {
        const result = await pipeline.run({
          organizationId: acme,
          sql,
          reader: { kind: 'user', role: 'member' },
          label: { principal: 'ak_1', tool: 'query_otel', traceId: '' },
          signal: AbortSignal.timeout(10_000),
          requestId: 'r',
        });
        return { isError: false, structured: { rows: [['1']], warnings: result.warnings }, text: '' };
      } catch (failure) {
        if (!(failure instanceof SightlineError)) throw failure;
        const { message: said, hint, retry, code } = failure;
        return { isError: true, structured: undefined, text: JSON.stringify({ code, message: said, hint, retry }) };
      }
    };
    const found = new Map<Outcome, string[]>();
    for (const sql of [...mistakes, ...wrongValues]) {
      const { outcome, said } = await outcomeOf(call, sql);
      found.set(outcome, [...(found.get(outcome) ?? []), `${sql}\n    ${said}`]);
    }
    // No rows tell here what is silent: a wrong value is either refused and mended, or warned of.
    expect((found.get('works') ?? []).filter((text) => wrongValues.some((sql) => text.startsWith(`${sql}\n`)))).toEqual(
      [],
    );
    expectMended('bigquery', found);
  } finally {
    await harness.stop();
  }
}, 60_000);
