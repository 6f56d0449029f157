import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import storagePlugin from '../../plugins/storage-knex/index.ts';
import telemetryPlugin from '../../plugins/telemetry-duckdb/index.ts';
import { silentLogger, testHost } from '../contract/host.ts';
import {
  newId,
  type OrganizationId,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../../src/contract/core/index.ts';
import { scopes, type Principal } from '../../src/contract/issuer/index.ts';
import type { Actor, Storage, Workspace } from '../../src/contract/storage/index.ts';
import type { Telemetry } from '../../src/contract/telemetry/index.ts';
import { parseArguments, readArguments } from '../../src/mcp/arguments.ts';
import { createCatalog, type Catalog } from '../../src/mcp/catalog.ts';
import { serveView } from '../../src/mcp/view.ts';
import { telemetryHost } from '../../src/gateway/wiring/telemetry-host.ts';
import { cancelChat } from '../../src/incidents/investigation/worker.ts';
import { createKeptResults } from '../../src/telemetry/query/kept-results.ts';
import { structuredText, textInString } from '../../src/mcp/result.ts';
import { createQueryPipeline } from '../../src/telemetry/query/pipeline.ts';
import { createTools } from '../../src/tools/index.ts';
import { createQueryOtel } from '../../src/tools/query-otel.ts';
import { view } from '../../src/gateway/wiring/front.ts';

export const publicUrl = 'http://127.0.0.1:8080';
export const alert: Actor = { kind: 'alert', id: 'test', name: 'test alerts' };

export interface Called {
  readonly structured: Record<string, unknown>;
  /** The same as it goes over the wire. */
  readonly raw: string;
  readonly text: string;
  readonly facts: ToolResult['facts'];
}

/** The eight tools over a real store of their own, called as the endpoint calls them: aliases, schema, run. */
export class Toolbox {
  readonly directory: string;
  readonly storage: Storage;
  readonly telemetry: Telemetry;
  readonly tools: readonly Tool[];
  readonly catalog: Catalog;
  woken = 0;

  private constructor(directory: string, storage: Storage, telemetry: Telemetry) {
    const now = () => new Date();
    this.directory = directory;
    this.storage = storage;
    this.telemetry = telemetry;
    this.tools = createTools({
      storage,
      queryOtel: createQueryOtel({
        pipeline: createQueryPipeline({ telemetry, logger: silentLogger, now }),
        keptResults: createKeptResults({ now }),
        dialect: telemetry.dialect,
        now,
      }),
      ingest: {
        config: async (organizationId) => {
          const token = `it_+/%=${organizationId}`;
          return {
            endpoint: publicUrl,
            protocol: 'http/protobuf',
            token,
            headers: { Authorization: `Bearer ${token}` },
          };
        },
      },
      pagesUrl: publicUrl,
      engine: 'test',
      wake: () => {
        this.woken += 1;
      },
      cancelChat: (workspace, id, actor) => cancelChat(workspace, id, actor, silentLogger),
      now,
    });
    const info = { name: 'test', title: 'test', version: '1' };
    this.catalog = createCatalog(this.tools, info, serveView(view, info));
  }

  static async open(): Promise<Toolbox> {
    const directory = await mkdtemp(join(tmpdir(), 'sightline-tools-'));
    const storage = storagePlugin.create({ client: 'sqlite' }, testHost(directory));
    await storage.start(AbortSignal.timeout(20_000));
    await storage.migrate();
    const telemetry = telemetryPlugin.create(
      telemetryPlugin.configSchema.parse({}),
      telemetryHost(testHost(directory), storage.directory),
    );
    await telemetry.start(AbortSignal.timeout(20_000));
    return new Toolbox(directory, storage, telemetry);
  }

  async close(): Promise<void> {
    await this.telemetry.stop();
    await this.storage.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** A new organization with one key. */
  async organization(name: string): Promise<{ readonly principal: Principal; readonly workspace: Workspace }> {
    const { id } = await this.storage.directory.createOrganization({ name });
    return { principal: await this.key(id, `${name} key`), workspace: this.storage.workspace(id) };
  }

  async key(organizationId: OrganizationId, name: string): Promise<Principal> {
    const key = await this.storage.workspace(organizationId).keys.create({
      id: newId('ak'),
      name,
      scopes,
      secret: { id: newId('sec'), hash: newId('sec').padEnd(64, '0').slice(0, 64), lastFour: '1234' },
      createdBy: 'test',
    });
    return {
      kind: 'key',
      subject: key.id,
      organizationId,
      role: 'member',
      scopes: new Set(scopes),
      clientId: key.id,
      name,
    };
  }

  /** Checks what comes back against the tool's own output schema. */
  async call(
    principal: Principal,
    name: string,
    args: Record<string, unknown> = {},
    context: Partial<ToolContext> = {},
  ): Promise<Called> {
    const entry = this.catalog.entries.get(name);
    if (entry === undefined) throw new Error(`no tool ${name}`);
    const input = parseArguments(entry, readArguments(entry, args));
    const result = await entry.tool.run(input, {
      principal,
      signal: new AbortController().signal,
      requestId: 'test',
      traceId: 'test',
      logger: silentLogger,
      progress: () => {},
      ...context,
    });
    const raw = structuredText(result.structured);
    const structured = z.record(z.string(), z.unknown()).parse(JSON.parse(raw));
    entry.tool.output.parse(structured);
    return { structured, raw, text: JSON.parse(`"${textInString(result.text)}"`), facts: result.facts };
  }
}
