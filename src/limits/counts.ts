/** Numbers by name, and their sum. A name whose number is 0 again is forgotten. */
export class Counts {
  readonly #of = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(name: string): number {
    return this.#of.get(name) ?? 0;
  }

  add(name: string, by: number): void {
    this.#total += by;
    const count = this.of(name) + by;
    if (count === 0) this.#of.delete(name);
    else this.#of.set(name, count);
  }
}
