import { setFlagsFromString } from 'node:v8';

/**
 * V8 lets what has grown old take four times the room of what lives before it looks which of it is garbage. Of a gateway the
 * caches live, and each token and answer in them that another takes the place of is garbage: half as much again is room enough.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
