import type { WallLimits } from '../src/safety/wall/wall.ts'
import type { Row, Timed } from './measure.ts'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openTurnScratch } from '../src/safety/wall/turn-scratch.ts'
import { wallOf } from '../src/safety/wall/wall.ts'
import { medians, ms } from './measure.ts'

const rounds = 40

/** A way to run `true` in bash once. */
type Way = () => Promise<void>

/** The cost of a wall per command, from its preparation to its settling, against the same command without one. */
export async function wall(): Promise<Row[]> {
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-bench-')))
  const [root, home] = [join(base, 'project'), join(base, 'home')]
  for (const folder of [root, home]) mkdirSync(folder)
  // A project of usual size, whose folders are looked through for settings.
  for (let i = 0; i < 400; i++) mkdirSync(join(root, `package-${i % 20}`, `folder-${i}`), { recursive: true })
  spawnSync('git', ['init', '-q', root])
  writeFileSync(join(root, '.mcp.json'), '{}')
  const host = { platform: process.platform, env: { ...process.env, TERMAITE_HOME: join(home, '.termaite') } }
  const walls = wallOf(host)
  const none = await walls.none()
  if (none !== undefined) {
    console.log(`The wall is not measured: ${none}.`)
    return []
  }
  const scratch = await openTurnScratch(join(home, '.termaite'), host)
  const behind = (limits: Partial<WallLimits>): Way => {
    const all: WallLimits = { root, home, project: 'read', git: 'read', network: false, sockets: false, ...limits }
    return async () => {
      const walled = await walls.wrap(['bash', '-c', 'true'], all)
      if ('none' in walled) throw new Error(walled.none)
      runs(walled.argv, root)
      await walled.settle()
    }
  }
  const edit = { project: 'write', git: 'write', sockets: true } as const
  const other = await sandboxRuntime(root)
  const ways: Record<string, Way> = {
    'no wall': async () => runs(['bash', '-c', 'true'], root),
    'the wall at read': behind({}),
    'the wall at edit': behind(edit),
    'the wall at edit, in a turn': behind({ ...edit, scratch }),
    ...(other && { '@anthropic-ai/sandbox-runtime': other.way }),
  }
  try {
    const [plain = 0, ...walled] = await medians(rounds, Object.values(ways).map(timed))
    return walled.map((value, index) => ({
      what: `bash -c true: ${Object.keys(ways)[index + 1]} against no wall`,
      value: value / plain,
      unit: 'ratio',
      detail: `${ms(value)} against ${ms(plain)}, medians of ${rounds} runs in turns`,
    }))
  } finally {
    await scratch.close()
    await other?.close()
    rmSync(base, { recursive: true, force: true })
  }
}

const timed = (way: Way) => async (): Promise<Timed> => {
  const began = performance.now()
  await way()
  return { ms: performance.now() - began, peakMB: 0, out: 0 }
}

function runs([program, ...args]: readonly [string, ...string[]], cwd: string): void {
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`)
}

/** The library, where SANDBOX_RUNTIME names its folder; it needs socat and ripgrep. */
async function sandboxRuntime(root: string): Promise<{ way: Way; close(): Promise<void> } | undefined> {
  const folder = process.env.SANDBOX_RUNTIME
  if (!folder) return undefined
  const { SandboxManager } = (await import(pathToFileURL(join(folder, 'dist', 'index.js')).href)) as {
    SandboxManager: {
      initialize(config: unknown): Promise<void>
      wrapWithSandbox(command: string): Promise<string>
      reset(): Promise<void>
    }
  }
  await SandboxManager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [root], denyWrite: [] },
  })
  const way = async () => runs(['bash', '-c', await SandboxManager.wrapWithSandbox('true')], root)
  return { way, close: () => SandboxManager.reset() }
}
