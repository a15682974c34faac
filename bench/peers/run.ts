import type { Home, Run } from './measured.ts'
import type { Peer } from './peer.ts'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { at } from '../measure.ts'
import { newHome } from './measured.ts'
import { clis, isThere, own, peers } from './peer.ts'

// The real CLIs and our own agent at the same task, against the same scripted model: medians, side by side.
const rounds = 20
const times = 5

const folders = [join(import.meta.dirname, '..', '..', 'test', 'real', 'clis'), clis]
const missing = folders.filter((folder) => !existsSync(join(folder, 'node_modules', '.bin')) && !isInstalled(folder))

function isInstalled(cwd: string): boolean {
  return spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd, stdio: 'inherit' }).status === 0
}

/** The runs of a peer: one turn and many rounds, each in a new home, and one turn in a home that has been used. */
type Measured = { peer: Peer; once: Run[]; many: Run[]; used: Run[]; home?: Home; failure?: string }

const wanted = process.argv.slice(2)
const all: Measured[] = peers
  .filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  .map((peer) => ({ peer, once: [], many: [], used: [] }))
for (const one of all) if (!isThere(one.peer)) one.failure = notInstalled()

/** A turn in a home is measured after this many others: programs keep their caches, and some of them only at the second start. */
const usedBefore = 2

// The peers run in turn, so that a busy moment hits all of them.
for (let time = -usedBefore; time < times; time++)
  for (const one of all)
    if (one.failure === undefined)
      try {
        one.home ??= await newHome(one.peer)
        const used = await one.home.run(0)
        if (time < 0) continue
        one.used.push(used)
        one.once.push(await inNewHome(one.peer, 0))
        one.many.push(await inNewHome(one.peer, rounds))
      } catch (error) {
        one.failure = (error as Error).message
      }
for (const { home } of all) await home?.[Symbol.asyncDispose]()

async function inNewHome(peer: Peer, rounds: number): Promise<Run> {
  await using home = await newHome(peer)
  return await home.run(rounds)
}

function notInstalled(): string {
  const where = missing.map((folder) => folder.split('/').slice(-3).join('/')).join(' and ')
  return missing.length > 0
    ? `npm could not install ${where}`
    : `it has no package for ${process.platform} ${process.arch}`
}

const median = (runs: readonly Run[], key: keyof Run) =>
  at(
    runs.map((run) => run[key]),
    0.5,
  )
const ms = (value: number, digits = 0) => `${value.toFixed(digits)} ms`

const rows = [
  ['peer', 'home', 'first request', 'one turn', 'per round', 'requests', 'bytes', 'first', 'prefix', 'peak'],
  ...all.flatMap(({ peer, once, many, used, failure }) => {
    if (failure !== undefined) return [[peer.name, `not measured: ${failure}`]]
    return [
      [
        ...[
          peer.name,
          'new',
          ms(median(once, 'firstRequestMs')),
          ms(median(once, 'wallMs')),
          ms(median(many, 'roundMs'), 1),
        ],
        String(median(many, 'requests')),
        `${(median(many, 'bytes') / 1000).toFixed(0)} kB`,
        `${(median(many, 'firstBytes') / 1000).toFixed(1)} kB`,
        median(many, 'prefix').toFixed(3),
        `${median(once, 'peakMB').toFixed(0)} / ${median(many, 'peakMB').toFixed(0)} MB`,
      ],
      [peer.name, 'used', ms(median(used, 'firstRequestMs')), ms(median(used, 'wallMs'))],
    ]
  }),
]
// The reason why a peer was not measured is longer than a column.
const widths = rows[0]!.map((_, column) =>
  Math.max(...rows.map((row) => (row.length > 2 ? (row[column]?.length ?? 0) : 0))),
)
for (const row of rows)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )

const measured = all.filter(({ failure }) => failure === undefined)
const ours = measured.find(({ peer }) => peer === own)
const others = measured.filter((one) => one !== ours)
if (ours && others.length > 0) {
  const figures: Record<string, (one: Measured) => number> = {
    'first request in a new home': ({ once }) => median(once, 'firstRequestMs'),
    'one turn in a new home': ({ once }) => median(once, 'wallMs'),
    'first request in a used home': ({ used }) => median(used, 'firstRequestMs'),
    'one turn in a used home': ({ used }) => median(used, 'wallMs'),
    'each round': ({ many }) => median(many, 'roundMs'),
    bytes: ({ many }) => median(many, 'bytes'),
    'peak memory': ({ many }) => median(many, 'peakMB'),
  }
  console.log()
  for (const [what, of] of Object.entries(figures)) {
    const best = others.toSorted((a, b) => of(a) - of(b))[0]!
    console.log(`${what}: ${(of(ours) / of(best)).toFixed(2)} × ${best.peer.name}`)
  }
}
if (measured.length < all.length) process.exitCode = 1
