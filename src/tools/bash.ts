import type { Exit } from '../base/process/run.ts'
import type { Tool, ToolCall } from '../core/work/tool.ts'
import type { BackgroundCommands } from './shell/background-commands.ts'
import type { ShellParts } from './shell/shell-command.ts'
import { RunLimit, exitText, listen, settledText, startShell } from './shell/shell-command.ts'
import { defineTool } from './tool-definition.ts'
import { boolean, integer, optional, parser, string } from '../core/work/shape.ts'
import { CommandOutput, tooMuch } from './shell/command-output.ts'
import { defined } from '../base/defined.ts'

const usualSeconds = 120
const mostSeconds = 600

const input = parser({
  command: string({ min: 1 }),
  timeout_seconds: optional(integer(1, mostSeconds)),
  background: optional(boolean()),
})

export function bash(parts: ShellParts, background: BackgroundCommands): Tool {
  return defineTool({
    name: 'bash',
    risk: 'run',
    input,
    aliases: { rules: ['Bash'], hooks: ['Bash'] },
    // Ending one's own background command changes nothing else.
    effect: ({ command }) => (background.ends(command) ? { does: 'nothing' } : { does: 'command', command }),
    async run({ command, timeout_seconds = usualSeconds, background: behind }, call) {
      if (call.signal.aborted) throw new Error('cancelled before it ran.')
      const killed = await background.kill(command)
      if (killed !== undefined) return killed
      if (behind) return background.start(command, call)
      const { text, exit, ended, left } = await runToEnd(command, timeout_seconds, call, parts)
      const words = ended ?? exitText(exit)
      const told = [text.replace(/\n$/, ''), words, settledText(left)].filter((part) => part !== '').join('\n')
      const data = ended === undefined ? { exit: exit.code ?? exit.signal } : undefined
      return defined({ text: told || '[no output]', data })
    },
  })
}

/** `ended` says why the command was stopped, if it was; `left` names what was removed behind it. */
type Ran = { text: string; exit: Exit; ended?: string; left: string[] }

async function runToEnd(command: string, seconds: number, call: ToolCall, parts: ShellParts): Promise<Ran> {
  const { run, settle } = await startShell(command, call, parts)
  const printed = new CommandOutput(parts)
  const hold = new RunLimit(run, seconds, timeoutWords(seconds), call, parts.clock)
  try {
    const exit = await listen(
      run,
      printed.collector(call, () => {
        // `release` waits for the end.
        void hold.end(tooMuch)
      }),
    )
    const ended = await hold.release()
    return { text: await printed.done(), exit, ended, left: await settle() }
  } catch (error) {
    await Promise.all([hold.end('[broken]'), printed.drop()])
    await settle()
    throw error
  } finally {
    await hold.release()
  }
}

const timeoutWords = (seconds: number) =>
  `[stopped after ${seconds} s. Give a longer timeout_seconds (at most ${mostSeconds}), or background: true if it keeps running.]`
