import type { Env } from '../base/env.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Argv, WallLimits } from '../safety/wall/wall.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporary } from '../safety/wall/hidden-places.ts'
import { wallEnvironment } from '../safety/wall/wall-environment.ts'
import { homeView, projectCaches } from './command-home.ts'
import { isWalled, sandboxOf, wallFacts } from './command-wall.ts'

/** A program of a session that is not a command of the model: a hook or an MCP server. */
type SessionProgram = {
  argv: Argv
  env: Env
  /** Whether the person's own settings name the program, and not the project. */
  own: boolean
  /** Whether the person's own settings let the program run outside the wall. */
  unwalled?: boolean
  git: WallLimits['git']
}

/** Variables by which a hook finds the project. */
const hookVariables = ['TERMAITE_PROJECT_DIR', 'CLAUDE_PROJECT_DIR']

/** How a program is started; `settle` is called after it has exited. */
type Enclosed = { argv: Argv; env: Env; settle(): Promise<string[]> }

/**
 * Puts a program of the session behind the wall of its commands. A program from the person's own settings keeps the network, its
 * environment and its view of the home; a program of the project only has the network if a rule allows it, and an environment without
 * keys.
 */
export async function enclose(
  program: SessionProgram,
  seat: Pick<NativeSeat, 'settings'> & { leash: Leash },
  parts: NativeParts,
): Promise<Enclosed> {
  const { argv, env, own, unwalled, git } = program
  const plain = { argv, env, settle: async () => [] }
  if (!isWalled(seat, seat.leash) || (own && unwalled)) return plain
  const facts = await wallFacts(seat, parts.state.tools.toolboxes.values().next().value?.box.tools ?? [], parts)
  if (!facts) return plain
  const reads = seat.leash === 'read'
  const caches = reads ? undefined : await projectCaches(parts)
  const view = await homeView(seat.settings, parts)
  const walled = await sandboxOf(parts).wrap(argv, {
    root: parts.root,
    added: parts.folders.now,
    project: reads ? 'read' : 'write',
    git: reads ? 'read' : git,
    sockets: !reads,
    network: own ? facts.network !== 'closed' : facts.network === 'open',
    home: parts.env.HOME ?? parts.home,
    // The person's own programs need their own settings and data.
    whole: own,
    writable: [...(caches === undefined ? [] : [caches]), ...(own || reads ? [] : view.own)],
    readable: own || !reads ? view.shown : [...view.shown, ...view.own],
  })
  if ('none' in walled) throw new Error(`the sandbox could not be started: ${walled.none}`)
  const names = { temporary: process.platform === 'linux' ? temporary : tmpdir() }
  const lean = wallEnvironment(env, {
    ...names,
    extra: [...hookVariables, ...(seat.settings.sandbox.env ?? [])],
    caches: caches ?? join(names.temporary, 'caches'),
    ...(own ? {} : view.names),
  })
  return {
    argv: walled.argv,
    env: own ? { ...env, ...lean } : lean,
    async settle() {
      const said = await walled.settle()
      parts.state.notes.waiting.push(...said)
      return said
    },
  }
}
