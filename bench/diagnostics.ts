import type { Row } from './measure.ts'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { realClock } from '../src/base/time/clock.ts'
import { LanguageServers } from '../src/languages/language-servers.ts'
import { wallOf } from '../src/safety/wall/wall.ts'
import { ms } from './measure.ts'

const files = 300
const rounds = 30
const repository = join(import.meta.dirname, '..')
const clis = join(repository, 'test', 'real', 'clis', 'node_modules')

/** Programs by the name that a project has them under. */
const servers: Record<string, Record<string, string>> = {
  'TypeScript 7': { tsc: join(repository, 'node_modules', 'typescript', 'bin', 'tsc') },
  'typescript-language-server': {
    tsc: join(clis, 'typescript', 'bin', 'tsc'),
    'typescript-language-server': join(clis, 'typescript-language-server', 'lib', 'cli.mjs'),
  },
}

/** The cost of diagnostics per edit in a project of 300 files: the first edit, which starts the server, and later ones. */
export async function diagnostics(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, programs] of Object.entries(servers)) {
    if (Object.values(programs).every(existsSync)) rows.push(...(await measured(name, programs)))
    else console.log(`${name} is not measured: it is not installed.`)
  }
  return rows
}

async function measured(name: string, programs: Record<string, string>): Promise<Row[]> {
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-bench-')))
  const root = join(base, 'project')
  for (const folder of ['project/src', 'project/node_modules/.bin', 'home'])
    mkdirSync(join(base, folder), { recursive: true })
  for (const [program, at] of Object.entries(programs)) symlinkSync(at, join(root, 'node_modules', '.bin', program))
  symlinkSync(join(dirname(programs.tsc!), '..'), join(root, 'node_modules', 'typescript'))
  writeFileSync(join(root, 'tsconfig.json'), '{"compilerOptions":{"strict":true,"module":"nodenext","types":[]}}')
  for (let at = 0; at < files; at++) writeFileSync(join(root, 'src', `f${at}.ts`), source(at, 0))
  const env = { ...process.env, HOME: join(base, 'home'), TERMAITE_HOME: join(base, 'home', '.termaite') }
  const wall = wallOf({ platform: process.platform, env })
  const none = await wall.none()
  const all = new LanguageServers(root, {
    clock: realClock,
    version: 'bench',
    shown: (path) => path,
    async enclose({ program, server }) {
      const argv = [program, ...server.args] as const
      const limits = { root, project: 'read', git: 'read', network: false, sockets: false, home: env.HOME } as const
      const walled = none === undefined ? await wall.wrap(argv, limits) : { none }
      return 'none' in walled ? { argv, env, settle: async () => [] } : { ...walled, env }
    },
  })
  const place = { root, env, agreed: true, languages: ['typescript'] as const, seconds: 120 }
  const edit = async (at: number, version: number) => {
    const path = join(root, 'src', `f${at}.ts`)
    const began = performance.now()
    const before = await all.before([path])
    const read = performance.now()
    writeFileSync(path, source(at, version))
    const written = performance.now()
    const report = await all.after(before, place, new AbortController().signal, () => {})
    const over = performance.now()
    if (report?.errors !== 1) throw new Error(`${name} reported ${report?.text} after an edit with one error`)
    return { without: written - read, with: over - began }
  }
  try {
    const first = await edit(0, 1)
    const later: Awaited<ReturnType<typeof edit>>[] = []
    for (let round = 0; round < rounds; round++) later.push(await edit(round % 5, round + 2))
    const median = (of: (one: (typeof later)[number]) => number) => later.map(of).sort((a, b) => a - b)[rounds >> 1]!
    const [on, off] = [median((one) => one.with), median((one) => one.without)]
    const where = none === undefined ? 'in the sandbox' : 'without a sandbox'
    return [
      {
        what: `diagnostics of ${name}: the first edit`,
        value: first.with - first.without,
        unit: 'ms',
        detail: `${ms(first.with)} against ${ms(first.without)} without, ${files} files, ${where}, the start of the server among it`,
      },
      {
        what: `diagnostics of ${name}: a later edit`,
        value: on - off,
        unit: 'ms',
        detail: `${ms(on)} against ${ms(off)} without, medians of ${rounds} edits`,
      },
    ]
  } finally {
    await all.close()
    rmSync(base, { recursive: true, force: true })
  }
}

/** A file that uses the one before it. Each version after the first has one error, on another line. */
function source(at: number, version: number): string {
  const above = at === 0 ? '' : `import { value${at - 1} } from './f${at - 1}.js'\n`
  const error = version === 0 ? '' : `${'\n'.repeat(version)}export const wrong${version}: string = ${version}\n`
  return `${above}export const value${at}: number = ${at === 0 ? 1 : `value${at - 1} + 1`}\n${error}`
}
