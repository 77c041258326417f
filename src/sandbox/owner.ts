import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Labels by which a container can be traced to the process that needs it; the start time tells a process from a later one of the same number. */
export function ownerLabels(role: string): Record<string, string> {
  return {
    app: 'qualityflow',
    'qualityflow.role': role,
    'qualityflow.host': hostLabel(),
    'qualityflow.pid': String(process.pid),
    'qualityflow.started': startTime(process.pid) ?? '',
  };
}

/** Undefined when it cannot be told from here: another host, another pid namespace, or labels that are not ours. */
export function ownerIsAlive(labels: Record<string, string>): boolean | undefined {
  const pid = Number(labels['qualityflow.pid']);
  if (labels['qualityflow.host'] !== hostLabel() || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  const started = startTime(pid);
  return started === undefined || labels['qualityflow.started'] === '' || started === labels['qualityflow.started'];
}

function hostLabel(): string {
  let namespace = '';
  try {
    namespace = readlinkSync('/proc/self/ns/pid');
  } catch {
    // Not Linux: one pid namespace a host.
  }
  return `${hostname()} ${namespace}`.trim();
}

/** Ticks since boot at which the process started; the command's name before it may hold spaces and brackets. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
