export const product = { name: 'sightline', title: 'Sightline', version: '0.1.0' } as const;
