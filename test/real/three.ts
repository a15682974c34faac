import type { TestContext } from 'node:test'
import type { Entry } from '../../src/core/talk/entry.ts'
import type { Script } from './model-server.ts'
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, start as program } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { rigAll } from './rig.ts'

const windows = { claude: 200_000, gemini: 1_000_000, codex: 272_000 }

type AgentSettings = { name: string; profile: string; kind?: string; contextWindowTokens: number }

/** The built program over the three real CLIs, on models that say what the script says. */
export async function machine(
  t: TestContext,
  script: Script,
  { others = [], ...more }: Record<string, unknown> & { others?: readonly AgentSettings[] } = {},
) {
  const model = await modelServer(script)
  const rig = await rigAll(model.url)
  t.after(async () => {
    await rig[Symbol.asyncDispose]()
    await model.close()
  })
  const home = join(rig.root, 'termaite')
  mkdirSync(home, { mode: 0o700 })
  const own = Object.entries(windows).map(([name, contextWindowTokens]) => ({
    name,
    profile: name,
    contextWindowTokens,
  }))
  const agents = [...own, ...others].map((agent) => ({ ...agent, silenceSeconds: 60 }))
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ ...more, agents }))
  const start = (args: readonly string[], env: Record<string, string> = {}) =>
    spawn(program[0], [...program.slice(1), ...args], {
      cwd: rig.cwd,
      env: { ...rig.env, ...env, TERMAITE_KEYCHAIN: 'off', TERMAITE_HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const run = (...args: string[]) => ended(start(args))
  const history = () => {
    const [slug] = readdirSync(join(home, 'projects'))
    return readFileSync(join(home, 'projects', slug!, 'history.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry)
  }
  return { model, start, run, history }
}
