import type { Event } from '../../src/core/talk/entry.ts'
import type { FailureKind } from '../../src/core/talk/outcome.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Race } from '../../src/core/talk/race.ts'
import type { Turn } from '../../src/core/work/agent.ts'
import type { CopyChanges, ProjectCopies } from '../../src/hub/model/tasks/project-copy.ts'
import type { Script, ScriptedAgent, ScriptStep } from '../agents/scripted-agent.ts'
import type { RaceParts } from '../../src/race/race.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { defined } from '../../src/base/defined.ts'
import { HandClock } from '../hand-clock.ts'
import { raceAgent } from '../../src/race/race.ts'
import { take } from '../../src/core/work/verbs.ts'
import { turnOf } from '../contract/agent.ts'
import { drained } from '../core/made.ts'
import { json, thinkingRig } from '../think/rig.ts'

export type Files = Map<string, string>

/** The work of an agent in its copy of the project. */
export type Act = (files: Files, turn: Turn) => readonly ScriptStep[]

/** Changes files, and then says that it is done. */
export const edits =
  (changes: Record<string, string>, words = 'done'): Act =>
  (files) => {
    for (const [path, text] of Object.entries(changes)) files.set(path, text)
    return [{ say: words }]
  }

export const fails =
  (kind: FailureKind, message: string, retryAt?: number): Act =>
  () => [{ fail: defined({ kind, message, retryAt }) }]

export const hangs: Act = () => [{ type: 'text', delta: 'hm' }, { hang: true }]

type Rigged = Partial<Omit<RaceParts, 'agents' | 'checks'>> & {
  racers: Record<string, Act>
  /** The order of the racers, where an agent races against itself. */
  agents?: string[]
  /** The only check, on the files of a copy; null where the project has no check. */
  passes?: ((files: Files) => boolean) | null
  /** The answers of the judge; without them nobody can judge. */
  judge?: Script[]
}

/** A race of scripted agents in a project in memory. */
export function racing({ racers, passes = (files) => files.get('sum') === 'right', judge, ...over }: Rigged) {
  const project: Files = new Map([['sum', 'wrong']])
  const copies = new Map<string, Files>()
  /** The end of each copy, in the order in which the copies ended. */
  const fates: string[] = []
  const seats: ScriptedAgent[] = []
  const clock = new HandClock(0)
  const checked: string[] = []
  let checking = 0
  const opened: ProjectCopies = {
    async open(signal) {
      if (signal.aborted) throw new Error('cancelled')
      const root = `/copies/${copies.size}`
      const base = new Map(project)
      const files: Files = new Map(project)
      copies.set(root, files)
      return {
        root,
        cwd: root,
        lacks: 'Nothing is missing.',
        changed: async () => changesOf(base, files),
        async join({ over = [] } = {}) {
          const { paths } = changesOf(base, files)
          const conflicts = paths.filter((path) => project.get(path) !== base.get(path) && !over.includes(path))
          if (conflicts.length > 0)
            return { why: `${conflicts.join(', ')} changed in the project meanwhile`, conflicts }
          for (const path of paths) project.set(path, files.get(path)!)
          return { files: paths }
        },
        keep: async () => void fates.push(`${root} kept`),
        drop: async () => void fates.push(`${root} dropped`),
      }
    },
  }
  const parts: RaceParts = {
    request: 'make it right',
    agents: over.agents ?? Object.keys(racers),
    checks: passes === null ? [] : ['npm test'],
    copies: opened,
    longestMs: 60_000,
    open(name) {
      const agent = scriptedAgent(name, [(turn) => racers[name]!(copies.get(turn.cwd)!, turn)])
      seats.push(agent)
      return agent
    },
    async *check(command, copy) {
      checking++
      if (checking > 1) throw new Error('two checks run at once')
      yield { type: 'call', call: 'c', tool: 'bash', input: { command } }
      const passed = passes?.(copies.get(copy.root)!) ?? false
      checked.push(`${copy.root} ${passed}`)
      checking--
      return { command, passed, evidence: `\`${command}\` exited with ${passed ? 0 : 1}` }
    },
    readers: async () =>
      judge ? thinkingRig({ agents: { judge } }).resources : { why: 'nobody can be held to reading' },
    bringIn: (run, what) => run.copy!.join(what),
    mask: (text) => text.replaceAll('s3cret', '[masked]'),
    random: () => 0,
    says: { show: (n) => `race show ${n}`, choose: (n) => `race choose ${n}`, undo: 'undo' },
    ...over,
  }
  return {
    project,
    copies,
    fates,
    seats,
    clock,
    checked,
    parts,
    turn: (over: Partial<Turn> = {}) => turnOf({ clock, prompt: '/race make it right', ...over }),
    async run(over: Partial<Turn> = {}) {
      const { events, result } = await drained(
        take(raceAgent(parts), turnOf({ clock, prompt: '/race make it right', ...over })),
      )
      return { events, result, race: events.findLast((event): event is Race & { by: string } => event.type === 'race') }
    },
  }
}

function changesOf(base: Files, files: Files): CopyChanges {
  const paths = [...new Set([...base.keys(), ...files.keys()])]
    .filter((path) => base.get(path) !== files.get(path))
    .sort()
  return {
    paths,
    files: paths.map((path) => ({ path, added: 1, removed: base.has(path) ? 1 : 0 })),
    patch: paths.map((path) => `-${base.get(path) ?? ''}\n+${files.get(path) ?? ''}\n`).join(''),
    base: JSON.stringify([...base]),
    tree: JSON.stringify([...files].sort()),
  }
}

/** A judge that puts the letters in this order. */
export const ranks = (...labels: string[]): Script =>
  json({ best_first: labels.map((label) => ({ label, why: `why ${label}` })) })

/** A person who picks these answers one after another. */
export function chooser(...picks: (string | undefined)[]) {
  const asked: Question[] = []
  const ask: Turn['ask'] = async (question) => {
    asked.push(question)
    const pick = picks[asked.length - 1]
    return pick === undefined ? undefined : [pick]
  }
  return { asked, ask }
}

export const notesIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'note' ? [event.text] : []))
