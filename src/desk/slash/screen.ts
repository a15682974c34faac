import type { Command, CommandWorld } from '../../core/talk/command.ts'

/** Shows a page, or what was found in the pages; a word that is no topic searches the commands. */
async function showHelp(args: string, { screen, say }: CommandWorld, names: readonly string[]): Promise<void> {
  const words = args.split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) return screen.palette('')
  const [{ helpPages }, { findHelp, narrowedText }] = await Promise.all([
    import('../../app/help/help-pages.ts'),
    import('../../app/help/help-search.ts'),
  ])
  const found = findHelp(helpPages(), words)
  if (found.type === 'page') return say(found.page.text, 'text')
  const isCommand = words.length === 1 && names.some((name) => name.includes(words[0]!.toLowerCase()))
  if (found.type === 'nothing' || isCommand) return screen.palette(args)
  const { best, others } = found
  const more = [...new Set([best, ...others].map(({ page }) => `\`/help ${page.name}\``))].join(', ')
  say(`${narrowedText(best, words)}\n\nWhole pages: ${more}`, 'text')
}

/** Commands that change only the screen; `names` are those of all commands. */
export const screenCommands = (names: () => readonly string[]): readonly Command[] => [
  {
    name: 'help',
    screen: true,
    words: '[topic]',
    help: 'Find a command, or read a page.',
    matters: true,
    run: (args, world) => showHelp(args, world, names()),
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
