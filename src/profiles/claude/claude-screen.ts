import type { Dialog, ScreenFacts, Journal } from '../../core/profile/profile.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Shown } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Loose } from '../shared/jsonl.ts'
import { defined } from '../../base/defined.ts'
import { ruledComposer, dialogOf, menuOf, paragraphAbove, trimmedScreen } from '../shared/screen-parts.ts'
import { commandLine, option } from '../shared/command-words.ts'
import { join } from 'node:path'
import { usageOfRequests, contentText, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'

const looking = 'Read,Glob,Grep,WebFetch,WebSearch'
const acting = 'Bash,Edit,Write,NotebookEdit,Read,Glob,Grep,WebFetch,WebSearch,Agent,Skill'

/** Plan mode runs everything that a user's rules allow, so only the list of tools limits Claude Code to reading. */
export const flags: Record<Leash, string> = {
  read: `--permission-mode dontAsk --tools ${looking} --strict-mcp-config`,
  ask: '--permission-mode default',
  edit: '--permission-mode acceptEdits',
  all: `$([ "$(id -u)" -ne 0 ] && echo --dangerously-skip-permissions || echo --permission-mode acceptEdits --allowedTools ${acting})`,
}

/**
 * Plan mode with the tools of the leash `read`. Claude Code writes its plans into files of its own with the tool that changes every other file
 * too, so it gets no such tool. `AskUserQuestion` is removed again if nobody can answer.
 */
export const planFlags = `--permission-mode plan --tools ${looking},ExitPlanMode,AskUserQuestion --strict-mcp-config`

/** The meaning of each leash for Claude Code, as text. */
export const leashes: Record<Leash, string> = {
  read: 'reads and searches; no shell, no edits, no MCP servers',
  ask: 'asks before it acts; what its own settings allow runs without a question',
  edit: 'edits, creates, moves and removes files in the project without asking; asks before anything else',
  all: 'runs everything without asking; as root it refuses that and still asks before MCP tools',
}

const rule = /^─{20,}/
const dashes = /^╌{20,}/

/** A menu with its keys in the last row of the screen. */
const asking = /^ *❯ \S[^]*^ *(?:Enter to (?:confirm|select)|Esc to cancel)\b.*\s*(?![^])/m

/** Parses a permission dialog: its title, its text, and the content between dashed lines. */
function permission(rows: readonly string[], question: number): { text: string; shows: Shown[] } {
  const top = rows.slice(0, question).findLastIndex((row) => rule.test(row))
  const said = rows.slice(top + 1, question)
  const cut = said.findIndex((row) => dashes.test(row))
  const end = said.findLastIndex((row) => dashes.test(row))
  const [title = '', ...more] = said.slice(0, cut < 0 ? undefined : cut).map((row) => row.trim())
  // "Tip: auto mode handles these prompts for you": an advertisement, which may take two rows.
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
const grants = (label: string) =>
  /^Yes, and (.+)$/.exec(label)?.[1]?.replace(/ for this session$/, ' until Claude Code ends in its terminal')

function dialog(screen: Screen): Dialog | undefined {
  const { rows } = trimmedScreen(screen)
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
      grants: (label) => (label.startsWith('Yes') ? 'this folder; Claude Code remembers it' : undefined),
    })
  // " ☐ Colour", "Which colour?", and an option for a free answer, which no single key can give.
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
    grants: (label) => (login && label.startsWith('Yes') ? 'this key; Claude Code remembers it' : undefined),
  })
}

function composer(screen: Screen): string | undefined {
  return asking.test(screen.rows.join('\n')) ? undefined : ruledComposer(screen, /^❯/, rule)
}

const textsOf = (content: unknown) =>
  listOf(content).flatMap(({ type, text }) => (type === 'text' ? [textOf(text) ?? ''] : []))

// "[Request interrupted by user for tool use]"
const isInterruption = (text: string) => text.startsWith('[Request interrupted')

/** Claude Code writes one line for each block of a message, all with the same id and usage. */
function usageOf(messages: readonly Loose[]) {
  const byId = new Map(messages.map((message) => [message.id, loose(message.usage)]))
  return usageOfRequests(
    [...byId.values()].map((usage) => {
      const cached = numberOf(usage.cache_read_input_tokens)
      const input = numberOf(usage.input_tokens) + numberOf(usage.cache_creation_input_tokens) + cached
      return { input, output: numberOf(usage.output_tokens), cached }
    }),
  )
}

/** `~/.claude/projects/<folder as a name>/<session>.jsonl`: one line for each event. */
const claudeJournal: Journal = {
  folder: ({ home, cwd, env }) => {
    const projects = join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects')
    const name = cwd.replaceAll(/[^a-zA-Z0-9]/g, '-')
    // A longer name is cut and ends in a number that only Claude Code can compute.
    return name.length > 200 ? projects : join(projects, name)
  },
  file: /^(?:[^/]+\/)?[0-9a-f-]{36}\.jsonl$/,
  prompt({ type, message, isMeta, isSidechain }) {
    if (type !== 'user' || isMeta === true || isSidechain === true) return undefined
    const { content } = loose(message)
    // Results of tools and the note about an interruption have the same type.
    const isOwn = listOf(content).some((part) => part.type === 'tool_result') || textsOf(content).some(isInterruption)
    return isOwn ? undefined : contentText(content)
  },
  turn([prompt, ...after]) {
    const key = textOf(prompt!.sessionId)
    const own = after.filter(({ isSidechain }) => isSidechain !== true)
    const said = own.filter(({ type }) => type === 'assistant')
    const messages = said.map(({ message }) => loose(message))
    const lastCall = messages.findLastIndex(({ content }) => listOf(content).some(({ type }) => type === 'tool_use'))
    const answer = messages
      .slice(lastCall + 1)
      .flatMap(({ content }) => textsOf(content))
      .join('\n\n')
    const failed = said.at(-1)?.isApiErrorMessage === true
    const usage = usageOf(messages.filter(({ usage, model }) => usage !== undefined && model !== '<synthetic>'))
    const over = own.some(
      ({ type, subtype, message }) =>
        (type === 'system' && subtype === 'turn_duration') ||
        (type === 'user' && textsOf(loose(message).content).some(isInterruption)),
    )
    return defined({
      key,
      fault: failed ? answer : undefined,
      answer: failed || answer === '' ? undefined : answer,
      usage,
      over,
    })
  },
}

/**
 * The settings that give Claude Code an MCP server for one run. Without `timeout` a variable of the person's may end its calls sooner.
 */
const lends: ScreenFacts['lends'] = ({ name, command, env, patient, atOnce }, file) => {
  const start = { type: 'stdio', command, args: patient.args, env, timeout: patient.ms }
  return {
    words: commandLine(option('--mcp-config', file), option('--allowedTools', `mcp__${name}`)),
    text: JSON.stringify({ mcpServers: { [name]: { ...start, alwaysLoad: atOnce } } }),
  }
}

/** Claude Code in a terminal. */
export const claudeScreen: ScreenFacts = {
  command: ({ leash, resume, model, thread }) =>
    commandLine(
      `claude ${flags[leash]}`,
      option('--model', model),
      option('--resume', resume),
      option('--session-id', resume === undefined ? thread : undefined),
    ),
  leashes,
  names: true,
  lends,
  env: {
    CLAUDE_CODE_MAX_RETRIES: '1',
    // Outside the alternate screen, rows that scrolled away can still be read.
    CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN: '1',
    CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY: '1',
    // A suggestion in the composer looks like typed text, and costs a request.
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
