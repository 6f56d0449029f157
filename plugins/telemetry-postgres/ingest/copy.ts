import type { Connection, Submittable } from 'pg';

const copyData = 0x64;
const copyDone = 0x63;

/** `COPY … FROM STDIN` of text that is there already. Resolves when the server has taken all of it. */
export class CopyIn implements Submittable {
  readonly #statement: string;
  readonly #chunks: Iterable<string>;
  readonly #done = Promise.withResolvers<undefined>();
  #error: Error | undefined;

  constructor(statement: string, chunks: Iterable<string>) {
    this.#statement = statement;
    this.#chunks = chunks;
    this.#done.promise.catch(() => {});
  }

  get done(): Promise<undefined> {
    return this.#done.promise;
  }

  submit(connection: Connection): void {
    connection.query(this.#statement);
  }

  handleCopyInResponse({ stream }: Connection): void {
    for (const chunk of this.#chunks) stream.write(message(copyData, Buffer.from(chunk, 'utf8')));
    stream.write(message(copyDone, Buffer.alloc(0)));
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#error = error;
    this.#done.reject(error);
  }

  handleReadyForQuery(): void {
    if (this.#error === undefined) this.#done.resolve(undefined);
  }
}

function message(type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(type, 0);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
