type Undo = () => Promise<void> | void;

/** What Ctrl-C, `kill` and a closed terminal send, with what a shell says of who died of it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const undone: Undo[] = [];
let interrupted = false;

/**
 * `undo` runs when this process is interrupted, the latest first, and then the process exits with the signal's code. Gives the way to take it back
 * once there is nothing to undo.
 */
export function onInterrupt(undo: Undo): () => void {
  if (undone.length === 0) for (const signal of signals()) process.on(signal, interrupt);
  undone.push(undo);
  return () => {
    const at = undone.indexOf(undo);
    if (at === -1 || interrupted) return;
    undone.splice(at, 1);
    if (undone.length === 0) for (const signal of signals()) process.off(signal, interrupt);
  };
}

/** The work that is interrupted goes on meanwhile: what it would start from now on, it must not. */
export function refuseWhenInterrupted(): void {
  if (interrupted) throw new Error('this process was interrupted');
}

function signals() {
  return Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[];
}

function interrupt(signal: keyof typeof EXIT_CODES): void {
  // Ctrl-C comes from the terminal and from npm.
  if (interrupted) return;
  interrupted = true;
  // The work fails as what it needs goes away; how it fails is no news, and must not end this process before it is done here.
  process.on('uncaughtException', () => undefined);
  process.stderr.write('Interrupted: ending what was started …\n');
  void undoAll().then(() => process.exit(EXIT_CODES[signal]));
}

async function undoAll(): Promise<void> {
  for (const undo of undone.toReversed()) {
    try {
      await undo();
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
    }
  }
}
