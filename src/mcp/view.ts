import { hash } from 'node:crypto';
import type {
  Implementation,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  ServerCapabilities,
} from '@modelcontextprotocol/client';
import { isObject, type JsonObject } from '../contract/core/index.ts';
import { cacheHints } from './catalog.ts';
import type { RpcMessage } from './message.ts';
import { meta, quote, refuseCursor, RequestFailure, rpcCode, type Era } from './protocol.ts';

/** What clients that can (MCP Apps, SEP-1865) show of the results of some tools: one HTML file, the same for everybody. */
export interface View {
  readonly html: string;
  readonly tools: readonly string[];
}

/** The view as clients ask for it. */
export interface ServedView {
  readonly uri: string;
  readonly tools: View['tools'];
  /** Of what this client, from `initialize` or from a request's `_meta`, is told. */
  capabilities(clientInfo: unknown, clientCapabilities: unknown): ServerCapabilities;
  answers(method: string): boolean;
  /** The result of such a method. */
  answer(message: Pick<RpcMessage, 'method' | 'params'>, era: Era): object;
}

const extension = 'io.modelcontextprotocol/ui';
const mimeType = 'text/html;profile=mcp-app';
const base = 'ui://sightline/';
const longestUri = 200;

/** Each of them gives its model two or three more tools where a server has resources, and shows no view; mcp-remote adds its name. */
const readers = /^(?:claude-code|gemini-cli-mcp-client|opencode)(?: |$)/;

/** Nothing is loaded from anywhere. An absent policy is taken for a mistake by some hosts; ChatGPT reads a form of its own. */
const policy = {
  ui: { csp: { connectDomains: [], resourceDomains: [] } },
  'openai/widgetCSP': { connect_domains: [], resource_domains: [] },
};

export function serveView({ html, tools }: View, serverInfo: Implementation): ServedView {
  // Hosts keep what they have read under its URI, so that it names the content.
  const uri = `${base}${hash('sha256', html, 'hex').slice(0, 8)}`;
  const modern = { ...cacheHints, resultType: 'complete', _meta: { [meta.serverInfo]: serverInfo } };
  const results: Readonly<Record<string, (params: JsonObject, era: Era) => object>> = {
    'resources/list'(params) {
      refuseCursor(params);
      const title = 'Results as tables and pictures';
      return { resources: [{ uri, name: 'view', title, mimeType, _meta: policy }] } satisfies ListResourcesResult;
    },
    'resources/templates/list'(params) {
      refuseCursor(params);
      return { resourceTemplates: [] } satisfies ListResourceTemplatesResult;
    },
    'resources/read'({ uri: asked }, era) {
      // A host may ask for the file of yesterday: it is answered with today's.
      if (typeof asked !== 'string' || !asked.startsWith(base) || asked.length > longestUri) {
        const code = era === 'modern' ? rpcCode.invalidParams : rpcCode.resourceNotFound;
        throw new RequestFailure(200, code, `There is no resource ${quote(String(asked))}.`);
      }
      return { contents: [{ uri: asked, mimeType, text: html, _meta: policy }] } satisfies ReadResourceResult;
    },
  };
  return {
    uri,
    tools,
    capabilities(clientInfo, clientCapabilities) {
      const extensions = isObject(clientCapabilities) ? clientCapabilities['extensions'] : undefined;
      const shows = isObject(extensions) && isObject(extensions[extension]);
      // Not all hosts that show views say so: VS Code does not, and one of Claude's first requests is empty.
      const reads = shows || !readers.test(nameOf(clientInfo));
      return { tools: {}, ...(reads && { resources: {} }), extensions: { [extension]: {} } };
    },
    answers: (method) => Object.hasOwn(results, method),
    answer({ method, params }, era) {
      const result = results[method]?.(params, era);
      return era === 'modern' ? { ...result, ...modern } : { ...result };
    },
  };
}

function nameOf(clientInfo: unknown): string {
  const name = isObject(clientInfo) ? clientInfo['name'] : undefined;
  return typeof name === 'string' ? name : '';
}
