import { after } from 'node:test'
import { agentContract } from '../contract/agent.ts'
import { ground, running } from './acping.ts'

const it = await ground()
after(() => it[Symbol.asyncDispose]())

agentContract('acp', {
  says: (text) => it.agent({ steps: [{ say: text }] }),
  hangs: (text) => it.agent({ steps: [{ say: text }, { hang: true }] }),
  breaks: (text) => it.agent({ steps: [{ say: text }, { exit: 3 }] }),
  running,
})
