import type { Io } from '../../core/io.ts'
import type { Blobs, Ref } from '../../core/talk/store.ts'
import type { Leash, Turn } from '../../core/work/agent.ts'
import type { RanCheck, TaskChecks } from '../../hub/model/tasks/task-source.ts'
import type { Settings } from '../../settings/settings.ts'
import type { SentCheck } from '../../hub/engine/texts/task-texts.ts'
import type { App } from '../../turn/app.ts'
import type { FoundHub } from './hub-discovery.ts'
import type { Place } from '../../home/place.ts'
import { callAfter } from '../../base/time/clock.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { drain } from '../../base/relay.ts'
import { voiceOf } from '../../core/io.ts'
import { readBody } from '../../core/talk/store.ts'
import { noBudget } from '../../core/work/budget.ts'
import { longestText } from '../../hub/model/tasks/task-try.ts'
import { HubClient } from '../../hub/client/hub-client.ts'
import { fileStore } from '../../store/files/file-store.ts'

/** The longest time that all checks of one task together may take. */
const longestMs = 20 * 60_000

/**
 * Builds and tests the work of a task in its worktree, before a person reviews it. The commands come from the person's own checkout,
 * never from the agent, and run under the rules and in the sandbox of termaite's own agent. Nobody is asked: a command that needs a yes
 * does not run, and the check says so.
 */
export function taskChecks(io: Io, place: Place, settings: Settings, leash: Leash): TaskChecks {
  return {
    async run({ worktree }, signal, begins) {
      const [{ openApp }, { foundChecks }, { nativeIn }, { frameworkTools }, { ranCommand }] = await Promise.all([
        import('../../turn/app.ts'),
        import('../../think/turn/project-evidence.ts'),
        import('../../turn/copies/folder-roster.ts'),
        import('../../think/turn/framework-tools.ts'),
        import('../../think/goal-check.ts'),
      ])
      const store = fileStore(place.home, voiceOf(io))
      const opened = await openApp(io, place, settings, { budget: noBudget, ephemeral: true })
      const outputs = new NotedBlobs(store.blobs(`projects/${opened.project.slug}/output`))
      const native = { ...opened.native, store, blobs: outputs, audited: true }
      const app: App = { ...opened, native }
      const there = nativeIn(app, { root: worktree, cwd: worktree })
      const tools = frameworkTools({ ...app, native: there.native, place: { ...place, root: worktree, cwd: worktree } })
      const over = new AbortController()
      callAfter(io.clock, longestMs, signal, () => over.abort())
      const stop = AbortSignal.any([signal, over.signal])
      const turn = turnIn(io, worktree, leash, stop)
      const ran: RanCheck[] = []
      try {
        for (const command of (await foundChecks(app)).commands) {
          if (stop.aborted) break
          begins(command)
          const began = io.clock.elapsed()
          outputs.last = undefined
          const result = await drain(ranCommand(command, { tools }, turn), async () => {})
          const why = over.signal.aborted ? 'it was stopped: all checks together took too long' : result.why
          const whole = outputs.last && (await outputs.text(outputs.last))
          const ms = Math.round(io.clock.elapsed() - began)
          ran.push(defined({ command, exit: result.exit, why, ms, output: result.text, whole }))
          // The build comes first: if it fails, the tests would only fail for the same reason.
          if (result.exit !== 0) break
        }
      } finally {
        await there.close()
      }
      return ran
    },
  }
}

/** Sends checks to the hub under the person's key; undefined if this process only has an agent's key. */
export function vouching({ env }: Io, hub: FoundHub, mask: (text: string) => string) {
  if (hub.caller?.role === 'agent') return undefined
  return (task: string, checks: SentCheck[], signal: AbortSignal) => {
    const { url, key } = hub.now()
    return new HubClient(defined({ url, key, env }), mask).checked(task, checks, signal)
  }
}

/** A turn without a person: every question is answered with no. */
function turnIn({ clock }: Io, cwd: string, leash: Leash, signal: AbortSignal): Turn {
  return {
    id: newId(clock.now()),
    prompt: 'checks of a task',
    history: [],
    attempts: [],
    steered: [],
    cwd,
    leash,
    signal,
    clock,
    ask: async () => undefined,
    budget: noBudget,
    steer: async () => [],
  }
}

/** Blobs that remember the last body that was written in pieces, which is the whole output of a command if it is too long to show. */
class NotedBlobs implements Blobs {
  last: Ref | undefined
  #blobs: Blobs

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  writer(media: string) {
    const writer = this.#blobs.writer(media)
    return {
      write: (chunk: Uint8Array) => writer.write(chunk),
      done: async () => (this.last = await writer.done()),
      drop: () => writer.drop(),
    }
  }

  /** A body as text; undefined if it is longer than the hub stores. */
  async text(ref: Ref): Promise<string | undefined> {
    return ref.bytes > longestText ? undefined : (await readBody(this.#blobs, ref))?.toString()
  }

  put(body: string | Uint8Array, media: string) {
    return this.#blobs.put(body, media)
  }

  read(ref: Ref) {
    return this.#blobs.read(ref)
  }

  place(ref: Ref) {
    return this.#blobs.place(ref)
  }

  keepOnly(shas: ReadonlySet<string>) {
    return this.#blobs.keepOnly(shas)
  }

  clear() {
    return this.#blobs.clear()
  }
}
