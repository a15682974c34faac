import type { Tool, ToolCall } from '../core/work/tool.ts'
import type { Formatter } from '../settings/settings.ts'
import type { FormatterRun, ToolParts } from './tools/shared/tool-parts.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { realpath } from 'node:fs/promises'
import { matchesGlob, join, relative } from 'node:path'
import { stripAnsi } from '../base/text/ansi.ts'
import { ownProgram } from '../base/process/program-path.ts'
import { isWithin } from '../base/files/real-path.ts'
import { shellWord } from '../base/text/shell-word.ts'
import { withoutModelKeys } from '../core/profile/key-variables.ts'
import { concerns } from '../safety/rules/rule-matching.ts'
import { rulesOf } from '../settings/permission-settings.ts'
import { RunLimit, exitText, listen, startIn } from './tools/shell/shell-command.ts'
import { namedKeys } from '../border/agent-environment.ts'
import { formatterRecord } from './native-audit.ts'
import { enclose } from './native-enclosure.ts'

/** The longest time that an edit waits for its formatter. */
const mostSeconds = 10

/**
 * Runs the formatter that the settings specify for a file of the project. Those are the settings of a trusted folder or of the person, so
 * nobody is asked; a deny or ask rule for its command keeps it from running. It runs behind the wall.
 */
export function formatterOf(name: string, parts: NativeParts, tools: () => readonly Tool[]): ToolParts['format'] {
  return async (path, call) => {
    const seat = parts.state.tools.seats.get(name)
    const formatters = seat?.settings.formatters ?? []
    if (!seat || formatters.length === 0) return undefined
    const root = await realpath(parts.root)
    const real = await realpath(path)
    const formatter = isWithin(root, real) ? formatterFor(relative(root, real), formatters) : undefined
    if (!formatter) return undefined
    const { command } = formatter
    const rule = await ruleAgainst(command, seat, { ...parts, root }, tools())
    if (rule !== undefined) return { command, problem: `it was not run, because the rule ${rule} is about it.` }
    return { command, ...(await run(formatter, real, { ...call, cwd: root }, seat, parts)) }
  }
}

/** The first formatter whose pattern matches: a pattern without a folder matches files of that name in every folder. */
function formatterFor(path: string, formatters: readonly Formatter[]): Formatter | undefined {
  return formatters.find(({ pattern }) => matchesGlob(path, pattern.includes('/') ? pattern : `**/${pattern}`))
}

async function ruleAgainst(
  command: string,
  { settings }: NativeSeat,
  { root, home, env, project }: NativeParts,
  tools: readonly Tool[],
): Promise<string | undefined> {
  const bounds = { root, home: env.HOME ?? home, path: env.PATH }
  const { judge } = await import('../safety/shell/judge/shell-judge.ts')
  const call = { name: 'bash', aliases: ['Bash'], ...(await judge(command, { ...bounds, cwd: root })) }
  const { deny, ask } = rulesOf(settings.permissions, await project.read())
  return [...deny, ...ask].find((rule) => concerns(rule, call, { command }, bounds, tools))?.text
}

/** How many characters of a failed formatter's output the model gets. */
const longest = 600

async function run(
  { command, project }: Formatter,
  file: string,
  call: ToolCall,
  seat: NativeSeat,
  parts: NativeParts,
): Promise<Pick<FormatterRun, 'problem'>> {
  const { clock, blobs, border } = parts
  const env = withoutModelKeys(parts.env, namedKeys(seat.settings))
  // A program of the project's own is used only if the project itself, which is trusted, specifies the formatter.
  const path = project ? ` PATH=${shellWord(join(call.cwd, 'node_modules/.bin'))}:"$PATH"` : ''
  const named = /\$\{?FILE\b/.test(command) ? command : `${command} "$FILE"`
  const argv = [
    ownProgram('bash', parts.env, parts.root),
    '-c',
    `export FILE=${shellWord(file)}${path}\n${named}`,
  ] as const
  const ends = await formatterRecord(command, project === true, parts)
  const program = { argv, env, own: project !== true, git: 'read' as const }
  const how = await enclose(program, { settings: seat.settings, leash: call.leash ?? seat.leash }, parts)
  const process = await startIn(how, call.cwd, { env, clock, blobs })
  process.stdin.end()
  const limit = new RunLimit(process, mostSeconds, `it was stopped after ${mostSeconds} s.`, call, clock)
  let said = ''
  const exit = await listen(process, async (chunk) => {
    said = (said + Buffer.from(chunk).toString()).slice(-longest)
  })
  const ended = await limit.release()
  await how.settle()
  const ok = ended === undefined && exit.code === 0
  ends?.(ok)
  if (ok) return {}
  const words = stripAnsi(border.toward('work')(said)).trim()
  return { problem: ended ?? [words, exitText(exit)].filter((part) => part !== '').join('\n') }
}
