/** What DateTime64(9) can hold, in microseconds since the epoch. */
const earliest = BigInt(Date.UTC(1900, 0, 1)) * 1_000n;
const latest = BigInt(Date.UTC(2262, 0, 1)) * 1_000n;

/** Microseconds since the epoch as the table holds them: what lies outside is the nearest that does not. */
export function storedTime(micros: bigint): string {
  const held = micros < earliest ? earliest : micros > latest ? latest : micros;
  const fraction = ((held % 1_000n) + 1_000n) % 1_000n;
  const whole = new Date(Number((held - fraction) / 1_000n)).toISOString();
  return `${whole.slice(0, -1)}${fraction.toString().padStart(3, '0')}Z`;
}
