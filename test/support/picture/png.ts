import { crc32, deflateSync } from 'node:zlib';

const colors = 40;
/** The commonest colors, which are taken however alike they are. */
const surfaces = 8;
/** Square of the distance at which two colors are told apart. */
const apart = 500;

/** An indexed PNG of RGBA pixels: the commonest distinct colors, and for all others the nearest of them. */
export function indexedPng(rgba: Buffer, width: number, height: number): Buffer {
  const counts = new Map<number, number>();
  const pixel = (index: number): number => rgba.readUIntBE(index * 4, 3);
  for (let index = 0; index < width * height; index += 1) {
    counts.set(pixel(index), (counts.get(pixel(index)) ?? 0) + 1);
  }
  const palette: number[] = [];
  for (const [color] of [...counts].toSorted(([, a], [, b]) => b - a)) {
    const isDistinct = palette.length < surfaces || palette.every((other) => distance(color, other) > apart);
    if (isDistinct && palette.length < colors) palette.push(color);
  }
  const nearest = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const color = pixel(y * width + x);
      const index = nearest.get(color) ?? nearestOf(palette, color);
      nearest.set(color, index);
      rows[y * (width + 1) + 1 + x] = index;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // Eight bits a pixel, by palette.
  const plte = Buffer.concat(palette.map((color) => Buffer.from([color >> 16, (color >> 8) & 255, color & 255])));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(rows, { level: 9 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('PLTE', plte), chunk('IDAT', data), chunk('IEND')]);
}

function nearestOf(palette: readonly number[], color: number): number {
  const distances = palette.map((other) => distance(color, other));
  return distances.indexOf(Math.min(...distances));
}

function distance(one: number, other: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}
