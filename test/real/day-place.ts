import type { TestContext } from 'node:test'
import type { Script } from './model-server.ts'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomName } from '../../src/base/id.ts'
import { noTmux } from '../terminals/real.ts'
import { modelServer } from './model-server.ts'
import { installed, rigAll } from './rig.ts'
import { TmuxWindow } from './window.ts'

/** The CLIs that take turns in a day. */
export const dayClis = ['claude', 'gemini', 'codex']
const missing = dayClis.filter((cli) => !installed(cli))

/** Why no day can be tried here; false when one can. */
export const noDay = noTmux || (missing.length > 0 && `not installed: ${missing.join(', ')}`)

/** A home with the real CLIs as its agents, whose models are one script, and a window of a real tmux for the chat. */
export async function dayPlace(t: TestContext, script: Script, more: Record<string, unknown> = {}) {
  const model = await modelServer(script)
  const rig = await rigAll(model.url)
  const home = join(rig.env.HOME!, '.termaite')
  const window = new TmuxWindow(`termaite-day-${randomName()}`, { cwd: rig.cwd, env: rig.env })
  t.after(async () => {
    window.close()
    await model.close()
    await rig[Symbol.asyncDispose]()
  })
  execFileSync('git', ['init', '-q'], { cwd: rig.cwd })
  mkdirSync(home, { mode: 0o700 })
  const agents = dayClis.map((name) => ({ name, profile: name, contextWindowTokens: 100_000, silenceSeconds: 60 }))
  const settingsFile = join(home, 'settings.json')
  writeFileSync(settingsFile, JSON.stringify({ rotationStrategy: 'exhaustion', agents, ...more }))
  const project = () => join(home, 'projects', readdirSync(join(home, 'projects'))[0]!)
  return {
    model,
    rig,
    home,
    window,
    /** The folder of the project in the home of termaite. */
    project,
    /** The settings as they are on the disk. */
    settings: () => JSON.parse(readFileSync(settingsFile, 'utf8')) as Record<string, unknown>,
    /** The lines of the history on the disk. */
    kept(): Record<string, unknown>[] {
      const lines = readFileSync(join(project(), 'history.jsonl'), 'utf8').trim().split('\n')
      // The lines of a deleted session are empty.
      return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as Record<string, unknown>)
    },
  }
}
