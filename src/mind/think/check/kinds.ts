import { oneOf, optional, string } from '../../../core/work/shape.ts'
import { part } from '../answer.ts'

/** What shows that something was reached: a command's exit code, a file's content, or somebody who quotes what they saw. */
export type Check =
  | { kind: 'command'; command: string; prints?: string }
  | { kind: 'file'; path: string; holds?: string }
  | { kind: 'judge'; question: string }

/** The same as an agent proposes it. */
export const checkField = part({
  kind: oneOf('command', 'file', 'judge'),
  command: optional(string()),
  path: optional(string()),
  holds: optional(string()),
  question: optional(string()),
})

/** What the proposal says; nothing where it names a kind without what that needs. */
export function checkIn(proposed: ReturnType<typeof checkField.read> | undefined): Check | undefined {
  const { kind, command, path, holds, question } = proposed ?? {}
  if (kind === 'command' && command?.trim())
    return { kind, command: command.trim(), ...(holds ? { prints: holds } : {}) }
  if (kind === 'file' && path?.trim()) return { kind, path: path.trim(), ...(holds ? { holds } : {}) }
  if (kind === 'judge' && question?.trim()) return { kind, question: question.trim() }
  return undefined
}

/** How an agent is told to propose one. */
export const checkWords =
  'A check is evidence that cannot lie: {"kind":"command","command":"…"} passes when it exits with 0 (with "holds": and prints that text), {"kind":"file","path":"…","holds":"…"} when the file has that text, {"kind":"judge","question":"…"} puts a question to another agent, only where no command or file can show it. It must fail as long as the work is not done, run without a person, and end by itself.'

export function checkName(check: Check): string {
  if (check.kind === 'command') return check.command
  if (check.kind === 'file')
    return check.holds === undefined ? check.path : `${check.path} holds ${JSON.stringify(check.holds)}`
  return check.question
}
