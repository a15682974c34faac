import type { Dialog, ScreenFacts, Journal } from '../../core/profile/profile.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Shown } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Loose } from '../shared/jsonl.ts'
import { defined } from '../../base/defined.ts'
import { ruledComposer, dialogOf, menuOf, paragraphAbove, trimmedScreen, unframed } from '../shared/screen-parts.ts'
import { commandLine, option } from '../shared/command-words.ts'
import { join } from 'node:path'
import { usageOfRequests, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'

/**
 * Tools that Qwen's modes run without asking, and that plan mode runs if a user's own rules allow them: only excluding a tool is safe.
 */
export const unasked = 'enter_worktree,exit_worktree,cron_create,cron_delete,record_artifact'
export const acting = `run_shell_command,edit,write_file,notebook_edit,agent,${unasked}`

export const modes: Record<Leash, string> = {
  read: `--approval-mode plan --exclude-tools ${acting}`,
  ask: `--approval-mode default --exclude-tools ${unasked}`,
  edit: `--approval-mode auto-edit --exclude-tools ${unasked}`,
  all: '--approval-mode yolo',
}

const rule = /^─{20,}/

/** A menu without a composer below it: the last row asks for an answer, or lists the keys. */
const asking =
  /^[ │]+› \S[^]*^[ │]+(?:[\u2800-\u28ff] Waiting for user confirmation|.*(?:Enter to select|Use Enter|Esc to cancel)).*(?:\n\s*╰─+╯)?\s*(?![^])/m

/** Parses a permission dialog: "? Shell touch made.txt (makes a file) ←", its content, and the question. */
function permission(rows: readonly string[], from: number): { text: string; shows: Shown[] } {
  const question = paragraphAbove(rows, from)
  const top = rows.slice(0, from).findLastIndex((row) => /^ {1,4}\? \S/.test(row))
  const [, tool = '', words = ''] = /^\s*\? (\S+) (.*?)(?: ←)?$/.exec(rows[top] ?? '') ?? []
  const body = rows
    .slice(top + 1, from - 2)
    .filter((row) => row.trim() !== '' && row.trim() !== question)
    .map((row) => row.replace(/^ {0,5}/, ''))
    .join('\n')
  const shows: Shown[] =
    top < 0 || body === '' ? [] : [tool === 'Shell' ? { type: 'command', command: body } : { type: 'text', text: body }]
  return { text: words === '' ? question : `${words}: ${question}`, shows }
}

// "Always allow run 'touch *' commands in this project", "Yes, allow always"
const grants = (label: string) => (/\balways\b/i.test(label) ? label : undefined)

function dialog(screen: Screen): Dialog | undefined {
  const { rows } = trimmedScreen(screen)
  if (!asking.test(rows.join('\n'))) return undefined
  const plain = unframed(rows)
  const menu = menuOf(plain, '›')
  if (!menu) return undefined
  const decline = ['Escape']
  if (menu.options.some(({ label }) => label.startsWith('Yes, allow once')))
    return dialogOf(menu, { about: 'permission', ...permission(plain, menu.from), numbers: true, decline, grants })
  const text = paragraphAbove(plain, menu.from)
  const login = /\bauth|\bsign in|API key/i.test(text)
  return dialogOf(menu, { about: login ? 'login' : 'choice', text, decline })
}

function composer(screen: Screen): string | undefined {
  return ruledComposer(screen, /^[>*!] /, rule, 'Type your message or @path/to/file')
}

const partsOf = ({ message }: Loose) => listOf(loose(message).parts)
const calls = (line: Loose) => partsOf(line).some(({ functionCall }) => functionCall !== undefined)
const spoken = (line: Loose) =>
  partsOf(line).flatMap(({ text, thought }) => (thought === true ? [] : [textOf(text) ?? '']))

/** `~/.qwen/projects/<folder as a name>/chats/<session>.jsonl`: one line for each message, written when the message is complete. */
const qwenJournal: Journal = {
  folder: ({ home, cwd }) => join(home, '.qwen', 'projects', cwd.replaceAll(/[^a-zA-Z0-9]/g, '-'), 'chats'),
  file: /^[0-9a-f-]{36}\.jsonl$/,
  prompt: (line) => (line.type === 'user' ? spoken(line).join('\n') : undefined),
  turn([prompt, ...after]) {
    const key = textOf(prompt!.sessionId)
    const said = after.filter(({ type }) => type === 'assistant')
    const last = said.at(-1)
    const answer = said
      .slice(said.findLastIndex(calls) + 1)
      .flatMap(spoken)
      .join('\n\n')
    const usage = usageOfRequests(
      said
        .map(({ usageMetadata }) => loose(usageMetadata))
        .map(({ promptTokenCount, candidatesTokenCount, cachedContentTokenCount }) => ({
          input: numberOf(promptTokenCount),
          output: numberOf(candidatesTokenCount),
          cached: numberOf(cachedContentTokenCount),
        })),
    )
    // A failed request may be retried: only the last message counts, and the screen shows when it has arrived.
    const failed = loose(
      loose(after.findLast(({ subtype, type }) => subtype === 'ui_telemetry' || type === 'assistant')?.systemPayload)
        .uiEvent,
    )
    const error = failed['event.name'] === 'qwen-code.api_error' ? textOf(failed.error_message) : undefined
    return defined({
      key,
      fault: error,
      answer: error === undefined && answer !== '' ? answer : undefined,
      usage,
      over: last !== undefined && !calls(last) && answer !== '',
    })
  },
}

/** Qwen Code in a terminal. */
export const qwenScreen: ScreenFacts = {
  command: ({ leash, resume, model, thread }) =>
    commandLine(
      `qwen ${modes[leash]}`,
      option('--model', model),
      option('--resume', resume),
      option('--session-id', resume === undefined ? thread : undefined),
    ),
  leashes: {
    read: 'reads and searches; no shell, no edits, no subagents',
    ask: 'asks before it acts; what its own settings allow runs without a question',
    edit: 'edits files in the project without asking; asks before anything else',
    all: 'runs everything without asking',
  },
  names: true,
  lends: ({ name, command, env, patient }, file) => ({
    words: commandLine(option('--mcp-config', file)),
    // Without this setting the model sees the tools only after it searches for some.
    text: JSON.stringify({
      mcpServers: {
        [name]: { command, args: patient.args, env, timeout: patient.ms, trust: true, alwaysLoadTools: true },
      },
    }),
  }),
  env: { QWEN_CODE_UNATTENDED_RETRY: '0', QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  reader: {
    // " . Confuzzling the options... (1s · esc to cancel)"; while Qwen waits for a yes, it shows a different spinner without these words.
    busy: /^ {1,4}\S.*\((?:.* · )?esc to cancel\) *$/m,
    asking,
    // "> Type your message or @path/to/file", or the row below a taller draft: " ➜ project · mock-model"
    idle: /^─{20,}.*\n(?:[>*!] | {2}➜ )/m,
  },
  dialog,
  composer,
  clear: ['Ctrl+C'],
  interrupt: ['Escape'],
  // "  ✕ [API Error: 401 Incorrect API key provided: made-up.]"
  fault: /^ *(?:✕|x)\S* (\[API Error: .*(?:\n {2,}\S.*)*)$/m,
  journal: qwenJournal,
  // "qwen --resume e698122c-0220-4efe-9337-cc18a8582729"
  farewell: /qwen --resume[\s│]+([0-9a-f-]{36})/,
  quit: ['Ctrl+C', 'Ctrl+C'],
}
