import type { TimeReach } from '../contract/index.ts';
import type { Output } from './output.ts';
import type { Name, Select, Source } from './tree.ts';

export function reachOf(_output: Output, _select: Select, _source: Source, _name: Name): TimeReach {
  return {};
}
