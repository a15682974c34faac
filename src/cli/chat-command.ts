import type { CliCommand } from './arguments/cli-command.ts'
import { turnFlags } from './arguments/turn-flags.ts'
import { run } from './commands/prompt.ts'

/** `termaite` without a command: the chat, or one turn. Its code is part of the start, because most runs are turns. */
export const chatCommand: CliCommand = {
  name: 'termaite',
  words: '[prompt…]',
  summary: 'One terminal for every coding agent you have: one conversation per project that never stops.',
  flags: turnFlags,
  examples: [
    'termaite',
    'termaite "why does the build fail?" -a claude',
    'termaite -p "why does the build fail?"',
    'git diff | termaite -p "review this"',
    'termaite -p - --output-format json < prompt.txt',
  ],
  load: async () => ({ run }),
}
