import { isObject, parseJson } from '../../contract/core/json.ts';

/* MCP Apps (SEP-1865), the view's side: JSON-RPC by postMessage with the frame that holds this one. */

const host = window.parent;
const waiting = new Map<number, { resolve(result: Fields): void; reject(error: Error): void }>();
let lastId = 0;

function send(message: object): void {
  // A view does not learn its host's origin, and says nothing that is secret.
  host.postMessage({ jsonrpc: '2.0', ...message }, '*');
}

function request(method: string, params: object): Promise<Fields> {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send({ id, method, params });
  });
}

function notify(method: string, params: object = {}): void {
  send({ method, params });
}

/** What the host tells, by the end of its notification's name. */
export interface Listener {
  readonly 'tool-input': (params: Fields) => void;
  readonly 'tool-result': (params: Fields) => void;
  readonly 'tool-cancelled': (params: Fields) => void;
  readonly 'host-context-changed': (params: Fields) => void;
}

const told = 'ui/notifications/';

function isTold(name: string, listener: Listener): name is keyof Listener {
  return Object.hasOwn(listener, name);
}

function receive(data: unknown, listener: Listener): void {
  const message = fields(data);
  const { id } = message;
  const method = text(message['method']);
  if (message['jsonrpc'] !== '2.0') return;
  if (method === '') {
    const one = typeof id === 'number' ? waiting.get(id) : undefined;
    if (one === undefined || typeof id !== 'number') return;
    waiting.delete(id);
    if ('error' in message) one.reject(new Error(text(fields(message['error'])['message']) || 'The host refused.'));
    else one.resolve(fields(message['result']));
  } else if (id !== undefined) {
    // A teardown needs nothing done.
    if (method === 'ui/resource-teardown' || method === 'ping') send({ id, result: {} });
    else send({ id, error: { code: -32601, message: 'The view has no such method.' } });
  } else if (method.startsWith(told)) {
    const name = method.slice(told.length);
    if (isTold(name, listener)) listener[name](fields(message['params']));
  }
}

/** What the host is and can, once it has answered. */
export async function connect(listener: Listener): Promise<Fields> {
  addEventListener('message', ({ source, data }) => {
    if (source === host) receive(data, listener);
  });
  const welcome = await request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name: 'sightline', version: '1' },
    appCapabilities: {},
  });
  notify('ui/notifications/initialized');
  new ResizeObserver(tellSize).observe(document.documentElement);
  return welcome;
}

let toldHeight = 0;

function tellSize(): void {
  const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
  if (height === toldHeight) return;
  toldHeight = height;
  notify('ui/notifications/size-changed', { width: innerWidth, height });
}

/** Tools that change nothing and give no secret. */
export type ReadTool = 'query_otel' | 'read_incident' | 'read_chat';

let isCalling = false;

/** Through the host, with the person's rights and at their rate: one at a time. */
export async function call(tool: ReadTool, args: object): Promise<Fields> {
  if (isCalling) throw new Error('Another call is under way.');
  isCalling = true;
  try {
    return await request('tools/call', { name: tool, arguments: args });
  } finally {
    isCalling = false;
  }
}

/** The structured form of its answer; rejects with what it says in place of one. */
export async function ask(tool: ReadTool, args: object): Promise<Fields> {
  const { structured, said } = answerOf(await call(tool, args));
  if (structured === undefined) throw new Error(said);
  return structured;
}

export function openLink(url: string): Promise<Fields> {
  return request('ui/open-link', { url });
}

/* Results come from a host, and their texts from strangers: what is missing or of another kind counts as empty. */

export type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export function texts(value: unknown): readonly string[] {
  return list(value).map(text);
}

interface Answer {
  /** Undefined for an answer without one, and where the call failed. */
  readonly structured: Fields | undefined;
  /** The text form, or what a failed call says. */
  readonly said: string;
  readonly failed: boolean;
}

/** A `CallToolResult`. */
export function answerOf(result: Fields): Answer {
  const said = list(result['content'])
    .map((block) => text(fields(block)['text']))
    .filter((part) => part !== '')
    .join('\n');
  if (result['isError'] === true) return { structured: undefined, said: failureOf(said), failed: true };
  const structured = result['structuredContent'];
  return { structured: isObject(structured) ? structured : undefined, said, failed: false };
}

/** Errors of ours are JSON with a message and a hint. */
function failureOf(said: string): string {
  const { message, hint } = fields(parseJson(said));
  return [text(message), text(hint)].filter((part) => part !== '').join(' ') || said || 'The call failed.';
}
