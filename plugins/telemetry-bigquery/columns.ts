import { z } from 'zod';
import type { PhysicalColumns } from '../../src/contract/telemetry/index.ts';
import { ApiFailure, type Api } from './api.ts';
import { typeName } from './cells.ts';
import { fieldSchema, type FieldSchema } from './jobs.ts';

const tableAnswer = z.object({
  schema: z.object({ fields: z.array(fieldSchema).default([]) }).default({ fields: [] }),
  timePartitioning: z.object({ field: z.string().optional() }).optional(),
});

/**
 * Columns of a table or view by its path, `dataset.table` or `project.dataset.table`; those of a record also as
 * `record.column`. A table partitioned by arrival has `_PARTITIONTIME`.
 */
export function physicalColumns(api: Api, signal: AbortSignal): PhysicalColumns {
  return async (path) => {
    const parts = /^(?:([^`/\s]+)\.)?([A-Za-z0-9_]+)\.([^`/.]+)$/.exec(path);
    if (parts === null) return undefined;
    const [, project = api.projectId, dataset = '', table = ''] = parts;
    const uri = `/datasets/${dataset}/tables/${encodeURIComponent(table)}`;
    try {
      const answer = await api.send({ method: 'GET', project, path: uri, retry: true }, signal);
      const { schema, timePartitioning } = tableAnswer.parse(answer);
      const columns = new Map(flattened(schema.fields, ''));
      if (timePartitioning !== undefined && timePartitioning.field === undefined) {
        columns.set('_PARTITIONTIME', 'TIMESTAMP');
      }
      return columns;
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 404) return undefined;
      throw error;
    }
  };
}

function flattened(fields: readonly FieldSchema[], prefix: string): readonly (readonly [string, string])[] {
  return fields.flatMap((field) => [
    [`${prefix}${field.name}`, typeName(field)] as const,
    ...flattened(field.fields ?? [], `${prefix}${field.name}.`),
  ]);
}
