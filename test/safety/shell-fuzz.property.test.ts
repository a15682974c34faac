import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { judge } from '../../src/safety/shell/shell-judge.ts'
import { contained, layHostileProject, Tripwire } from './corpus/hostile-project.ts'
import { randomOf, randomScript } from './corpus/random-scripts.ts'
import { noSandbox } from './no-sandbox.ts'
import { sized } from '../full.ts'

const wire = new Tripwire(layHostileProject())
const { root, home, base } = wire.project
after(() => wire.gone())

/** Runs every script of a file with bash and with dash; a script that waits is ended. */
const runner = (scripts: string) =>
  `while IFS= read -r -d '' script; do for shell in bash dash; do timeout -s KILL 3 $shell -c "$script" </dev/null; done; done < ${scripts}`

test('no random script that is judged a read does anything, in bash and in dash', { skip: noSandbox }, async () => {
  const count = sized(1_000, 100_000)
  const random = randomOf(Number(process.env.SEED ?? 13))
  const reads = new Set<string>()
  for (let i = 0; i < count; i++) {
    const script = randomScript(random)
    if ((await judge(script, { root, home, cwd: root })).worst.class === 'reads') reads.add(script)
  }
  assert.ok(reads.size > count / 20, `${reads.size} of ${count} are reads`)
  const scripts = join(base, 'scripts')
  const tripped = async (list: readonly string[]): Promise<string[]> => {
    if (list.length === 0) return []
    // The file lies where a change of it shows, and is the same before and after.
    const place = `${base}-copy/scripts`
    writeFileSync(place, list.map((script) => `${script}\0`).join(''))
    const [program, ...args] = contained(runner(scripts), wire.project)
    const mounted = [
      program!,
      ...args.slice(0, args.indexOf('--unshare-all')),
      '--ro-bind',
      place,
      scripts,
      ...args.slice(args.indexOf('--unshare-all')),
    ]
    const { writes, leaks } = await wire.run(mounted, wire.project.env, 600_000)
    const changed = writes.filter((path) => path !== scripts)
    if (changed.length === 0 && !leaks) return []
    if (list.length === 1) return [`${list[0]} ${changed.join(' ')} ${leaks ? 'leaks' : ''}`]
    const half = Math.ceil(list.length / 2)
    return [...(await tripped(list.slice(0, half))), ...(await tripped(list.slice(half)))]
  }
  // The tripwire itself is tried first.
  assert.equal((await tripped(['ls', 'touch out.txt', './evil', 'cat .env', 'cat src/a.ts'])).length, 3)
  const all = [...reads]
  const found: string[] = []
  for (let at = 0; at < all.length; at += 250) found.push(...(await tripped(all.slice(at, at + 250))))
  assert.deepEqual(found, [])
  if (process.env.FULL === '1')
    console.log(`${count} scripts, ${reads.size} different ones were reads and were run twice`)
})
