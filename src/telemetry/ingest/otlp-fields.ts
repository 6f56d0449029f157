import type { Utf8Writer } from './text.ts';

/**
 * Members of `otlp_fields`: fields of OTLP that few records have and few ask for, by their OTLP names, as a JSON object of
 * strings. Hardly any record has one, so they are JavaScript strings here.
 */
export class OtlpFields {
  readonly #members: string[] = [];
  /** UTF-8 bytes, or fewer. */
  bytes = 0;

  get isEmpty(): boolean {
    return this.#members.length === 0;
  }

  clear(): void {
    this.#members.length = 0;
    this.bytes = 0;
  }

  text(name: string, value: string): void {
    if (value === '') return;
    const member = `"${name}":${JSON.stringify(value)}`;
    this.#members.push(member);
    this.bytes += member.length;
  }

  /** 0 is what OTLP leaves out. */
  count(name: string, value: number): void {
    if (value !== 0) this.text(name, String(value));
  }

  /** Numbers of the items of a list, in its order. */
  counts(name: string, values: readonly number[]): void {
    if (values.some((value) => value !== 0)) this.text(name, JSON.stringify(values));
  }

  /** `shared`: what stands before. */
  write(out: Utf8Writer, shared?: OtlpFields): void {
    const members = [...(shared === undefined ? [] : shared.#members), ...this.#members];
    const text = Buffer.from(`{${members.join(',')}}`);
    out.text(text, 0, text.length);
  }
}
