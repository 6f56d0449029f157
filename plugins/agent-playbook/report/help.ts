import { bullets } from './answer.ts';

/** What can be asked, for what was not understood. */
export const help = [
  'I did not read a question in that. You can ask on, for example:',
  bullets([
    '`only checkout` narrows to a service; `all services` widens again',
    '`what about yesterday`, `the hour before`, `since 14:00` or `now` moves the time',
    '`compare with yesterday` or `compare with 13:00 to 13:30` says what is usual',
    '`show me the traces`, `the logs` or `the SQL` shows examples of what was found, and `E3` one piece of evidence',
    '`why?` tells what the conclusion rests on',
    '`cancel` stops an investigation',
    'any other question about your services is investigated',
  ]),
].join('\n\n');
