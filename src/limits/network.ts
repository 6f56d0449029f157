import { isIPv6 } from 'node:net';

export interface Network {
  /** What one customer has: an IPv4 address, an IPv6 /64. */
  readonly near: string;
  /** What one hoster's customer may easily have: an IPv4 /24, an IPv6 /48. */
  readonly wide: string;
}

/** By what a caller is counted: an IPv6 host has a whole /64 to call from. */
export function callerOf(address: string): string {
  return networkOf(address).near;
}

export function networkOf(address: string): Network {
  const plain = address.replace(/%.*$/, '');
  if (!isIPv6(plain)) return ofIPv4(plain.slice(0, 64));
  const groups = expanded(plain);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const pairs = groups.slice(6).map((group) => Number.parseInt(group, 16));
    const bytes = pairs.flatMap((pair) => [pair >> 8, pair & 255]);
    return ofIPv4(bytes.join('.'));
  }
  return { near: `${groups.slice(0, 4).join(':')}::/64`, wide: `${groups.slice(0, 3).join(':')}::/48` };
}

function ofIPv4(address: string): Network {
  return { near: address, wide: address.replace(/\.\d+$/, '') };
}

/** The eight groups, without leading zeros. */
function expanded(address: string): readonly string[] {
  const [head = '', tail] = address.replace(/:(\d+)\.(\d+)\.(\d+)\.(\d+)$/, lastGroups).split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const first = groups(head);
  const last = groups(tail ?? '');
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16).toString(16));
}

/** An IPv4 address at the end of an IPv6 one, as two of its groups. */
function lastGroups(_text: string, a: string, b: string, c: string, d: string): string {
  const group = (high: string, low: string): string => (Number(high) * 256 + Number(low)).toString(16);
  return `:${group(a, b)}:${group(c, d)}`;
}
