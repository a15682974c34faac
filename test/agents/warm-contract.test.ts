import { after, describe } from 'node:test'
import { WarmProcesses } from '../../src/agents/warm-processes.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { agentContract } from '../contract/agent.ts'
import { piped, running } from './pipe-rig.ts'
import { staying } from './warm-rig.ts'

const pool = new WarmProcesses({ clock: realClock, idleMs: 600_000, memory: () => ({ total: 2 ** 34, free: 2 ** 33 }) })

/** A CLI that says the text in each of its turns, after a thread that it never changes. */
const speaks = (...steps: object[]) =>
  staying({
    command: () =>
      `while read -r prompt; do ${steps.map((step) => `echo '${JSON.stringify(step)}'`).join('; ')}; done; exit 3`,
  })
const thread = { type: 'thread', key: 'k' }
const said = (text: string) => ({ type: 'text', delta: text })
const opened = (...steps: object[]) => piped({ profile: speaks(thread, ...steps) }, { warm: pool })

// Other files share this process, and count the processes that it started.
describe('agents whose processes are kept', () => {
  after(() => pool.close())

  // The pool has one process for each agent: the one that another test left in it does not fit, and is stopped.
  agentContract('pipe, kept for the next turn', {
    says: (text) => opened(said(text), { type: 'end', outcome: { ok: true, text } }),
    hangs: (text) => opened(said(`${text} `)),
    breaks: (text) =>
      piped(
        { profile: staying({ command: () => `read -r prompt; echo '${JSON.stringify(said(text))}'; exit 3` }) },
        { warm: pool },
      ),
    async running() {
      await pool.drop()
      return running()
    },
  })
})
