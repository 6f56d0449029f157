import { z } from 'zod';
import { flag } from '../../contract/core/index.ts';
import { headerName, headerText, url } from './values.ts';

/** The service's own telemetry and its receivers; off by default. */
export const ownTelemetrySchema = z
  .strictObject({
    otlp: z
      .strictObject({
        endpoint: url.meta({ description: 'Where OTLP over HTTP is taken, without /v1/traces' }),
        headers: z
          .record(headerName, headerText)
          .default({})
          .meta({ description: 'Sent along; a token as ${env:NAME} or ${file:/path}' }),
        signals: z
          .array(z.enum(['traces', 'metrics']))
          .min(1)
          .default(['traces', 'metrics']),
        sampleRatio: z.coerce.number().min(0).max(1).default(1).meta({
          description: 'Of traces that begin here; where a caller sent its trace, the caller has decided',
        }),
        intervalSeconds: z.coerce
          .number()
          .int()
          .min(1)
          .max(3_600)
          .default(60)
          .meta({ description: 'Between two reports of metrics' }),
      })
      .optional()
      .meta({ description: 'Traces and metrics of the service itself, sent by OTLP' }),
    prometheus: z
      .strictObject({
        enabled: flag.default(false),
        host: z.string().min(1).default('127.0.0.1'),
        port: z.coerce.number().int().min(0).max(65_535).default(9_464).meta({
          description: 'With several workers the first one has it, and each of the others the next',
        }),
      })
      .prefault({})
      .meta({ description: 'Metrics of the service itself at /metrics, on a listener of its own' }),
  })
  .prefault({});
