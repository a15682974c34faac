import type { Dialog, ScreenFacts } from '../core/work/profile.ts'
import type { Screen } from '../core/screen/terminal.ts'
import type { Shown } from '../core/talk/question.ts'
import { codexJournal } from './codex-journal.ts'
import { flags, leashes, modes } from './codex-leash.ts'
import { beforeCursor } from './composer.ts'
import { threadOf } from './counted-thread.ts'
import { dialogOf, menuOf, paragraphAbove, trimmed } from './menu.ts'
import { quote } from './quote.ts'

/** A menu, and last of all the keys it takes: a prompt that begins with "1." looks like its first option. */
const asking = /^› \d+\. [^]*^ {2}(?:Press )?enter (?:to (?:confirm|submit|continue|select)|continue)\b.*\s*(?![^])/m

/** Its lines from the question down to the menu: why, and "$ " before a command. */
function permission(rows: readonly string[], top: number, from: number): { text: string; shows: Shown[] } {
  const said = rows.slice(top + 1, from)
  const at = said.findIndex((row) => row.startsWith('  $ '))
  const words = said
    .slice(0, at < 0 ? undefined : at)
    .map((row) => row.trim())
    .filter((row) => row !== '' && row !== 'Environment: local')
  const command = said
    .slice(at)
    .map((row, index) => row.slice(index === 0 ? 4 : 2))
    .join('\n')
    .trim()
  const text = [rows[top]!.trim(), ...words].join(' ')
  return { text, shows: at < 0 ? change(rows.slice(0, top)) : [{ type: 'command', command }] }
}

/** An edit stands above its question: "• Added new.txt (+2 -0)", and the lines that it changes. */
function change(above: readonly string[]): Shown[] {
  const from = above.findLastIndex((row) => /^• (?:Added|Edited|Deleted) /.test(row))
  const lines = from < 0 ? [] : above.slice(from)
  const to = lines.findIndex((row) => row.trim() === '' || row.trim() === '+ Show details')
  const text = lines
    .slice(0, to < 0 ? undefined : to)
    .map((row, index) => row.slice(index === 0 ? 2 : 4))
    .join('\n')
  return text === '' ? [] : [{ type: 'text', text }]
}

// "Yes, and don't ask again for commands that start with `touch`"
const grants = (label: string) => /^Yes, and (don't ask again .+)$/.exec(label)?.[1]

function dialog(screen: Screen): Dialog | undefined {
  const { rows } = trimmed(screen)
  const menu = asking.test(rows.join('\n')) ? menuOf(rows, '›') : undefined
  if (!menu) return undefined
  const decline = ['Escape']
  const top = rows.slice(0, menu.from).findLastIndex((row) => row.startsWith('  Would you like to '))
  if (top >= 0)
    return dialogOf(menu, { about: 'permission', ...permission(rows, top, menu.from), numbers: true, decline, grants })
  const text = paragraphAbove(rows, menu.from)
  // "Trust this folder? Codex can read, edit, and run files here": a number moves the pointer and takes nothing.
  if (text.startsWith('Trust this folder?')) return dialogOf(menu, { about: 'trust', text, decline })
  const login = /sign in|log in/i.test(text)
  return dialogOf(menu, { about: login ? 'login' : 'choice', text, decline })
}

function composer(screen: Screen): string | undefined {
  const { rows } = screen
  const from = rows.findLastIndex((row) => row.startsWith('›'))
  if (from < 0 || asking.test(rows.join('\n'))) return undefined
  const below = rows.findIndex((row, at) => at > Math.max(from, screen.cursor.row) && row.trim() === '')
  const to = below < 0 ? rows.length : below
  return beforeCursor(screen, { from, to, margin: 2, placeholder: 'Ask Codex to do anything' })
}

/** Codex in a terminal; without its daemon, which would outlive it. */
export const codexScreen: ScreenFacts = {
  command: ({ leash, resume, model }) =>
    [
      'codex',
      ...(resume === undefined ? [] : [`resume ${quote(threadOf(resume).id)}`]),
      `--no-daemon ${flags(modes[leash])}`,
      ...(model === undefined ? [] : [`-m ${quote(model)}`]),
    ].join(' '),
  leashes,
  // Its values are TOML, of which JSON's texts and lists are a part.
  lends: ({ name, command, args, env }) => ({
    words: [
      ['command', JSON.stringify(command)],
      ['args', JSON.stringify(args)],
      ...Object.entries(env).map(([key, value]) => [`env.${key}`, JSON.stringify(value)]),
    ]
      .map(([key, value]) => `-c ${quote(`mcp_servers.${name}.${key}=${value}`)}`)
      .join(' '),
  }),
  reader: {
    // "◦ Working (1s • esc to interrupt)"
    busy: /^[•◦] .*\besc to interrupt\)/m,
    asking,
    // "› Ask Codex to do anything", and its footer: a prompt that was sent is drawn alike, and so is a menu by half.
    idle: /^› (?!\d+\. ).*\n(?: {2}.*\n)*? {2}(?:\S.* · [~/]|\? for shortcuts)/m,
    // "  mock-model default · ~/project": before it has that, its composer is there, and it may still ask whether the folder is trusted.
    ready: /^› .*\n *\n {2}(?!\? for shortcuts)\S/m,
  },
  dialog,
  composer,
  clear: ['Ctrl+C'],
  interrupt: ['Escape'],
  // "■ exceeded retry limit, last status: 429 Too Many Requests"
  fault: /^■ (?!Conversation interrupted)(.*(?:\n.*\S.*)*)$/m,
  journal: codexJournal,
  // "  codex resume 01a1de7e-3ac9-7781-b576-e1d0c7b50b6c"
  farewell: /\bcodex resume ([0-9a-f-]{36})\b/,
  quit: ['Ctrl+C'],
}
