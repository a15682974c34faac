import type { TestContext } from 'node:test'
import type { Agent, WorkMode } from '../../src/core/work/agent.ts'
import type { NativeParts, NativeSeat } from '../../src/native/native-parts.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { AddedFolders } from '../../src/native/added-folders.ts'
import { openNative } from '../../src/native/native-agent.ts'
import { closeNative, newNativeState } from '../../src/native/native-parts.ts'
import { openProject } from '../../src/home/project.ts'
import { openBorder } from '../../src/safety/border.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { inMode } from '../../src/settings/work-mode.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { folderOf } from '../desk/desk.ts'

type RigParts = {
  mode?: WorkMode
  model?: string
  seat?: Partial<NativeSeat>
  /** Further settings of the person. */
  settings?: object
}

/** Our own agent as a turn opens it, on a model server at `baseURL` and in an empty project. */
export async function nativeRig(t: TestContext, baseURL: string, given: RigParts = {}) {
  const { mode = 'agent', model = 'anthropic/claude-sonnet-4-5' } = given
  const folder = folderOf(t)
  const [root, home] = [join(folder, 'project'), join(folder, 'termaite')]
  const agent = { name: 'native', kind: 'native' as const, model, baseURL, contextWindowTokens: 200_000 }
  mkdirSync(home)
  writeFileSync(
    join(home, 'settings.json'),
    JSON.stringify({ metaInstruction: false, agents: [agent], ...given.settings }),
  )
  const env = { PATH: process.env.PATH, HOME: folder, ANTHROPIC_API_KEY: 'made-up', GROQ_API_KEY: 'made-up' }
  const settings = inMode(await readSettings({ home }, { env }), mode)
  const store = memoryStore()
  const parts: NativeParts = {
    ...{ home, root, cwd: root, env, clock: realClock, store, blobs: store.blobs('b'), session: 's' },
    project: openProject(store, root).doc,
    border: openBorder({ env: {} }),
    folders: new AddedFolders(),
    state: newNativeState(),
  }
  t.after(() => closeNative(parts))
  const seat: NativeSeat = { agent, settings, leash: 'all', window: 200_000, ...given.seat }
  const opened: Agent = {
    name: 'native',
    traits: { window: 200_000, memory: 'none', talks: true, steers: true },
    async *turn(turn) {
      yield* (yield* openNative(seat, parts, turn, true)).turn(turn)
    },
    async close() {},
  }
  return { root, seat, parts, opened }
}
