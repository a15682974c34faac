import { after } from 'node:test'
import type { Agent } from '../../src/core/work/agent.ts'
import type { Mode } from '../fixtures/fake-cli.ts'
import { agentContract } from '../contract/agent.ts'
import { faked, stageOf } from './screen-rig.ts'

const stage = stageOf('scripted')
after(() => stage.close())

const agents: Agent[] = []

function saying(text: string, ...modes: Mode[]): Agent {
  const { agent } = faked(stage, [`say:${encodeURIComponent(text)}`, ...modes])
  agents.push(agent)
  return agent
}

/** The last lines of agents whose program lives and is at work: a terminal stays after its turn. */
async function running(): Promise<string[]> {
  const shown = await Promise.all(
    agents.map(async ({ terminal }) => {
      const now = new Promise<undefined>((resolve) => setImmediate(resolve, undefined))
      const exit = terminal && (await Promise.race([terminal.exited, now]))
      return terminal && !exit ? (await terminal.screen()).rows : []
    }),
  )
  return shown.flatMap((rows) => rows.filter((row) => row.includes('(esc to interrupt)')))
}

agentContract('screen', {
  says: (text) => saying(text),
  hangs: (text) => saying(text, 'never'),
  breaks: (text) => saying(text, 'crash'),
  running,
})
