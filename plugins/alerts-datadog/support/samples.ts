/** What the template becomes for one group of a metric monitor. */
export const triggered = {
  monitor_id: '148275309',
  cycle: '7716548234011200000',
  transition: 'Triggered',
  title: '[P2] [Triggered on {service:checkout,env:production}] Error rate of checkout',
  body: 'More than 5 % of the requests fail.\n\n@webhook-sightline\n\nMetric value: 0.08',
  priority: 'P2',
  type: 'error',
  query: 'avg(last_5m):sum:trace.http.request.errors{*} by {service,env} > 0.05',
  scope: 'env:production,service:checkout',
  tags: 'env:production,monitor,service:checkout,service:payment,team:shop',
  host: '',
  date: '1772367300000',
  url: 'https://app.datadoghq.com/event/event?id=7716548234011234567',
  organization: 'Acme',
};

export const renotified = {
  ...triggered,
  transition: 'Re-Triggered',
  date: '1772367600000',
};

export const recovered = {
  ...triggered,
  transition: 'Recovered',
  title: '[P2] [Recovered on {service:checkout,env:production}] Error rate of checkout',
  type: 'success',
  date: '1772367900000',
};

/** A monitor without a priority, of the whole fleet. */
export const warned = {
  ...triggered,
  cycle: '7716548234055550000',
  transition: 'Warn',
  title: '[Warn] Disks are filling',
  priority: '',
  type: 'warning',
  scope: '*',
  tags: 'monitor',
};

export const noData = {
  ...warned,
  cycle: '',
  transition: 'No Data',
  title: '[No Data on {host:db-1}] Disks are filling',
  type: 'error',
  scope: 'host:db-1',
  host: 'db-1',
};

/** What the button Test Notifications of a monitor sends, with variables that it has no value for. */
export const test = {
  ...warned,
  cycle: '$ALERT_CYCLE_KEY',
  transition: 'Triggered',
  title: '[TEST] [P3] [Triggered] Disks are filling',
  priority: 'P3',
  host: '$HOSTNAME',
  tags: 'null',
};
