import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import type { Meter } from '@opentelemetry/api';

const nanoseconds = 1e9;
/** How often the event loop is looked at; what is measured begins with it. */
const resolutionMs = 10;

/** Event loop, memory and processor time of this process, by the conventions for processes, Node.js and V8. Answers how to end it. */
export function observeProcess(meter: Meter): () => void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  let before = performance.eventLoopUtilization();

  const delay = (name: string, which: string) =>
    meter.createObservableGauge(`nodejs.eventloop.delay.${name}`, {
      unit: 's',
      description: `Event loop delay since it was last collected, ${which}`,
    });
  const median = delay('p50', 'median');
  const p99 = delay('p99', '99th percentile');
  const longest = delay('max', 'longest');
  meter.addBatchObservableCallback(
    (result) => {
      const late = (measured: number): number =>
        delays.count === 0 ? 0 : Math.max(0, measured / nanoseconds - resolutionMs / 1_000);
      result.observe(median, late(delays.percentile(50)));
      result.observe(p99, late(delays.percentile(99)));
      result.observe(longest, late(delays.max));
      delays.reset();
    },
    [median, p99, longest],
  );
  meter
    .createObservableGauge('nodejs.eventloop.utilization', {
      unit: '1',
      description: 'Part of the time since it was last collected in which the event loop was busy',
    })
    .addCallback((result) => {
      const now = performance.eventLoopUtilization();
      result.observe(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    });
  meter
    .createObservableUpDownCounter('process.memory.usage', { unit: 'By', description: 'Resident memory' })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  const heap = (name: string, what: string) =>
    meter.createObservableUpDownCounter(`v8js.memory.heap.${name}`, {
      unit: 'By',
      description: `Of the heap, what ${what}`,
    });
  const used = heap('used', 'objects take, those that are garbage and not yet collected among them');
  const physical = heap('space.physical_size', 'is resident');
  meter.addBatchObservableCallback(
    (result) => {
      for (const space of getHeapSpaceStatistics()) {
        const name = { 'v8js.heap.space.name': space.space_name };
        result.observe(used, space.space_used_size, name);
        result.observe(physical, space.physical_space_size, name);
      }
    },
    [used, physical],
  );
  meter
    .createObservableCounter('process.cpu.time', { unit: 's', description: 'Processor time' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe(user / 1e6, { 'cpu.mode': 'user' });
      result.observe(system / 1e6, { 'cpu.mode': 'system' });
    });
  return () => delays.disable();
}
