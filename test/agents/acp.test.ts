import type { AcpScript } from './acp-rig.ts'
import { after } from 'node:test'
import { agentContract } from '../contract/agent.ts'
import { askingContract } from '../contract/asking.ts'
import { ground, running } from './acp-rig.ts'
import { remembering, roomyPool } from './warm-acp-rig.ts'

const it = await ground()
after(() => it[Symbol.asyncDispose]())

agentContract('acp', {
  says: (text) => it.agent({ steps: [{ say: text }] }),
  hangs: (text) => it.agent({ steps: [{ say: text }, { hang: true }] }),
  breaks: (text) => it.agent({ steps: [{ say: text }, { exit: 3 }] }),
  running,
})

const permission = {
  request: 'session/request_permission' as const,
  params: {
    toolCall: { toolCallId: 'c1', title: 'May I?' },
    options: [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ],
  },
}

askingContract('acp', { asks: () => it.agent({ steps: [permission, { say: 'done' }] }), running })

const pool = roomyPool()
after(() => pool.close())
const kept = (script: AcpScript) => remembering(it.agent({ loads: true, ...script }, {}, 'ask', { warm: pool }))

agentContract('acp, kept between turns', {
  says: (text) => kept({ steps: [{ say: text }] }),
  hangs: (text) => kept({ steps: [{ say: text }, { hang: true }] }),
  breaks: (text) => kept({ steps: [{ say: text }, { exit: 3 }] }),
  async running() {
    await pool.drop()
    return running()
  },
})
