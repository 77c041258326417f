import type { Command } from 'commander';
import { suggest } from '../problems/suggest.ts';
import { UserError } from './user-error.ts';

/**
 * Refuses a name that is no command, also before a `--help`, to which commander would answer with the help of the group. `list` and the
 * like, which belong to `sweep`, are sent there.
 */
export function refuseUnknownCommand(program: Command, argv: readonly string[]): void {
  let group = program;
  for (const name of argv) {
    // No option of a group takes a value.
    if (name.startsWith('-')) continue;
    const names = commandNames(group);
    if (names.length === 0 || name === 'help') return;
    const next = group.commands.find((command) => command.name() === name);
    if (next === undefined) {
      const inSweep = group === program && commandNames(find(program, 'sweep')).includes(name);
      const meant = inSweep ? `\`sweep ${name}\`` : suggest(name, names);
      throw new UserError({
        message: `Unknown command '${name}'`,
        remedy: meant === undefined ? `Commands are ${names.join(', ')}` : `Did you mean ${meant}?`,
        exitCode: 2,
      });
    }
    group = next;
  }
}

function find(program: Command, name: string): Command | undefined {
  return program.commands.find((command) => command.name() === name);
}

function commandNames(group: Command | undefined): string[] {
  return (group?.commands ?? []).map((command) => command.name());
}
