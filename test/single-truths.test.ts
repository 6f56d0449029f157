import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { product } from '../src/gateway/wiring/product.ts';
import { defaultPipelineLimits } from '../src/telemetry/query/pipeline.ts';
import { defaultQueryOtelLimits, queryOtelInput, queryOtelOutput } from '../src/tools/query-otel/schema.ts';
import { root } from './support/gateway.ts';

const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

it('has the version of the package', async () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(await read('package.json')));
  expect(product.version).toBe(version);
  const lock = z.object({ version: z.string() }).parse(JSON.parse(await read('package-lock.json')));
  expect(lock.version).toBe(version);
});

it('has one row cap in the pipeline, the schemas of query_otel and the documents', async () => {
  const { maxRows, maxBytes } = defaultPipelineLimits;
  const { max_rows: rows, max_bytes: bytes } = queryOtelInput(defaultQueryOtelLimits, '').shape;
  expect(rows.safeParse(maxRows).success).toBe(true);
  expect(rows.safeParse(maxRows + 1).success).toBe(false);
  expect(bytes.safeParse(maxBytes).success).toBe(true);
  expect(bytes.safeParse(maxBytes + 1).success).toBe(false);
  expect(queryOtelOutput.shape.row_count.safeParse(maxRows).success).toBe(true);
  expect(queryOtelOutput.shape.row_count.safeParse(maxRows + 1).success).toBe(false);
  const number = (value: number): string => value.toLocaleString('en-US');
  expect(await read('docs/sizing.md')).toContain(
    `${number(defaultQueryOtelLimits.defaultRows)}, or \`max_rows\` up to ${number(maxRows)}; ` +
      `${number(defaultQueryOtelLimits.defaultBytes)} bytes, or \`max_bytes\` up to ${number(maxBytes)}`,
  );
});
