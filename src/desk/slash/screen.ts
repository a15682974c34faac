import type { Command } from '../../core/talk/command.ts'

/** Commands that change only the screen. */
export const screenCommands: readonly Command[] = [
  {
    name: 'help',
    screen: true,
    words: '[word]',
    help: 'Search all commands and run one.',
    matters: true,
    run: async (args, { screen }) => screen.palette(args),
  },
  {
    name: 'keys',
    screen: true,
    help: 'Show every key and what it does.',
    matters: true,
    run: async (_args, { screen }) => screen.keys(),
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
    help: 'Clear the screen; the conversation stays.',
    run: async (_args, { screen }) => screen.clear(),
  },
]
