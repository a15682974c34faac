import type { Dialog, ScreenFacts } from '../core/work/profile.ts'
import type { Screen } from '../core/screen/terminal.ts'
import type { Shown } from '../core/talk/question.ts'
import { claudeJournal } from './claude-journal.ts'
import { flags, leashes } from './claude-leash.ts'
import { ruledComposer } from './composer.ts'
import { dialogOf, menuOf, paragraphAbove, trimmed } from './menu.ts'
import { quote } from './quote.ts'

const rule = /^─{20,}/
const dashes = /^╌{20,}/

/** A menu, and below it, last of all, the keys it takes. */
const asking = /^ *❯ \S[^]*^ *(?:Enter to (?:confirm|select)|Esc to cancel)\b.*\s*(?![^])/m

/** What it draws around a question: its title, what it says, and between dashes what it is about. */
function permission(rows: readonly string[], question: number): { text: string; shows: Shown[] } {
  const top = rows.slice(0, question).findLastIndex((row) => rule.test(row))
  const said = rows.slice(top + 1, question)
  const cut = said.findIndex((row) => dashes.test(row))
  const end = said.findLastIndex((row) => dashes.test(row))
  const [title = '', ...more] = said.slice(0, cut < 0 ? undefined : cut).map((row) => row.trim())
  // "Tip: auto mode handles these prompts for you": it sells, and may take two rows.
  const tip = more.findIndex((row) => row.startsWith('Tip: '))
  const words = tip < 0 ? more : [...more.slice(0, tip), ...more.slice(tip + (more[tip + 1] === 'below' ? 2 : 1))]
  const body = said
    .slice(cut + 1, end)
    .map((row) => row.replace(/^ /, ''))
    .join('\n')
  const about = words.filter((row) => row !== '').join(' ')
  const shows: Shown[] =
    cut < 0 || cut === end
      ? []
      : [title === 'Bash command' ? { type: 'command', command: body } : { type: 'text', text: body }]
  return { text: `${title}${about === '' ? '' : ` (${about})`}: ${rows[question]!.trim()}`, shows }
}

// "Yes, and always allow access to /tmp/a from this project", "Yes, and don't ask again for: touch *"
const grants = (label: string) => /^Yes, and (.+)$/.exec(label)?.[1]

function dialog(screen: Screen): Dialog | undefined {
  const { rows } = trimmed(screen)
  const menu = asking.test(rows.join('\n')) ? menuOf(rows, '❯') : undefined
  if (!menu) return undefined
  const question = rows.slice(0, menu.from).findLastIndex((row) => /^ Do you want to .*\?$/.test(row))
  if (question >= 0 && menu.from - question <= 2)
    return dialogOf(menu, {
      about: 'permission',
      ...permission(rows, question),
      numbers: true,
      decline: ['Escape'],
      grants,
    })
  const top = rows.slice(0, menu.from).findLastIndex((row) => rule.test(row))
  const said = rows.slice(top + 1, menu.from)
  const whole = said.map((row) => row.trim()).filter((row) => row !== '')
  // "Accessing workspace: /home/me/project Quick safety check: Is this a project you created or one you trust? …", and a link
  if (whole[0] === 'Accessing workspace:')
    return dialogOf(menu, {
      about: 'trust',
      text: whole.join(' ').replace(/ Security guide$/, ''),
      decline: ['Escape'],
    })
  // " ☐ Colour", "Which colour?", and an option for words of one's own, which no key alone can give.
  if (/^[☐☒✔] /.test(whole[0] ?? '')) {
    const options = menu.options.filter(({ label }) => label !== 'Type something.')
    const text = whole.slice(1).join(' ')
    return dialogOf({ ...menu, options }, { about: 'choice', text, numbers: true, decline: ['Escape'] })
  }
  // "Detected a custom API key in your environment"
  const login = /API key|Select login method/.test(whole.join(' '))
  return dialogOf(menu, {
    about: login ? 'login' : 'choice',
    text: login ? whole.join(' ') : paragraphAbove(rows, menu.from),
    decline: ['Escape'],
  })
}

function composer(screen: Screen): string | undefined {
  return asking.test(screen.rows.join('\n')) ? undefined : ruledComposer(screen, /^❯/, rule)
}

/** Claude Code in a terminal. */
export const claudeScreen: ScreenFacts = {
  command: ({ leash, resume, model, thread }) =>
    [
      `claude ${flags[leash]}`,
      ...(model === undefined ? [] : [`--model ${quote(model)}`]),
      ...(resume === undefined ? [] : [`--resume ${quote(resume)}`]),
      ...(resume === undefined && thread !== undefined ? [`--session-id ${quote(thread)}`] : []),
    ].join(' '),
  leashes,
  names: true,
  lends: ({ name, ...start }, file) => ({
    words: `--mcp-config ${quote(file)} --allowedTools mcp__${name}`,
    text: JSON.stringify({ mcpServers: { [name]: { type: 'stdio', ...start } } }),
  }),
  env: {
    CLAUDE_CODE_MAX_RETRIES: '1',
    // Outside the alternate screen what scrolled off can be read again.
    CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN: '1',
    CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY: '1',
    // A suggestion stands in the composer as if somebody had typed it, and costs a request.
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
    DISABLE_AUTOUPDATER: '1',
  },
  reader: {
    // "✢ Reticulating…", "* Reticulating… (21s)"; after a paste the footer says "paste again to expand" in place of "esc to interrupt".
    busy: /^[·✢✳✶✻✽*] .*…|^─{20,}\n {2}.*\besc to interrupt\b/m,
    asking,
    // The composer, or its footer: "⏸ manual mode on · ? for shortcuts", "⏵⏵ accept edits on (shift+tab to cycle)"
    idle: /^─{20,}.*\n❯[\s\u00a0]|^─{20,}\n {2}(?:⏸|⏵⏵|\? for shortcuts|paste again to expand)/m,
  },
  dialog,
  composer,
  clear: ['Ctrl+C'],
  interrupt: ['Escape'],
  // "● API Error: Request rejected (429) · …", "  ⎿  Invalid API key · Fix external API key"
  fault:
    /^(?:●| {2}⎿)[ \u00a0]+((?:API Error: |You['’]ve hit your |Credit balance is too low|Prompt is too long|Invalid API key|Not logged in|OAuth token).*(?:\n {2}\S.*)*)$/m,
  journal: claudeJournal,
  // "claude --permission-mode default --resume 0b0e7a9c-1111-4222-8333-444455556666"
  farewell: /^claude .*--resume ([0-9a-f-]{36})$/m,
  quit: ['Ctrl+C', 'Ctrl+C'],
}
