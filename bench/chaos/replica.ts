import { startOne, type GatewayOptions, type RunningGateway } from '../../test/support/gateway.ts';

/** One of the gateways, through all its lives. */
export class Replica {
  readonly number: number;
  readonly dataDirectory: string;
  readonly #options: GatewayOptions;
  #running: RunningGateway | undefined;
  #leaving = false;
  #said = '';

  constructor(number: number, dataDirectory: string, options: GatewayOptions) {
    this.number = number;
    this.dataDirectory = dataDirectory;
    this.#options = options;
  }

  /** Where it listens; undefined while it does not run. */
  get url(): string | undefined {
    return this.#running?.url;
  }

  get pid(): number | undefined {
    return this.#running?.process.pid;
  }

  /** Whether it was told to end, or has ended. Whoever asks it past the front finds that out by being refused. */
  get leaving(): boolean {
    return this.#leaving || this.#running === undefined;
  }

  /** Why it will not serve any more; undefined while nothing is known against it. */
  get ended(): string | undefined {
    const { exitCode, signalCode } = this.#running?.process ?? { exitCode: null, signalCode: null };
    return exitCode === null && signalCode === null ? undefined : `ended with ${String(exitCode ?? signalCode)}`;
  }

  /** Its log, of all its lives. */
  get output(): string {
    return this.#said + (this.#running?.output() ?? '');
  }

  async start(): Promise<void> {
    this.#running = await startOne(this.dataDirectory, this.#options);
    this.#leaving = false;
  }

  /** SIGTERM; answers the exit code. Requests are taken until it refuses them. */
  async stop(): Promise<number | null> {
    this.#leaving = true;
    const code = (await this.#running?.stop()) ?? null;
    this.#forget();
    return code;
  }

  async kill(): Promise<void> {
    await this.#running?.kill();
    this.#forget();
  }

  freeze(): void {
    this.#running?.process.kill('SIGSTOP');
  }

  thaw(): void {
    this.#running?.process.kill('SIGCONT');
  }

  /** For the way out, where nothing can be waited for. */
  killNow(): void {
    this.#running?.process.kill('SIGKILL');
  }

  #forget(): void {
    this.#said = this.output;
    this.#running = undefined;
  }
}
