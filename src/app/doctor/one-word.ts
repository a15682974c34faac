import type { Outcome } from '../../core/talk/outcome.ts'
import type { Io } from '../../core/io.ts'
import type { NativeParts } from '../native/parts.ts'
import type { Place } from '../place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { AgentSettings } from '../../settings/agent-settings.ts'
import { newId } from '../../base/id.ts'
import { drain } from '../../base/relay.ts'
import { nobody } from '../../core/talk/question.ts'
import { noBudget } from '../../core/work/budget.ts'
import { take } from '../../core/work/verbs.ts'
import { memoryStore } from '../../store/memory.ts'
import { closeNative, nothingYet } from '../native/parts.ts'
import { openProject } from '../project.ts'
import { openRoster } from '../roster.ts'

const timeoutSeconds = 60

/** A turn that is kept nowhere, held to reading: whether an agent answers at all. */
export async function askOneWord(
  { io, place, settings }: { io: Io; place: Place; settings: Settings },
  agent: AgentSettings,
): Promise<Outcome> {
  const short = { timeoutSeconds, silenceSeconds: timeoutSeconds }
  const alone = { ...settings, ...short, metaInstruction: undefined, agents: [{ ...agent, ...short }] }
  const store = memoryStore()
  const blobs = store.blobs('doctor')
  const native: NativeParts = {
    ...place,
    env: io.env,
    clock: io.clock,
    store,
    blobs,
    session: 'doctor',
    project: openProject(store, place.root).doc,
    mask: (text) => text,
    lasting: nothingYet(),
  }
  const roster = openRoster(alone, { blobs, env: io.env, changed: async () => false, native, io })
  const seat = roster.open(agent.name, { cwd: place.cwd, leash: 'read' })
  const turn = {
    id: newId(io.clock.now()),
    prompt: 'Reply with the single word OK.',
    history: [],
    attempts: [],
    steered: [],
    cwd: place.cwd,
    leash: 'read' as const,
    signal: io.signal,
    clock: io.clock,
    ask: nobody,
    budget: noBudget,
    steer: async () => [],
  }
  try {
    return await drain(take(seat, turn))
  } finally {
    await seat.close()
    await closeNative(native)
  }
}
