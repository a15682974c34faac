import type { AcpFacts } from '../../core/work/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { PipeSpec } from '../pipe/command.ts'

/** The same words of the settings as for a pipe: only what is spoken is another language. */
export type AcpSpec = PipeSpec

/** What is known of its ACP, whoever wrote the command: modes are set on the session, not by flags. */
export function factsOf(spec: AcpSpec): AcpFacts | undefined {
  return spec.profile?.acp
}

export function argvOf(spec: AcpSpec, leash: Leash): [string, ...string[]] | undefined {
  const { command, args, model } = spec
  if (command !== undefined) return args ? [command, ...args] : ['bash', '-c', command]
  const composed = factsOf(spec)?.command({ leash, ...(model === undefined ? {} : { model }) })
  return composed === undefined ? undefined : ['bash', '-c', composed]
}

/** Why it is not started at all: nothing speaks ACP, or it would do more than its leash allows. */
export function hindrance(spec: AcpSpec, leash: Leash): Failure | undefined {
  if (spec.command !== undefined) return undefined
  const facts = factsOf(spec)
  if (!facts) {
    const message = `${spec.name} does not speak ACP of its own: give it a command that does, or leave its kind out`
    return { kind: 'missing', message }
  }
  return facts.leashes[leash] === undefined ? unheld(spec.name, leash, Object.keys(facts.leashes)) : undefined
}

export function unheld(name: string, leash: Leash, held: readonly string[], why = ''): Failure {
  const message = `${name} cannot be held to the leash "${leash}"${why}: run it with --leash ${held.join(' or ')}, or leave it out`
  return { kind: 'missing', message }
}
