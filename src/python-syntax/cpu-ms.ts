/** Milliseconds of processor time that `work` takes; for tests of linear time, since wall time says nothing on a busy machine. */
export function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
