import type { Exit, Run } from '../base/process/run.ts'
import type { Tool, ToolCall } from '../core/work/tool.ts'
import type { Background } from './shell/background.ts'
import type { ShellParts } from './shell/command.ts'
import { made } from './made.ts'
import { boolean, integer, optional, shape, string } from '../core/work/shape.ts'
import { exitWords, listen, startShell } from './shell/command.ts'
import { Printed } from './shell/printed.ts'

const usualSeconds = 120
const mostSeconds = 600

/** More than this is no output that anybody reads: the command is ended before it fills the disk. */
const mostBytes = 2 * 1024 * 1024 * 1024

const input = shape({
  command: string({ min: 1 }),
  timeout_seconds: optional(integer(1, mostSeconds)),
  background: optional(boolean()),
})

export function bash(parts: ShellParts, background: Background): Tool {
  return made('bash', 'run', input, async ({ command, timeout_seconds = usualSeconds, background: behind }, call) => {
    if (call.signal.aborted) throw new Error('cancelled before it ran.')
    const killed = await background.kill(command)
    if (killed !== undefined) return killed
    if (behind) return background.start(command, call.cwd)
    const { text, exit, ended } = await runToEnd(command, timeout_seconds, call, parts)
    const words = ended ?? exitWords(exit)
    const told = [text.replace(/\n$/, ''), words].filter((part) => part !== '').join('\n')
    const data = ended === undefined ? { exit: exit.code ?? exit.signal } : undefined
    return { text: told || '[no output]', ...(data ? { data } : {}) }
  })
}

/** `ended` says why it was not let to its own end. */
type Ran = { text: string; exit: Exit; ended?: string }

async function runToEnd(command: string, seconds: number, call: ToolCall, parts: ShellParts): Promise<Ran> {
  const { clock } = parts
  const run = await startShell(command, call.cwd, parts)
  const printed = new Printed(parts)
  let why: string | undefined
  let ending: Promise<number[]> | undefined
  const end = (words: string) => {
    why ??= words
    return (ending ??= run.end())
  }
  const stop = () => void end('[cancelled]')
  call.signal.addEventListener('abort', stop, { once: true })
  if (call.signal.aborted) stop()
  const over = new AbortController()
  const until = Math.min(seconds * 1000, call.until - clock.now())
  const timer = clock.sleep(until, over.signal).then(() => {
    if (!over.signal.aborted) return void end(timeoutWords(seconds))
  })
  try {
    const exit = await listened(run, printed, call, () => void end('[ended: it printed more than 2 GB]'))
    over.abort()
    await timer
    const left = (await ending) ?? []
    const stubborn = left.length > 0 ? ` These processes would not end: ${left.join(', ')}.` : ''
    return { text: await printed.done(), exit, ...(why === undefined ? {} : { ended: why + stubborn }) }
  } catch (error) {
    await Promise.all([end('[broken]'), printed.drop()])
    throw error
  } finally {
    over.abort()
    call.signal.removeEventListener('abort', stop)
  }
}

function listened(run: Run, printed: Printed, call: ToolCall, tooMuch: () => void): Promise<Exit> {
  let bytes = 0
  return listen(run, async (chunk) => {
    bytes += chunk.length
    if (bytes > mostBytes) return tooMuch()
    const text = await printed.add(chunk)
    if (text !== '') call.progress(text)
  })
}

const timeoutWords = (seconds: number) =>
  `[ended after ${seconds} s. Give it a longer timeout_seconds (up to ${mostSeconds}), or background: true if it runs on.]`
