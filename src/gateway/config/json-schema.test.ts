import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

/** As VS Code's JSON service reads it; draft 7 ignores what stands beside a $ref. */
const file = new URL('../../../config/sightline.schema.json', import.meta.url);
let isValid: (config: object) => boolean;

beforeAll(async () => {
  const schema = z.record(z.string(), z.unknown()).parse(JSON.parse(await readFile(file, 'utf8')));
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  isValid = (config) => validate(config);
});

describe('the JSON Schema of the config', () => {
  it.each([
    { listen: { port: '${env:PORT}' } },
    {
      telemetry: {
        plugin: 'postgres',
        url: '${env:WAREHOUSE_URL}',
        boundary: { secret: '${env:BOUNDARY_SECRET}' },
        mapping: { preset: 'postgres-exporter' },
        tenancy: { boundary: { mode: 'column', column: 'customer' }, organizations: { acme: 'acme-inc' } },
      },
    },
    { telemetry: { plugin: 'duckdb', memoryLimitMb: 512 } },
    { telemetry: { plugin: 'acme-warehouse', anything: 1 } },
    { telemetry: { plugin: './warehouse.ts' } },
    { storage: { plugin: 'knex', client: 'postgres', url: '${env:DATABASE_URL}' } },
    { ingest: { enabled: '${env:INGEST:-true}' }, trustProxy: 1 },
  ])('takes %j', (config) => {
    expect(isValid(config)).toBe(true);
  });

  it.each([
    { listen: { port: 'http' } },
    { telemetry: { plugin: 'duckdb', memorylimit: 5 } },
    { agnet: { plugin: 'playbook' } },
    { log: { level: 'loud' } },
  ])('refuses %j', (config) => {
    expect(isValid(config)).toBe(false);
  });
});
