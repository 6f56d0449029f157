import { describe, expect, it } from '@jest/globals';
import type { Actor, IncidentDocument } from '../contract/index.ts';
import { mergeDocument } from './document.ts';

const written = (markdown: string, kind: Actor['kind']): IncidentDocument => ({
  markdown,
  version: 1,
  author: { kind, id: 'x', name: 'x' },
  updatedAt: new Date(0),
});

describe('the findings in a document', () => {
  it('are the whole of it when there was none, or only earlier findings', () => {
    expect(mergeDocument(undefined, 'new')).toBe('new');
    expect(mergeDocument(written('old', 'agent'), 'new')).toBe('new');
  });

  it('stand beneath what a person wrote, and are replaced there', () => {
    const once = mergeDocument(written('# Ours\n', 'operator'), 'first');
    expect(once.startsWith('# Ours\n\n<!--')).toBe(true);
    const twice = mergeDocument(written(once, 'agent'), 'second');
    expect(twice).toBe(once.replace('first', 'second'));
  });
});
