import { gzipSync } from 'node:zlib';
import type { DiscoverResult, Implementation, ListToolsResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { type JsonObject, type Tool, isObject } from '../contract/core/index.ts';
import { paramHeaders, type ParamHeader } from './param-headers.ts';
import type { RequestId } from './message.ts';
import { meta } from './protocol.ts';
import { argumentKinds, type ToolArguments } from './arguments.ts';

export interface CatalogEntry extends ToolArguments {
  readonly paramHeaders: readonly ParamHeader[];
}

/** All that can be known about the tools before the first request. */
export interface Catalog {
  /** By name. */
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  /** Whole `tools/list` results. */
  readonly legacyList: PreparedResult;
  readonly modernList: PreparedResult;
  readonly paramHeaderNames: readonly string[];
}

/** How long a 2026-07-28 client may keep a list or a discovery. They change only when the gateway restarts. */
export const cacheHints = { ttlMs: 300_000, cacheScope: 'private' } as const satisfies Pick<
  DiscoverResult,
  'ttlMs' | 'cacheScope'
>;

/** Compiles the tools. Throws at start-up on a name, schema or alias that could not be served. */
export function createCatalog(tools: readonly Tool[], serverInfo: Implementation, view?: ShownBy): Catalog {
  const entries = new Map<string, CatalogEntry>();
  const listed: ListToolsResult['tools'] = [];
  for (const tool of tools) {
    const { name, title, description, annotations } = tool;
    if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) throw new Error(`tool name ${JSON.stringify(name)} is not valid`);
    if (entries.has(name)) throw new Error(`two tools are named ${name}`);
    try {
      const inputSchema = jsonSchema(tool.input, 'input');
      const outputSchema = jsonSchema(tool.output, 'output');
      listed.push({ name, title, description, inputSchema, outputSchema, annotations, ...showing(tool, view) });
      entries.set(name, compile(tool, inputSchema));
    } catch (error) {
      throw new Error(`tool ${name} cannot be served: ${error instanceof Error ? error.message : 'unknown'}`, {
        cause: error,
      });
    }
  }
  return {
    entries,
    legacyList: new PreparedResult({ tools: listed } satisfies ListToolsResult),
    modernList: new PreparedResult({
      tools: listed,
      ...cacheHints,
      resultType: 'complete',
      _meta: { [meta.serverInfo]: serverInfo },
    } satisfies ListToolsResult),
    paramHeaderNames: [...entries.values()].flatMap((entry) => entry.paramHeaders.map(({ name }) => name)),
  };
}

/** The view that draws the results of these tools. */
interface ShownBy {
  readonly uri: string;
  readonly tools: readonly string[];
}

function showing({ name, maxResultChars }: Tool, view?: ShownBy): Pick<ListToolsResult['tools'][number], '_meta'> {
  const about = {
    // Claude Code saves a longer result to a file and shows 2 kB of it, unless the tool says so.
    ...(maxResultChars !== undefined && { 'anthropic/maxResultSizeChars': maxResultChars }),
    ...(view?.tools.includes(name) && { ui: { resourceUri: view.uri } }),
  };
  return Object.keys(about).length === 0 ? {} : { _meta: about };
}

function compile(tool: Tool, inputSchema: JsonObject): CatalogEntry {
  const kinds = argumentKinds(inputSchema);
  const aliases = new Map(Object.entries(tool.aliases ?? {}));
  for (const [alias, target] of aliases) {
    if (kinds.has(alias) || !kinds.has(target)) {
      throw new Error(`alias ${alias} must be a new name of an argument`);
    }
  }
  return { tool, kinds, aliases, paramHeaders: paramHeaders(inputSchema) };
}

/** Ids below are the ones that official clients give to `tools/list`: it is among their first requests. */
const keptIds = 64;

/** A result that is the same for every caller, serialized once and compressed once for each small request id. */
export class PreparedResult {
  readonly json: Buffer;
  readonly #text: string;
  readonly #packed: Buffer[] = [];

  constructor(result: object) {
    this.#text = JSON.stringify(result);
    this.json = Buffer.from(this.#text);
  }

  /** The whole message as gzip; undefined for an id for which none is kept. */
  compressed(id: RequestId): Buffer | undefined {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= keptIds) return undefined;
    return (this.#packed[id] ??= gzipSync(`{"jsonrpc":"2.0","id":${id},"result":${this.#text}}`, { level: 9 }));
  }
}

type ObjectSchema = ListToolsResult['tools'][number]['inputSchema'];

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** JSON Schema 2020-12 without zod's additions. Outputs stay open, so that a field can be added. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  const written = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    override: ({ jsonSchema: json }) => {
      if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
      if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
      if (json.format !== undefined) delete json.pattern;
      // OpenAI's strict mode and Gemini know neither lengths nor defaults. A default stands in the description.
      if (io === 'input') for (const keyword of ['minLength', 'maxLength', 'default'] as const) delete json[keyword];
      if (io === 'output' && json.additionalProperties === false) delete json.additionalProperties;
    },
  });
  if (!isObjectSchema(written)) throw new Error('the schema of a tool must be an object');
  if (io === 'input' && written['additionalProperties'] !== false) {
    throw new Error('the input of a tool must be a strict object');
  }
  const declared = z.globalRegistry.get(schema)?.['$schema'];
  if (written['$schema'] !== dialect || declared !== undefined) return written;
  const { $schema: _, ...rest } = written;
  return rest;
}

function isObjectSchema(written: unknown): written is ObjectSchema {
  return isObject(written) && written['type'] === 'object';
}
