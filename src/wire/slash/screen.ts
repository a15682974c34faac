import type { Command } from '../../core/talk/command.ts'

/** What is done to the screen alone. */
export const screenCommands: readonly Command[] = [
  {
    name: 'help',
    words: '[word]',
    help: 'Every command, to search and to run.',
    matters: true,
    run: async (args, { screen }) => screen.palette(args),
  },
  {
    name: 'exit',
    help: 'Leave; the conversation is kept.',
    matters: true,
    run: async (_args, { screen }) => screen.exit(),
  },
  {
    name: 'cls',
    help: 'Clear the screen; nothing kept is touched.',
    run: async (_args, { screen }) => screen.clear(),
  },
]
