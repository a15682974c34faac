import type { Dialog, ScreenFacts, Journal } from '../../core/profile/profile.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Shown } from '../../core/talk/question.ts'
import type { Loose } from '../shared/jsonl.ts'
import { defined } from '../../base/defined.ts'
import { ruledComposer, dialogOf, menuOf, paragraphAbove, trimmedScreen, unframed } from '../shared/screen-parts.ts'
import { threadOf } from '../shared/counted-thread.ts'
import { commandLine, option } from '../shared/command-words.ts'
import { join } from 'node:path'
import { usageOfRequests, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'

export const flags: Record<Leash, readonly string[]> = {
  read: ['--deny-tool=write', '--deny-tool=shell'],
  ask: [],
  edit: ['--allow-tool=write'],
  all: ['--allow-all'],
}

/** The rows above and below the composer; if Copilot knows the colours of the terminal, it draws a block instead. */
const rule = /^(?:─{20,}|[╻╹][▄▀]{20,})/

/** A framed menu with its keys, at the end of the screen. */
const asking = /^│\s+❯ \S[^]*^│ .*\b(?:enter to (?:select|submit|confirm)|esc to cancel)\b.*\n╰─+╯\s*(?![^])/im

/** Parses a permission dialog: its title, its content in an inner frame, and the question. */
function permission(rows: readonly string[], from: number): { text: string; shows: Shown[] } {
  const plain = unframed(rows)
  const top = rows.slice(0, from).findLastIndex((row) => /^╭─+╮/.test(row))
  const title = plain[top + 1]?.trim() ?? ''
  const question = paragraphAbove(plain, from)
  const said = plain.slice(top + 3, from)
  const body = said.slice(
    0,
    said.findLastIndex((row) => question.startsWith(row.trim()) && row.trim() !== ''),
  )
  const inner = body.filter((row) => row.startsWith('│ '))
  const text = (inner.length > 0 ? inner.map((row) => row.slice(2).replace(/\s*│$/, '')) : body).join('\n').trim()
  const command = /\brun this command\b/.test(question)
  const shows: Shown[] = text === '' ? [] : [command ? { type: 'command', command: text } : { type: 'text', text }]
  return { text: `${title}: ${question}`, shows }
}

// "Yes, and don't ask again for `touch` in this directory (/home/me/project)", "Yes, and remember this folder for future sessions"
const grants = (label: string) => /^Yes, and (.+)$/.exec(label)?.[1]

function dialog(screen: Screen): Dialog | undefined {
  const { rows } = trimmedScreen(screen)
  if (!asking.test(rows.join('\n'))) return undefined
  const plain = unframed(rows)
  const menu = menuOf(plain, '❯')
  if (!menu) return undefined
  const question = paragraphAbove(plain, menu.from)
  const by = { numbers: true, decline: ['Escape'], grants }
  if (/^Do you trust the files/.test(question))
    return dialogOf(menu, { about: 'trust', ...permission(rows, menu.from), ...by })
  if (/^(?:Do you want|Allow)\b/.test(question))
    return dialogOf(menu, { about: 'permission', ...permission(rows, menu.from), ...by })
  return dialogOf(menu, { about: 'choice', text: question, decline: ['Escape'] })
}

function composer(screen: Screen): string | undefined {
  return ruledComposer(screen, /^[❯┃]/, rule)
}

const dataOf = ({ data }: Loose) => loose(data)
const calls = (message: Loose) => listOf(message.toolRequests).length > 0

/** `~/.copilot/session-state/<session>/events.jsonl`: one line for each event. */
const copilotJournal: Journal = {
  folder: ({ home, env }) => join(env.COPILOT_HOME || join(home, '.copilot'), 'session-state'),
  file: /^[0-9a-f-]{36}\/events\.jsonl$/,
  prompt: (line) => (line.type === 'user.message' ? textOf(dataOf(line).content) : undefined),
  turn(since) {
    const of = (wanted: string) => since.filter(({ type }) => type === wanted).map(dataOf)
    const messages = of('assistant.message')
    const last = messages.at(-1)
    const answer = messages
      .slice(messages.findLastIndex(calls) + 1)
      .map(({ content }) => textOf(content) ?? '')
      .join('\n\n')
    const usage = usageOfRequests(
      of('session.usage_record')
        .map(({ usage }) => loose(usage))
        .map(({ inputTokens, outputTokens, cacheReadTokens }) => ({
          input: numberOf(inputTokens),
          output: numberOf(outputTokens),
          cached: numberOf(cacheReadTokens),
        })),
    )
    const error = textOf(of('session.error').at(-1)?.message)
    const ended = since.at(-1)?.type === 'assistant.turn_end' && last !== undefined && !calls(last)
    return defined({
      fault: error,
      answer: error === undefined && answer !== '' ? answer : undefined,
      usage,
      over: ended || error !== undefined || of('abort').length > 0,
    })
  },
}

/** GitHub Copilot CLI in a terminal. */
export const copilotScreen: ScreenFacts = {
  command: ({ leash, resume, model, thread }) =>
    commandLine(
      'copilot',
      ...flags[leash],
      option('--model', model),
      option('--resume=', resume && threadOf(resume).id),
      option('--session-id=', resume === undefined ? thread : undefined),
    ),
  leashes: {
    read: 'reads and searches in the project; no shell, no edits',
    ask: 'asks before it acts; what its own settings allow runs without a question',
    edit: 'edits files in the project without asking; asks before anything else',
    all: 'runs everything without asking, in every folder and on every address',
  },
  names: true,
  lends: ({ name, command, args, env }, file) => ({
    words: commandLine(option('--additional-mcp-config', `@${file}`), option('--allow-tool', name)),
    text: JSON.stringify({ mcpServers: { [name]: { type: 'local', command, args, env, tools: ['*'] } } }),
  }),
  env: { COPILOT_AUTO_UPDATE: 'false' },
  reader: {
    // " ○ Working esc esc edit prompt", right below the composer
    busy: /^(?:─{20,}|╹▀{20,})\n \S (?:Working|Thinking|Cancelling)\b/m,
    asking,
    // Below the composer: " ← open sidebar · Interactive · Manual Approval · / commands"
    idle: /^(?:─{20,}|╹▀{20,})\n (?:← open sidebar|Interactive) · /m,
  },
  dialog,
  composer,
  clear: ['Ctrl+C'],
  // One Escape does nothing; two return the prompt to the composer.
  interrupt: ['Ctrl+C'],
  // " ✗ Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401)."; a call that failed begins with the same mark.
  fault:
    /^ ✗ ((?:Authentication failed|Failed to get response|Model call failed|Sorry, |You['’]ve ).*(?:\n {3}\S.*)*)$/im,
  journal: copilotJournal,
  // "copilot --resume=8f829a22-12f9-4bbc-9ed5-8a8bdb6941df"
  farewell: /copilot --resume[= ]([0-9a-f-]{36})/,
  quit: ['Ctrl+C', 'Ctrl+C'],
}
