import type { Exit } from '../../base/process/run.ts'
import type { Tool, ToolCall } from '../../core/work/tool.ts'
import type { BackgroundCommands } from './shell/background-commands.ts'
import type { ShellParts } from './shell/shell-command.ts'
import { RunLimit, exitText, listen, settledText, startShell } from './shell/shell-command.ts'
import { defineTool } from './shared/tool-definition.ts'
import { boolean, integer, optional, parser, string } from '../../core/data/shape.ts'
import { CommandOutput, FrontOutput, tooMuch } from './shell/command-output.ts'
import { defined } from '../../base/defined.ts'
import { isPlainObject } from '../../base/plain-object.ts'

const usualSeconds = 120
const mostSeconds = 600

const input = parser({
  command: string({ min: 1 }),
  timeout_seconds: optional(integer(1, mostSeconds)),
  background: optional(boolean()),
  outside: optional(string({ min: 1 })),
})

/** Parses the input without `description`, a field that models trained on other shell tools often add. */
function parseInput(sent: unknown) {
  if (!isPlainObject(sent)) return input.parse(sent)
  const { description: _, ...rest } = sent
  return input.parse(rest)
}

export function bash(parts: ShellParts, background: BackgroundCommands): Tool {
  return defineTool({
    name: 'bash',
    risk: 'run',
    isShell: true,
    input: { ...input, parse: parseInput },
    aliases: { rules: ['Bash'], hooks: ['Bash'] },
    // Stopping the agent's own background command changes nothing else.
    effect: ({ command, outside }) =>
      background.ends(command) ? { does: 'nothing' } : defined({ does: 'command' as const, command, outside }),
    async run({ command, timeout_seconds = usualSeconds, background: behind }, call) {
      if (call.signal.aborted) throw new Error('cancelled before it ran.')
      const killed = await background.kill(command)
      if (killed !== undefined) return killed
      if (behind) return background.start(command, call)
      const ran = await runToEnd(command, timeout_seconds, call, parts, background)
      if ('moved' in ran) return ran.moved
      const { text, exit, ended, left } = ran
      const words = ended ?? exitText(exit)
      const told = [text.replace(/\n$/, ''), words, settledText(left)].filter((part) => part !== '').join('\n')
      const data = ended === undefined ? { exit: exit.code ?? exit.signal } : undefined
      return defined({ text: told || '[no output]', data })
    },
  })
}

/**
 * `ended` says why the command was stopped, if it was; `left` names files from the command that termaite removed. `moved`: the command
 * continues in the background.
 */
type Ran = { text: string; exit: Exit; ended?: string; left: string[] } | { moved: string }

async function runToEnd(
  command: string,
  seconds: number,
  call: ToolCall,
  parts: ShellParts,
  background: BackgroundCommands,
): Promise<Ran> {
  const { run, settle } = await startShell(command, call, parts)
  const printed = new CommandOutput(parts)
  const hold = new RunLimit(run, seconds, timeoutWords(seconds), call, parts.clock)
  const front = new FrontOutput(
    printed.collector(call, () => {
      // This is not awaited, because `release` waits for the end of the run.
      void hold.end(tooMuch)
    }),
  )
  const leave = background.inFront(() => !hold.ending && front.move())
  try {
    const exit = listen(run, (chunk) => front.take(chunk))
    const first = await Promise.race([exit, front.moved])
    if (first === 'moved') {
      await hold.release()
      const text = await printed.done()
      const { job, log, take } = await background.adopt({ command, run, settle, printed: text, exit })
      front.goOn(take)
      return { moved: movedWords(text, job, run.pid, log) }
    }
    const ended = await hold.release()
    return { text: await printed.done(), exit: first, ended, left: await settle() }
  } catch (error) {
    await Promise.all([hold.end('[broken]'), printed.drop()])
    await settle()
    throw error
  } finally {
    leave()
    await hold.release()
  }
}

const movedWords = (text: string, job: number, pid: number, log: string) =>
  [
    text.replace(/\n$/, ''),
    `[The person sent this command to the background while it ran. It goes on as job ${job} with pid ${pid}, and its output goes to ${log}. Continue without its result: a message comes when it ends. Use jobs to read it or to end it.]`,
  ]
    .filter((part) => part !== '')
    .join('\n')

const timeoutWords = (seconds: number) =>
  `[stopped after ${seconds} s. Give a longer timeout_seconds (at most ${mostSeconds}), or background: true if it keeps running.]`
