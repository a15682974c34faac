import type { Command, CommandWorld } from '../../../core/talk/command.ts'

/** Shows a page or search results, as `termaite help` does; the name of a command also shows the command. */
async function showHelp(args: string, { screen, say }: CommandWorld, commands: readonly Command[]): Promise<void> {
  const words = args.split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) return screen.palette('')
  const [{ helpPages }, { findHelp, narrowedText, noHelpWords }] = await Promise.all([
    import('../../../people/help/help-pages.ts'),
    import('../../../people/help/help-search.ts'),
  ])
  const asked = args.trim().toLowerCase().replace(/^\//, '')
  const command = commands.find(({ name }) => name === asked)
  const usage = command && `\`/${[command.name, command.words ?? ''].join(' ').trim()}\`: ${command.help}`
  const found = findHelp(helpPages(), command ? [command.name] : words)
  switch (found.type) {
    case 'page':
      return say([found.page.text, usage ?? ''].join('\n\n').trim(), 'text')
    case 'section': {
      const { best, others } = found
      const more = [...new Set([best, ...others].map(({ page }) => `\`/help ${page.name}\``))].join(', ')
      const parts = [narrowedText(best, words), usage ?? '', `Whole pages: ${more}`]
      return say(parts.filter((part) => part !== '').join('\n\n'), 'text')
    }
    case 'nothing':
      // The palette lists the commands whose name contains the word.
      if (commands.some(({ name }) => name.includes(asked))) return screen.palette(asked)
      return say(`${noHelpWords(args.trim(), found.near)} All commands: /help. All topics: termaite help.`, 'error')
  }
}

/** Commands that change only the screen; `all` are the commands of the desk. */
export const screenCommands = (all: () => readonly Command[]): readonly Command[] => [
  {
    name: 'help',
    screen: true,
    words: '[topic]',
    help: 'Find a command, or read a page.',
    matters: true,
    run: (args, world) => showHelp(args, world, all()),
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
