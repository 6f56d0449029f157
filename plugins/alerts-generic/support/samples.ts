export const firing = {
  title: 'Disk of db-1 is 95 % full',
  status: 'firing',
  severity: 'warning',
  fingerprint: 'disk-db-1',
  starts_at: '2026-03-01T12:00:00Z',
  services: ['checkout'],
  environment: 'production',
  labels: { host: 'db-1', volume: 3, raid: true },
  url: 'https://example.com/disks/db-1',
  description: 'It grows by 2 % an hour.\nLook at the log volume.',
  group: 'disks',
};

export const resolved = { ...firing, status: 'resolved', ends_at: '2026-03-01T12:20:00+00:00' };

export const several = {
  alerts: [
    { title: 'Backup is late', severity: 'P3' },
    { title: 'Queue is long', status: 'acknowledged', labels: { queue: 'mail' } },
    { title: 'Backup is late', severity: 'P3', labels: { host: 'db-2' } },
  ],
};
