import { words, type Json } from '../../../src/contract/telemetry/index.ts';
import { createRequire } from 'node:module';
import { z } from 'zod';

/** What of the module's interface is used: PostgreSQL's parser and scanner in WebAssembly. */
interface Wasm {
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _wasm_parse_query_raw(text: number): number;
  _wasm_free_parse_result(result: number): void;
  _wasm_scan(text: number): number;
  _wasm_free_string(text: number): void;
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, pointer: number, bytes: number): void;
  UTF8ToString(pointer: number): string;
  getValue(pointer: number, type: 'i32'): number;
}

const used =
  words(`_malloc _free _wasm_parse_query_raw _wasm_free_parse_result _wasm_scan _wasm_free_string lengthBytesUTF8
  stringToUTF8 UTF8ToString getValue`);
const wasm = z.custom<Wasm>((value) => {
  const functions = z.record(z.string(), z.unknown()).safeParse(value).data ?? {};
  return used.every((name) => typeof functions[name] === 'function');
}, 'libpg-query is not the version this gate was written for');
const factory = z.custom<() => Promise<unknown>>((value) => typeof value === 'function', 'libpg-query has no factory');

/** The grammar's own complaint. `position` counts code points from 0. */
export class GrammarError extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'GrammarError';
    this.position = position;
  }
}

/** The instance broke on this statement and was thrown away. */
export class ParserLost extends Error {}

const tokenList = z.object({
  tokens: z.array(z.object({ start: z.number(), end: z.number(), tokenName: z.string(), keywordName: z.string() })),
});

/** Offsets are bytes of UTF-8. */
export type ScannedToken = z.output<typeof tokenList>['tokens'][number];

/**
 * PostgreSQL's scanner and grammar. A trap inside (the stack of a deeply nested statement) leaves an instance damaged: some
 * thirty of them end it for every later statement. So an instance that trapped is not used again.
 */
export class Parser {
  #instance: Promise<Wasm> | undefined;

  /** Undefined if the scanner itself complains; then `parse` says what is wrong. */
  async scan(sql: string): Promise<readonly ScannedToken[] | undefined> {
    const answer = await this.#run(sql, (instance, pointer) => {
      const result = instance._wasm_scan(pointer);
      const json = instance.UTF8ToString(result);
      instance._wasm_free_string(result);
      return json;
    });
    // It leaves control characters of a token's text as they are. The text is not used, only where it lies.
    return answer.startsWith('{') ? tokenList.parse(JSON.parse(answer.replace(/\p{Cc}/gu, ' '))).tokens : undefined;
  }

  /** Throws a GrammarError. */
  async parse(sql: string): Promise<Json> {
    const answer = await this.#run(sql, (instance, pointer) => {
      const result = instance._wasm_parse_query_raw(pointer);
      const error = instance.getValue(result + 8, 'i32');
      const read = (address: number) => instance.UTF8ToString(instance.getValue(address, 'i32'));
      const outcome =
        error === 0
          ? { tree: read(result) }
          : { complaint: read(error), position: Math.max(0, instance.getValue(error + 16, 'i32') - 1) };
      instance._wasm_free_parse_result(result);
      return outcome;
    });
    if (answer.tree === undefined) throw new GrammarError(answer.complaint, answer.position);
    const tree: Json = JSON.parse(answer.tree);
    return tree;
  }

  async #run<T>(sql: string, use: (instance: Wasm, pointer: number) => T): Promise<T> {
    const loading = (this.#instance ??= load());
    try {
      const instance = await loading;
      const bytes = instance.lengthBytesUTF8(sql) + 1;
      const pointer = instance._malloc(bytes);
      instance.stringToUTF8(sql, pointer, bytes);
      const answer = use(instance, pointer);
      instance._free(pointer);
      return answer;
    } catch (error) {
      if (this.#instance === loading) this.#instance = undefined;
      throw new ParserLost('the parser did not survive the statement', { cause: error });
    }
  }
}

async function load(): Promise<Wasm> {
  const create = factory.parse(createRequire(import.meta.url)('libpg-query/wasm/libpg-query.js'));
  return wasm.parse(await create());
}
