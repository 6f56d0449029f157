/** Seeded pseudo-random numbers (sfc32): the same seed gives the same telemetry on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(seed: number, stream = 0) {
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 2 ** 32) >>> 0;
    this.#c = stream >>> 0;
    for (let i = 0; i < 16; i += 1) this.#next();
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#d) >>> 0;
    this.#d = (this.#d + 1) >>> 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) >>> 0;
    this.#c = (this.#c + sum) >>> 0;
    return sum;
  }

  /** In [0, 1). */
  unit(): number {
    return this.#next() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** In [low, high). */
  between(low: number, high: number): number {
    return low + (high - low) * this.unit();
  }

  /** An integer in [low, high]. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  normal(mean: number, deviation: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()));
    return mean + deviation * radius * Math.cos(2 * Math.PI * this.unit());
  }

  /** Around `median` with the long right tail that latencies have. */
  lognormal(median: number, sigma: number): number {
    return median * Math.exp(this.normal(0, sigma));
  }

  /** Arrivals in an interval that has `mean` of them on average. */
  poisson(mean: number): number {
    if (mean > 50) return Math.max(0, Math.round(this.normal(mean, Math.sqrt(mean))));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.unit(); product > limit; product *= this.unit()) count += 1;
    return count;
  }

  pick<const Items extends readonly [unknown, ...unknown[]]>(items: Items): Items[number] {
    return items[Math.floor(this.unit() * items.length)] ?? items[0];
  }

  /** Picks by weight. */
  weighted<Item>(items: readonly [readonly [Item, number], ...(readonly [Item, number])[]]): Item {
    let total = 0;
    for (const [, weight] of items) total += weight;
    let left = this.unit() * total;
    for (const [item, weight] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    return items[0][0];
  }

  /** A name, by the weights of all. */
  named<Weights extends Readonly<Record<string, number>>>(weights: Weights): Extract<keyof Weights, string> {
    const items: [Extract<keyof Weights, string>, number][] = [];
    for (const name in weights) items.push([name, weights[name] ?? 0]);
    const [first, ...rest] = items;
    if (first === undefined) throw new TypeError('there is no name');
    return this.weighted([first, ...rest]);
  }

  hex(bytes: number): string {
    let text = '';
    while (text.length < bytes * 2) text += this.#next().toString(16).padStart(8, '0');
    return text.slice(0, bytes * 2);
  }
}
