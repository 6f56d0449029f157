import { describe, expect, it } from '@jest/globals';
import type { Conclusion, WaitingOn } from '../../contract/storage/index.ts';
import { waitsOn, type Work } from './waiting.ts';

const since = new Date(0);
const conclusion = (confidence: Conclusion['confidence']): Conclusion => ({
  root_cause: '',
  category: '',
  service: '',
  confidence,
  claims: [],
});
const found: Work = { status: 'completed', conclusion: conclusion('high') };
const answered: Work = { status: 'completed' };
const waits = (works: readonly Work[], waitingOn: WaitingOn = { party: 'agent', since }, assignee?: string) =>
  waitsOn({ waitingOn, ...(assignee !== undefined && { assignee }) }, works);

describe('whom an incident waits on', () => {
  it.each<[string, readonly Work[], string, string]>([
    ['while one of its investigations works', [found, { status: 'running' }], 'agent', 'Investigating'],
    [
      'while one waits for its turn',
      [{ status: 'queued' }, { status: 'waiting', question: 'Which?' }],
      'agent',
      'Investigating',
    ],
    ['when the agent asked', [found, { status: 'waiting', question: 'Which\nregion?' }], 'human', 'Which region?'],
    ['when it found something', [found], 'human', 'Review the findings and decide on the next step'],
    ['when it then only answered', [answered, found], 'human', 'Review the findings and decide on the next step'],
    [
      'when it found nothing',
      [{ status: 'completed', conclusion: conclusion('none') }],
      'human',
      'Nothing was found: decide whether to close it',
    ],
    ['when it failed', [{ status: 'failed' }, found], 'human', 'The investigation failed: decide whether to ask again'],
    [
      'when it was cancelled',
      [{ status: 'cancelled' }],
      'human',
      'The investigation was cancelled: decide on the next step',
    ],
    [
      'when it was cancelled after findings',
      [{ status: 'cancelled' }, found],
      'human',
      'Review the findings and decide on the next step',
    ],
  ])('%s', (_when, works, party, reason) => {
    expect(waits(works)).toEqual({ party, reason });
  });

  it('is who was asked, else who cares for it', () => {
    const asks: Work = { status: 'waiting', question: 'Which?', asked: 'ada@example.org' };
    expect(waits([asks], undefined, 'bob@example.org').name).toBe('ada@example.org');
    expect(waits([{ ...asks, asked: undefined }], undefined, 'bob@example.org').name).toBe('bob@example.org');
    expect(waits([found], undefined, 'bob@example.org').name).toBe('bob@example.org');
  });

  it('is somebody outside for as long as a person has named them', () => {
    const vendor: WaitingOn = { party: 'external', name: 'Stripe', since };
    for (const works of [[], [found], [{ status: 'running' } as const]]) expect(waits(works, vendor)).toEqual(vendor);
  });
});
