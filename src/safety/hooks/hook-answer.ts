/** What one hook said, and how it ended. */
export type HookRan = { command: string; code?: number; out: string; err: string; trouble?: string }

/** What one hook wants. */
export type HookAnswer = {
  blocked?: string
  decision?: { permission: 'allow' | 'deny' | 'ask'; reason: string }
  input?: unknown
  context?: string
  stop?: string
  message?: string
  warning?: string
}

/** Exit 2 blocks, with stderr as the reason; exit 0 may decide by JSON on stdout; anything else is a warning. */
export function answerOf(ran: HookRan, plainIsContext: boolean): HookAnswer {
  if (ran.trouble !== undefined) return { warning: `the hook ${brief(ran.command)} ${ran.trouble}` }
  const words = ran.err.trim()
  if (ran.code === 2) return { blocked: words || `the hook ${brief(ran.command)} blocks it` }
  if (ran.code !== 0)
    return {
      warning: `the hook ${brief(ran.command)} ended with ${ran.code ?? 'a signal'}${words ? `: ${words}` : ''}`,
    }
  const text = ran.out.trim()
  const said = objectIn(text)
  if (!said) return plainIsContext && text !== '' ? { context: text } : {}
  return decided(said)
}

function decided(said: Record<string, unknown>): HookAnswer {
  const own =
    typeof said.hookSpecificOutput === 'object' && said.hookSpecificOutput !== null
      ? (said.hookSpecificOutput as Record<string, unknown>)
      : {}
  const reason = text(own.permissionDecisionReason) ?? text(said.reason) ?? 'a hook says so'
  const permission = own.permissionDecision
  const answer: HookAnswer = {}
  if (permission === 'allow' || permission === 'deny' || permission === 'ask') answer.decision = { permission, reason }
  else if (said.decision === 'approve') answer.decision = { permission: 'allow', reason }
  if (said.decision === 'block') answer.blocked = reason
  if (own.updatedInput !== undefined) answer.input = own.updatedInput
  const context = text(own.additionalContext)
  if (context !== undefined) answer.context = context
  if (said.continue === false) answer.stop = text(said.stopReason) ?? 'a hook stops it'
  const message = text(said.systemMessage)
  if (message !== undefined) answer.message = message
  return answer
}

function objectIn(out: string): Record<string, unknown> | undefined {
  if (!out.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(out)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const brief = (command: string) => JSON.stringify(command.length > 80 ? `${command.slice(0, 80)}…` : command)
