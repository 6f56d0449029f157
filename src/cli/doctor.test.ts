import { expect, it } from '@jest/globals';
import { findingsTable } from './doctor.ts';
import { createOutput } from './output.ts';

it('findings that quote another server cannot move the cursor, colour the screen or turn the text around', () => {
  const hostile = 'a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{202e}d\r';
  const findings = [{ check: 'sign-in', status: 'warn', detail: hostile, hint: `first\n${hostile}` }] as const;
  expect(findingsTable(findings, createOutput({ json: true }))).toMatch(
    /warn\S*  sign-in  abcd\n {15}first\n {15}abcd$/,
  );
});
