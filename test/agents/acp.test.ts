import { after } from 'node:test'
import { agentContract } from '../contract/agent.ts'
import { askingContract } from '../contract/asking.ts'
import { ground, running } from './acp-rig.ts'

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
