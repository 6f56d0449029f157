import * as runner from '@jest/globals';
import { lifecycleContract } from '../../src/contract-tests/lifecycle.ts';
import { BigqueryServer } from '../../test/support/bigquery/server.ts';
import { Harness } from './support/harness.ts';

let server: BigqueryServer;

// Before each count of what runs, so that the stand-in is none of the plugin's.
runner.beforeAll(async () => {
  server = await BigqueryServer.start({ closes: true });
});
runner.afterAll(() => server.stop());

lifecycleContract(runner, async () => {
  const harness = await Harness.create({}, server);
  return { component: harness.telemetry, cleanup: () => harness.stop() };
});
