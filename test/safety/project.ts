import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import type { Limits, Snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { snapshots } from '../../src/safety/snapshots/snapshots.ts'

/** A project, a home and a user of its own, on real disk; gone when the test is. */
export class Project {
  readonly place = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-safety-')))
  readonly root = join(this.place, 'project')
  readonly home = join(this.place, 'user', '.termaite')
  readonly dir = join(this.home, 'projects', 'p-1', 'snapshots')
  readonly env = { PATH: process.env.PATH, HOME: join(this.place, 'user') }
  readonly clock = new HandClock(Date.now())

  constructor() {
    mkdirSync(this.root)
    mkdirSync(this.env.HOME)
  }

  snapshots(
    limits: Partial<Limits> = {},
    more: { env?: Record<string, string | undefined>; root?: string } = {},
  ): Snapshots {
    return snapshots({ dir: this.dir, root: this.root, env: this.env, clock: this.clock, limits, ...more })
  }

  write(path: string, body: string | Uint8Array): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), body)
  }

  /** The user's own git, not ours. */
  git(...args: string[]): string {
    const env = {
      ...this.env,
      GIT_AUTHOR_NAME: 'u',
      GIT_AUTHOR_EMAIL: 'u@e',
      GIT_COMMITTER_NAME: 'u',
      GIT_COMMITTER_EMAIL: 'u@e',
    }
    return execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], { cwd: this.root, env, encoding: 'utf8' })
  }

  /** Every file below the root as its kind, mode and bytes; folders that hold none do not count. */
  tree(root = this.root, skip = '.git'): Record<string, string> {
    const seen: Record<string, string> = {}
    const walk = (folder: Buffer, under: string) => {
      for (const name of readdirSync(folder, { encoding: 'buffer' })) {
        const path = Buffer.concat([folder, Buffer.from('/'), name])
        const key = under + name.toString('latin1')
        const stat = lstatSync(path)
        if (key === skip) continue
        if (stat.isDirectory()) walk(path, `${key}/`)
        else if (stat.isSymbolicLink()) seen[key] = `link ${readlinkSync(path)}`
        else if (stat.isFile()) seen[key] = `${stat.mode & 0o100 ? 'run' : 'file'} ${readFileSync(path, 'latin1')}`
      }
    }
    walk(Buffer.from(root), '')
    return seen
  }

  remove(): void {
    rmSync(this.place, { recursive: true, force: true })
  }

  [Symbol.dispose](): void {
    this.remove()
  }
}

/** A turn of someone who changes files: taken before, acted, taken after, kept. */
export async function turn(project: Project, store: Snapshots, name: string, act: () => void): Promise<void> {
  const before = await treeOf(store)
  act()
  await store.keep(name, { before, after: await treeOf(store), at: project.clock.now(), prompt: `do ${name}` })
  await project.clock.turn(1000)
}

export async function treeOf(store: Snapshots): Promise<string> {
  const taken = await store.take()
  if ('off' in taken) throw new Error(taken.off)
  return taken.tree
}
