import type { Agent } from '../../core/work/agent.ts'
import type { Minds } from '../../mind/think/minds.ts'
import type { App } from '../app.ts'
import { machineWords } from '../../machine/words.ts'
import { consultant } from '../consultant.ts'
import { findProgram } from '../found.ts'
import { machineIn } from '../native/machine.ts'
import { handsOf } from './hands.ts'
import { readersIn } from './readers.ts'
import { rewindOf } from './rewind.ts'

/** Whom and what a framework can turn to in this project; else why it cannot think here. */
export async function mindsOf(app: App, actor: Agent): Promise<Minds | { why: string }> {
  const found = await readersIn(app)
  if ('why' in found) return found
  const { spec } = await machineNow(app)
  return {
    actor,
    readers: found.names,
    promised: found.promised,
    // Somebody else is asked for one who is away, or could not be held.
    assigned: Object.fromEntries(
      Object.entries(app.settings.advisors).filter(([, agent]) => found.names.includes(agent)),
    ),
    reader: (first, told) => consultant(app, told, { names: found.names, first }),
    machine: {
      spec,
      words: machineWords(spec),
      programs: async (names) => names.filter((name) => findProgram(name, app.io.env) !== undefined),
    },
    hands: handsOf(app),
    ...(app.ephemeral ? {} : { rewind: rewindOf(app.snapshots, app.mask) }),
  }
}

/** What is decided by it must not be a day old. */
async function machineNow({ native }: App) {
  const { known } = machineIn(native)
  const now = await known.known()
  return now.fresh ? now : known.scan()
}
