import type { Tool } from '../core/work/tool.ts'
import type { ShellParts } from './shell/shell-command.ts'
import { defineTool } from './tool-definition.ts'
import { boolean, integer, oneOf, optional, parser, string } from '../core/work/shape.ts'
import { ReplSession, languages, mostSeconds } from './repl/repl-session.ts'

const usualSeconds = 120

const input = parser({
  language: oneOf(...languages),
  code: string({ min: 1 }),
  timeout_seconds: optional(integer(1, mostSeconds)),
  fresh: optional(boolean()),
})

/** Runs code in interpreters that live until `close`. Each folder has its own, because agents in worktrees see other files. */
export function replTool(parts: ShellParts): { tool: Tool; close(): Promise<void> } {
  const repls = new Map<string, ReplSession>()
  const tool = defineTool({
    name: 'repl',
    risk: 'run',
    input,
    // A rule about the shell also covers scripts.
    aliases: { rules: ['bash', 'Bash'] },
    effect: ({ code }) => ({ does: 'code', code }),
    run({ language, code, timeout_seconds: seconds = usualSeconds, fresh = false }, call) {
      const key = `${language} ${call.cwd}`
      const repl = repls.get(key) ?? new ReplSession(language, parts)
      repls.set(key, repl)
      return repl.evaluate({ code, seconds, fresh }, call)
    },
  })
  return {
    tool,
    async close() {
      await Promise.all([...repls.values()].map((repl) => repl.close()))
    },
  }
}
