import type { Dialog, ScreenFacts, Journal } from '../../core/profile/profile.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Shown } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Mode } from './codex-terms.ts'
import type { Loose } from '../shared/jsonl.ts'
import { defined } from '../../base/defined.ts'
import { beforeCursor, dialogOf, menuOf, paragraphAbove, trimmedScreen } from '../shared/screen-parts.ts'
import { modes } from './codex-terms.ts'
import { threadOf } from '../shared/counted-thread.ts'
import { commandLine, option } from '../shared/command-words.ts'
import { join } from 'node:path'
import { usageOfRequests, contentText, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'

export const flags = ({ sandbox, approvalPolicy }: Mode) =>
  `-c sandbox_mode=${sandbox} -c approval_policy=${approvalPolicy}`

/** The meaning of each leash for Codex, as text. */
export const leashes: Record<Leash, string> = {
  read: 'reads and runs commands in a read-only sandbox without network',
  ask: 'reads freely; asks before it changes a file or leaves the sandbox',
  edit: 'changes files in the project and runs commands in a sandbox without network; asks before it leaves the sandbox',
  all: 'runs everything without asking and without its sandbox',
}

/** A menu with its keys in the last row. The option alone proves nothing: a prompt that begins with "1." looks like the first option. */
const asking = /^› \d+\. [^]*^ {2}(?:Press )?enter (?:to (?:confirm|submit|continue|select)|continue)\b.*\s*(?![^])/m

/** Parses a permission dialog from the question down to the menu: the reason, and the command after "$ ". */
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

/** Parses the edit above its question: "• Added new.txt (+2 -0)", followed by the changed lines. */
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

// "Yes, and don't ask again for commands that start with `touch`", which Codex stores as a rule; "… for these files"
function grants(label: string): string | undefined {
  const what = /^Yes, and don't ask again for (.+)$/.exec(label)?.[1]
  if (what === undefined) return /^Yes, and (don't ask again .+)$/.exec(label)?.[1]
  if (what.startsWith('commands that start with')) return `${what}, in every project from now on (a rule of Codex)`
  return `${what}, until Codex ends in its terminal`
}

function dialog(screen: Screen): Dialog | undefined {
  const { rows } = trimmedScreen(screen)
  const menu = asking.test(rows.join('\n')) ? menuOf(rows, '›') : undefined
  if (!menu) return undefined
  const decline = ['Escape']
  const top = rows.slice(0, menu.from).findLastIndex((row) => row.startsWith('  Would you like to '))
  if (top >= 0)
    return dialogOf(menu, { about: 'permission', ...permission(rows, top, menu.from), numbers: true, decline, grants })
  const text = paragraphAbove(rows, menu.from)
  // "Trust this folder? Codex can read, edit, and run files here": a number only moves the pointer, without choosing.
  if (text.startsWith('Trust this folder?')) {
    const grants = (label: string) => (label.startsWith('Trust') ? 'this folder; Codex remembers it' : undefined)
    return dialogOf(menu, { about: 'trust', text, decline, grants })
  }
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

/** `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`, from the first prompt on. */
const codexJournal: Journal = {
  folder: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'sessions'),
  file: /^\d{4}\/\d\d\/\d\d\/rollout-[^/]+\.jsonl$/,
  prompt({ type, payload }) {
    const { type: kind, role, content, internal_chat_message_metadata_passthrough: about } = loose(payload)
    // Codex also writes messages in the person's name: about the environment, and about a turn that was stopped.
    const isOwn = listOf(loose(about).content_item_metadata).some(
      ({ provenance }) => loose(provenance).type === 'harness',
    )
    const isPrompt = type === 'response_item' && kind === 'message' && role === 'user' && !isOwn
    return isPrompt ? contentText(content) : undefined
  },
  turn(since) {
    const events = since.map(({ type, payload }): Loose => ({ ...loose(payload), line: type }))
    const key = textOf(events.find(({ thread_id }) => thread_id !== undefined)?.thread_id)
    const over = events.find(
      ({ line, type }) => line === 'event_msg' && (type === 'task_complete' || type === 'turn_aborted'),
    )
    const spoken = events.flatMap(({ line, type, role, content }) =>
      line === 'response_item' && type === 'message' && role === 'assistant' ? [contentText(content)] : [],
    )
    const error = textOf(loose(over?.error).message)
    const answer = textOf(over?.last_agent_message) ?? spoken.at(-1)
    const usage = usageOfRequests(
      events
        .filter(({ line }) => line === 'token_usage_record')
        .map(({ usage }) => loose(usage))
        .map(({ input_tokens, output_tokens, cached_input_tokens }) => ({
          input: numberOf(input_tokens),
          output: numberOf(output_tokens),
          cached: numberOf(cached_input_tokens),
        })),
    )
    return defined({
      key,
      fault: error,
      answer: error === undefined ? answer : undefined,
      usage,
      over: over !== undefined,
    })
  },
}

/** Codex in a terminal, without its daemon, which would outlive the terminal. */
export const codexScreen: ScreenFacts = {
  command: ({ leash, resume, model }) =>
    commandLine(
      'codex',
      option('resume', resume && threadOf(resume).id),
      `--no-daemon ${flags(modes[leash])}`,
      option('-m', model),
    ),
  leashes,
  // The values are TOML; JSON's strings and lists are valid TOML.
  lends: ({ name, command, env, patient }) => ({
    words: [
      ['command', JSON.stringify(command)],
      ['args', JSON.stringify(patient.args)],
      // Codex continues without a server that has not started after ten seconds, which is short on a busy machine.
      ['startup_timeout_sec', '60'],
      // Without this setting Codex calls its model while the server still starts, and the model sees none of its tools.
      ['required', 'true'],
      // Codex cancels a call after a minute, even if it receives progress.
      ['tool_timeout_sec', String(patient.ms / 1000)],
      // "user rejected MCP tool call": a tool that is not marked as read-only would need a yes.
      ['default_tools_approval_mode', '"approve"'],
      ...Object.entries(env).map(([key, value]) => [`env.${key}`, JSON.stringify(value)]),
    ]
      .map(([key, value]) => option('-c', `mcp_servers.${name}.${key}=${value}`))
      .join(' '),
  }),
  reader: {
    // "◦ Working (1s • esc to interrupt)"
    busy: /^[•◦] .*\besc to interrupt\)/m,
    asking,
    // "› Ask Codex to do anything", and its footer: a sent prompt looks the same without the footer, and a menu begins the same way.
    idle: /^› (?!\d+\. ).*\n(?: {2}.*\n)*? {2}(?:\S.* · [~/]|\? for shortcuts)/m,
    // " mock-model default · ~/project": before this row appears, the composer is already visible, and Codex may still ask whether the
    // folder is trusted.
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
