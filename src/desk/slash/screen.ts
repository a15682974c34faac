import type { Command } from '../../core/talk/command.ts'

/** Commands that change only the screen. */
export const screenCommands: readonly Command[] = [
  {
    name: 'help',
    screen: true,
    words: '[word]',
    help: 'Every command, to search and to run.',
    matters: true,
    run: async (args, { screen }) => screen.palette(args),
  },
  {
    name: 'exit',
    screen: true,
    help: 'Leave; the conversation is kept.',
    matters: true,
    run: async (_args, { screen }) => screen.exit(),
  },
  {
    name: 'cls',
    screen: true,
    help: 'Clear the screen; nothing kept is touched.',
    run: async (_args, { screen }) => screen.clear(),
  },
]
