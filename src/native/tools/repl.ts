import type { Tool } from '../../core/work/tool.ts'
import type { ShellParts } from './shell/shell-command.ts'
import { defined } from '../../base/defined.ts'
import { defineTool } from './shared/tool-definition.ts'
import { boolean, integer, oneOf, optional, parser, string } from '../../core/data/shape.ts'
import { ReplSession, languages, mostSeconds } from './repl/repl-session.ts'

const usualSeconds = 120

const input = parser({
  language: oneOf(...languages),
  code: string({ min: 1 }),
  timeout_seconds: optional(integer(1, mostSeconds)),
  fresh: optional(boolean()),
  outside: optional(boolean()),
})

/** Behind a wall, code sees only its own processes. */
const whyOutside = 'it looks at the machine itself, so it runs outside the sandbox'

/** Runs code in interpreters that live until `close`. Each folder has its own, because agents in worktrees see other files. */
export function replTool(parts: ShellParts): { tool: Tool; close(): Promise<void> } {
  const repls = new Map<string, ReplSession>()
  const tool = defineTool({
    name: 'repl',
    risk: 'run',
    input,
    // A rule about the shell also covers scripts.
    aliases: { rules: ['bash', 'Bash'] },
    effect: ({ code, outside }) => defined({ does: 'code' as const, code, outside: outside ? whyOutside : undefined }),
    run({ language, code, timeout_seconds: seconds = usualSeconds, fresh = false, outside = false }, call) {
      const key = `${language} ${outside} ${call.cwd}`
      const repl = repls.get(key) ?? new ReplSession(language, parts)
      repls.set(key, repl)
      return repl.evaluate({ code, seconds, fresh, outside }, call)
    },
  })
  return {
    tool,
    async close() {
      await Promise.all([...repls.values()].map((repl) => repl.close()))
    },
  }
}
