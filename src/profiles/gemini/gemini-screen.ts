import type { Dialog, ScreenFacts, Journal, JournalLine } from '../../core/profile/profile.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Shown } from '../../core/talk/question.ts'
import type { Loose } from '../shared/jsonl.ts'
import { defined } from '../../base/defined.ts'
import { beforeCursor, dialogOf, menuOf, paragraphAbove, trimmedScreen, unframed } from '../shared/screen-parts.ts'
import { commandLine, option } from '../shared/command-words.ts'
import { join } from 'node:path'
import { usageOfRequests, contentText, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'

export const modes: Record<Leash, string> = { read: 'plan', ask: 'default', edit: 'auto_edit', all: 'yolo' }

/** A framed menu at the end of the screen. */
const asking = /^\s*│\s+● \S.*(?:\n\s*│.*)*\n\s*╰─+╯\s*(?![^])/m

/** Parses the frame of a call: its name, its content in an inner frame, and the question. */
function permission(rows: readonly string[], from: number): { text: string; shows: Shown[] } {
  const plain = unframed(rows)
  const question = plain[from - 2]!.trim()
  // "? Shell  touch made.txt"
  const top = rows.slice(0, from).findLastIndex((row) => /^\s*│\s\?\s/.test(row))
  const [, tool = '', words = ''] = /^\?\s+(\S+)\s*(.*)$/.exec((plain[top] ?? '').trim()) ?? []
  const inner = rows
    .slice(top + 1, from - 2)
    .filter((row) => /^\s*│\s+│/.test(row))
    .map((row) => row.replace(/^\s*│\s+│ ?/, '').replace(/\s*│\s+│\s*$/, ''))
    .join('\n')
  const shows: Shown[] =
    inner === '' ? [] : [tool === 'Shell' ? { type: 'command', command: inner } : { type: 'text', text: inner }]
  return { text: tool === 'Shell' || words === '' ? question : `${words}: ${question}`, shows }
}

// "Allow for this session", "Allow for all future sessions", "Trust folder (project)"
const grants = (label: string) => {
  const [, what] = /^Allow (for (?:this session|all future sessions).*)$/.exec(label) ?? []
  return what === 'for this session' ? `${what}: until Gemini CLI ends in its terminal` : what
}

function dialog(screen: Screen): Dialog | undefined {
  const { rows } = trimmedScreen(screen)
  if (!asking.test(rows.join('\n'))) return undefined
  const plain = unframed(rows)
  const menu = menuOf(plain, '●')
  if (!menu) return undefined
  const no = menu.options.find(({ label }) => label.startsWith("Don't trust"))
  const numbers = true
  // "Do you trust the files in this folder?": with "no" Gemini continues without trust, while Escape would end it.
  if (no) {
    const text = 'Do you trust the files in this folder? ' + paragraphAbove(plain, menu.from)
    const remembered = (label: string) => /^Trust (.+)$/.exec(label)?.[1]
    const grants = (label: string) => remembered(label) && `${remembered(label)}; Gemini CLI remembers it`
    return dialogOf(menu, { about: 'trust', text, numbers, decline: [no.id], grants })
  }
  if (menu.options.some(({ label }) => label === 'Allow once'))
    return dialogOf(menu, { about: 'permission', ...permission(rows, menu.from), numbers, decline: ['Escape'], grants })
  const text = paragraphAbove(plain, menu.from)
  const login = /authenticate/i.test(rows.slice(0, menu.from).slice(-12).join(' '))
  return dialogOf(menu, { about: login ? 'login' : 'choice', text, numbers, decline: ['Escape'] })
}

function composer(screen: Screen): string | undefined {
  const { rows } = screen
  const bottom = rows.findLastIndex((row) => /^▀{20,}/.test(row))
  const top = rows.slice(0, Math.max(bottom, 0)).findLastIndex((row) => /^▄{20,}/.test(row))
  return top < 0 || asking.test(rows.join('\n'))
    ? undefined
    : beforeCursor(screen, { from: top + 1, to: bottom, margin: 3, placeholder: 'Type your message or @path/to/file' })
}

/** Whether Gemini writes its whole history again after this line, including older turns. */
const breaks = ({ type, content }: Loose) =>
  type === 'error' || (type === 'info' && contentText(content).startsWith('Request cancelled'))

/**
 * `~/.gemini/tmp/<project>/chats/session-*.jsonl`. The file does not show the end of a turn, and lists a call only after it ran: the
 * screen shows both earlier.
 */
const geminiJournal: Journal = {
  folder: ({ home, env }) => join(env.GEMINI_CLI_HOME || home, '.gemini', 'tmp'),
  file: /^[^/]+\/chats\/session-[^/]+\.jsonl$/,
  // The file's name ends with the beginning of the key.
  holds: (path, key) => path.endsWith(`-${key.slice(0, 8)}.jsonl`),
  prompt({ type, content }) {
    const isAnswered = listOf(content).some(({ functionResponse }) => functionResponse !== undefined)
    const text = type === 'user' && !isAnswered ? contentText(content) : undefined
    // After such a line Gemini writes its own first messages again.
    return text?.startsWith('<session_context>\nThis is the Gemini CLI.') ? undefined : text
  },
  turn(since, before) {
    const end = since.findIndex(breaks)
    const broke = end < 0 ? undefined : since[end]
    // A message is written again under its id as it grows.
    const messages = new Map(since.slice(0, end < 0 ? undefined : end).map((line) => [line.id, line]))
    const said = [...messages.values()].filter(({ type }) => type === 'gemini')
    const lastCall = said.findLastIndex(({ toolCalls }) => listOf(toolCalls).length > 0)
    const answer = said
      .slice(lastCall + 1)
      .map(({ content }) => contentText(content))
      .filter((text) => text !== '')
      .join('\n\n')
    const usage = usageOfRequests(
      said
        .map(({ tokens }) => loose(tokens))
        .map(({ input, output, thoughts, cached }) => ({
          input: numberOf(input),
          output: numberOf(output) + numberOf(thoughts),
          cached: numberOf(cached),
        })),
    )
    // The first line names the session, if it is among the lines that we read.
    const key = sessionOf(before)
    const fault = broke?.type === 'error' ? contentText(broke.content) : undefined
    return defined({
      key,
      fault,
      answer: fault === undefined && answer !== '' ? answer : undefined,
      usage,
      over: broke ? true : undefined,
    })
  },
}

const sessionOf = ([first]: readonly JournalLine[]) => textOf(first?.sessionId)

/** Gemini CLI in a terminal. */
export const geminiScreen: ScreenFacts = {
  command: ({ leash, resume, model, thread }) =>
    commandLine(
      `gemini --approval-mode ${modes[leash]}`,
      option('-m', model),
      option('--resume', resume),
      option('--session-id', resume === undefined ? thread : undefined),
    ),
  leashes: {
    read: 'plan mode: reads and searches; writes nothing but its own plans',
    ask: 'asks before it acts; what its own settings allow runs without a question',
    edit: 'edits files without asking; asks before anything else',
    all: 'runs everything without asking',
  },
  names: true,
  reader: {
    // " ⠼ Thinking... (esc to cancel, 2s)"; "⠙ Resuming session... (Connecting to MCP servers... (1/1))", while a prompt would only be queued
    busy: /^ *[\u2800-\u28ff] (?:.*\(esc to cancel, \d|Resuming session\.\.\.)/m,
    asking,
    // " > Type your message or @path/to/file", with "*" in the mode that asks nothing; a prompt that was sent looks the same, without a
    // rule above and a footer below.
    idle: /^─{20,}\n.*\n▄{20,}\n [>*!] |^ [>*!] .*\n▀{20,}\n \S/m,
    // Gemini draws its composer on an empty screen before it checks whether the folder is trusted; its banner appears at the same time or
    // later.
    ready: /^(?! *\? for shortcuts) *\S.*\n(?:.*\n)*?─{20,}\n/m,
  },
  dialog,
  composer,
  clear: ['Ctrl+C'],
  interrupt: ['Escape'],
  // "✕ [API Error: API key not valid. Please pass a valid API key.]"
  fault: /^✕ (.*(?:\n {2}\S.*)*)$/m,
  journal: geminiJournal,
  // "To resume this session: gemini --resume 173835f8-25f4-401c-9d82-a6ddc6f1bff1", in a frame
  farewell: /gemini --resume[\s│]+([0-9a-f-]{36})/,
  quit: ['Ctrl+C', 'Ctrl+C'],
}
