import type { PastUsage } from '../../core/profile/past-session.ts'
import type { UsageBy, UsageRow } from '../../store/index/conversation-index.ts'
import type { ImportedDoc } from '../../home/imported-sessions.ts'
import type { ImportWorld } from './import.ts'
import type { PastProfile, SessionFile } from './session-files.ts'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { isEntry } from '../../core/talk/entry.ts'
import { DaySlots, slotMs } from '../../store/index/day-slots.ts'
import { slugOf } from '../../home/project.ts'
import { OurTurns } from './our-turns.ts'
import { belongsTo } from './past-session.ts'
import { pastCost } from './past-turns.ts'
import { recordsOf } from './record-lines.ts'
import { pastFacts, sessionFiles } from './session-files.ts'

/** Usage that a CLI recorded itself, outside termaite. */
type OutsideRow = UsageRow & { outside: true }

/** `project`: only sessions of this folder's project. `faults` collects messages about files that could not be read. */
type OutsideOf = { by: UsageBy; since?: number; project?: string; faults: string[] }

type Spent = { cli: string; cwd: string | undefined; at: number; used: PastUsage; cost: number | undefined }

/**
 * Counts the tokens in the CLIs' own records: in their files, and in imported copies whose file is gone. Each request counts once, even
 * if a CLI copied it into another session; turns that termaite counted itself are left out.
 */
export async function outsideUsage(
  world: ImportWorld,
  profiles: readonly PastProfile[],
  of: OutsideOf,
): Promise<OutsideRow[]> {
  const rows = new Map<string, OutsideRow>()
  const days = new DaySlots()
  const keyOf = ({ cli, cwd, at }: Spent) => {
    if (of.by === 'agent') return cli
    if (of.by === 'day') return days.dayOf(Math.floor(at / slotMs))
    return of.by === 'project' ? (cwd ?? 'folder not recorded') : 'direct'
  }
  for await (const spent of allSpent(world, profiles, of)) {
    if (spent.at < (of.since ?? 0)) continue
    const key = keyOf(spent)
    const was = rows.get(key) ?? {
      ...{
        key,
        source: 'parsed' as const,
        count: 0,
        input: 0,
        output: 0,
        cached: 0,
        priced: 0,
        outside: true as const,
      },
    }
    const { used, cost } = spent
    rows.set(key, {
      ...was,
      count: was.count + 1,
      input: was.input + used.input,
      output: was.output + used.output,
      cached: was.cached + (used.cached ?? 0),
      priced: was.priced + (cost === undefined ? 0 : 1),
      ...(cost === undefined ? {} : { cost: (was.cost ?? 0) + cost }),
    })
  }
  return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}

async function* allSpent(world: ImportWorld, profiles: readonly PastProfile[], of: OutsideOf): AsyncGenerator<Spent> {
  const ours = await OurTurns.in(world, profiles, true)
  const belongs = of.project === undefined ? () => true : belongsTo(of.project)
  for (const profile of profiles) {
    let files: SessionFile[] = []
    try {
      files = await sessionFiles(profile, { home: world.home, env: world.io.env })
    } catch (error) {
      of.faults.push(messageOf(error))
    }
    const seen = new Set<string>()
    for (const file of files) {
      world.io.signal.throwIfAborted()
      try {
        yield* spentIn(profile, file, { ours, belongs, seen })
      } catch (error) {
        of.faults.push(`${file.path}: ${messageOf(error)}`)
      }
    }
  }
  yield* spentInCopies(world, of.project)
}

type SpentOf = { ours: OurTurns; belongs(cwd: string): boolean; seen: Set<string> }

async function* spentIn(profile: PastProfile, file: SessionFile, of: SpentOf): AsyncGenerator<Spent> {
  const { name: cli, past } = profile
  let key: string | undefined
  let cwd: string | undefined
  let last = 0
  for await (const fact of pastFacts(profile, file, { broken: 0, long: 0, cut: false })) {
    last = fact.at ?? last
    if (fact.type === 'session') {
      key ??= fact.key
      cwd ??= fact.cwd
      if (cwd !== undefined && !of.belongs(cwd)) return
    }
    if (fact.type !== 'usage' || (!fact.beside && of.ours.has(key, fact.at))) continue
    const { type: _type, at, ...used } = fact
    if (used.request !== undefined) {
      // A server on the person's own machine may use one name for all requests: their token counts distinguish them.
      const name = [used.request, used.input, used.output, used.cached].join(' ')
      if (of.seen.has(name)) continue
      of.seen.add(name)
    }
    yield { cli, cwd, at: at ?? (last || file.changed), used, cost: pastCost(used, past.provider) }
  }
}

/** The tokens of imported sessions whose own file the CLI has deleted. */
async function* spentInCopies({ store, place }: ImportWorld, project: string | undefined): AsyncGenerator<Spent> {
  const all = join(place.home, 'projects')
  const slugs = project === undefined ? (existsSync(all) ? readdirSync(all) : []) : [slugOf(project)]
  for (const slug of slugs) {
    const initial: ImportedDoc = { path: '', sessions: {} }
    const doc = await store
      .doc<ImportedDoc>(`projects/${slug}/imported`, initial)
      .read()
      .catch(() => initial)
    for (const { cli, log, source } of Object.values(doc.sessions)) {
      if (existsSync(source)) continue
      const path = join(all, slug, 'imported', `${log}.jsonl`)
      if (!existsSync(path)) continue
      for await (const entry of recordsOf(path, { broken: 0, long: 0, cut: false })) {
        if (!isEntry(entry) || entry.type !== 'usage') continue
        yield { cli, cwd: doc.path, at: entry.at, used: entry, cost: entry.cost }
      }
    }
  }
}
