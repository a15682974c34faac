import type { HelpPage, HelpSection } from '../../people/help/help-pages.ts'
import type { Io } from '../../core/io.ts'
import type { Parsed, Program } from '../arguments/cli-command.ts'
import { helpPages } from '../../people/help/help-pages.ts'
import { findHelp, narrowedText, noHelpWords, pageNamed } from '../../people/help/help-search.ts'
import { print, UsageError } from '../../core/io.ts'
import { helpText, overview, twoColumns } from '../arguments/help.ts'
import { renderedPage } from '../../chat/rendered-page.ts'

export async function run(io: Io, { words }: Parsed, program: Program): Promise<number> {
  const pages = helpPages()
  if (words.length === 0) {
    print(io, topics(pages))
    return 0
  }
  const commands = await program.commands()
  const command = words.length === 1 ? commands.find(({ name }) => name === words[0]) : undefined
  if (command) {
    const page = pageNamed(pages, command.name)
    if (page) await show(io, `${page.text}\n`)
    print(io, helpText(command))
    return 0
  }
  if (words.length === 1 && words[0] === program.chat.name) {
    print(io, helpText(program.chat, overview(commands)))
    return 0
  }
  const found = findHelp(pages, words)
  if (found.type === 'page') await show(io, found.page.text)
  else if (found.type === 'section') await showSections(io, found, words)
  else throw new UsageError(`${noHelpWords(words.join(' '), found.near)} All topics: termaite help`)
  return 0
}

const show = async (io: Io, markdown: string) => {
  io.out.write(`${await renderedPage(markdown, io)}\n`)
}

async function showSections(
  io: Io,
  { best, others }: { best: HelpSection; others: readonly HelpSection[] },
  words: readonly string[],
): Promise<void> {
  await show(io, narrowedText(best, words))
  const rows = others.map(({ page, heading }): [string, string] => [`termaite help ${page.name}`, heading])
  print(io, `\nFrom the page ${best.page.name}: termaite help ${best.page.name}`)
  if (rows.length > 0) print(io, ['', 'Also found in:', ...twoColumns(rows)].join('\n'))
}

/** The list of all pages. */
function topics(pages: readonly HelpPage[]): string {
  const rows = (isReference: boolean) =>
    pages
      .filter((page) => page.isReference === isReference)
      .map(({ name, title, about }): [string, string] => [name, about ?? title])
  const part = (title: string, isReference: boolean) => {
    const list = rows(isReference)
    return list.length === 0 ? [] : [title, ...twoColumns(list), '']
  }
  return [
    'Usage: termaite help <topic>, or termaite help <words> to search all topics',
    '',
    ...part('Topics:', false),
    ...part('References:', true),
    'Commands and flags: termaite --help, and termaite <command> --help.',
  ].join('\n')
}
