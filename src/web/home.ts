/** Where a person who is signed in begins. */
export const home = '/incidents';
