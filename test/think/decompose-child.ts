import type { Entry } from '../../src/core/talk/entry.ts'
import type { Script } from '../agents/scripted-agent.ts'
import { existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, ownerMark } from '../../src/base/process/owner.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { decompose } from '../../src/think/decompose/decompose.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { treesDoc } from '../../src/think/turn/task-trees.ts'
import { json, thinkingRig } from './rig.ts'

const task = (id: string) => ({ id, task: `write ${id}`, check: { kind: 'file', path: id, holds: 'whole' } })

/** A project on disk whose turns are thought through as a tree, by agents that are scripted and files that are real. */
export function projectIn(folder: string, actor: Script[]) {
  const store = fileStore(folder)
  const kept = treesDoc(store, 'p')
  const rig = thinkingRig({ agents: { claude: [json({ tasks: ['a', 'b', 'c'].map(task) })] }, actor })
  const read = async (path: string) =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined
  const owner = ownerMark()
  const log = store.log<Entry>('projects/p/history')
  const blobs = store.blobs('projects/p/output')
  const way = decompose({ kept, owner, alive: isAlive, agreed: true, freeCalls: 2, agree: async () => {} })
  return {
    kept,
    log,
    asked: rig.names,
    conversation: new Conversation({ log, blobs, session: 's', clock: rig.clock, owner, alive: isAlive }),
    agent: way.agent({ ...rig.resources, tools: { ...rig.resources.tools, read } }),
  }
}

export const writes =
  (folder: string, path: string, text: string): Script =>
  (_turn) => {
    writeFileSync(join(folder, path), text)
    return [{ say: `wrote ${path}` }]
  }

/** Run by itself it does the first task, begins the second, says so, and stays there. */
if (process.argv[1] === import.meta.filename) {
  const folder = process.argv[2]!
  const half: Script = () => {
    writeFileSync(join(folder, 'b'), 'half')
    writeSync(1, 'half done\n')
    return [{ hang: true }]
  }
  const { conversation, agent } = projectIn(folder, [writes(folder, 'a', 'whole'), half])
  const world = { cwd: folder, leash: 'edit' as const, signal: new AbortController().signal }
  setInterval(() => {}, 1_000_000)
  for await (const _ of conversation.converse(agent, 'write them all', world));
}
