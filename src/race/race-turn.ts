import type { Event } from '../core/talk/entry.ts'
import type { Ask } from '../core/talk/question.ts'
import type { RaceCheck } from '../core/talk/race.ts'
import type { Agent, Roster, Turn } from '../core/work/agent.ts'
import type { CopyResult, ProjectCopies, ProjectCopy } from '../hub/model/tasks/project-copy.ts'
import type { RaceParts } from './race.ts'
import type { App, AppPlace, AppRecords } from '../turn/app.ts'
import type { TurnRequest } from '../app/turn.ts'
import { projectGit } from '../base/git/project-git.ts'
import { ProgramMissing } from '../base/files/system-error.ts'
import { failed } from '../core/talk/outcome.ts'
import { UsageError } from '../core/io.ts'
import { raceAgent } from './race.ts'
import { away, healthDoc, noHealth, quotasOnly } from '../turn/rotation/health.ts'
import { awayWords } from '../turn/rotation/no-answer.ts'
import { checkCommand } from '../think/goal-check.ts'
import { enabledAgents, leashOf } from '../settings/enabled-agents.ts'
import { completeCard } from '../border/cards.ts'
import { openProjectCopies } from '../turn/copies/project-copies.ts'
import { foundChecks, projectTree } from '../think/turn/project-evidence.ts'
import { nativeIn, rosterIn } from '../turn/copies/folder-roster.ts'
import { openRotation } from '../turn/rotation.ts'
import { frameworkResources } from '../think/turn/framework-resources.ts'
import { frameworkTools } from '../think/turn/framework-tools.ts'
import { noticeObserver } from '../turn/turn-notices.ts'
import { leftNotes, runOpened } from '../app/turn.ts'

/** The request for a race: the prompt, the agents that race (by default all of them), and how the results are checked and chosen. */
export type RaceWish = {
  request: string
  agents: readonly string[]
  check?: string
  first?: boolean
  /** Whether the winner is joined without a question. */
  apply?: boolean
}

/** A race that can begin. `given`: the person wrote the check. */
type OpenRace = {
  wish: RaceWish
  agents: readonly string[]
  checks: readonly string[]
  given: boolean
  copies: ProjectCopies
}

/** How long one agent may work on the request of a race. */
const longestMs = 60 * 60_000

/** Checks all requirements of a race before an agent is asked. Throws a UsageError if the race cannot begin. */
export async function openRace(app: App, wish: RaceWish): Promise<OpenRace> {
  if (wish.request.trim() === '')
    throw new UsageError('write what the agents should do: race "fix the failing test" -a claude,codex')
  if (app.mode === 'plan')
    throw new UsageError(
      'agents change nothing in plan mode, so they cannot race. Leave it first (/mode chat, or without --mode plan).',
    )
  const agents = racingAgents(app, wish.agents)
  const copies = openProjectCopies(app, { keeps: false, installed: true })
  const git = projectGit(app.io.env)
  const commit = await git(app.place.root, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch((error) => {
    if (error instanceof ProgramMissing) throw error
    return undefined
  })
  if (!copies || commit === undefined)
    throw new UsageError(
      'each agent of a race works in a copy of the project, for which the project must be a git repository with a commit: git init && git add -A && git commit -m "Begin"',
    )
  const checks = wish.check === undefined ? (await foundChecks(app)).commands : [wish.check]
  if (wish.first && checks.length === 0)
    throw new UsageError(
      '--first stops the race when a result passes its checks, but termaite found no tests and no build here. Name a command: --check "npm test"',
    )
  return { wish, agents, checks, given: wish.check !== undefined, copies }
}

/** The agents that take part; each must be able to change files. */
function racingAgents({ settings }: AppPlace, wanted: readonly string[]): string[] {
  const enabled = enabledAgents(settings)
  const able = enabled.filter((agent) => leashOf(settings, agent) !== 'read').map(({ name }) => name)
  for (const name of wanted) {
    if (!enabled.some((agent) => agent.name === name))
      throw new UsageError(`there is no agent "${name}"; configured: ${enabled.map((agent) => agent.name).join(', ')}.`)
    if (!able.includes(name))
      throw new UsageError(
        `${name} may only read ("leash": "read" in the settings), so it cannot race. These can: ${able.join(', ') || 'none'}.`,
      )
  }
  const agents = wanted.length > 0 ? [...wanted] : able
  if (agents.length < 2)
    throw new UsageError(
      `a race needs two agents or more; name them with -a, for example: -a ${[...able, 'claude', 'codex'].slice(0, 2).join(',')}. An agent that is named twice races against itself.`,
    )
  return agents
}

/** The prompt that the conversation stores. */
export function racePrompt({ request, agents, check, first }: RaceWish): string {
  const flags = [
    ...(agents.length > 0 ? [`-a ${agents.join(',')}`] : []),
    ...(check === undefined ? [] : [`--check ${JSON.stringify(check)}`]),
    ...(first ? ['--first'] : []),
  ]
  return ['/race', request.trim(), ...flags].join(' ')
}

/** Runs the turn that is a race. Undoing the turn only removes the joined result, and no other change made meanwhile. */
export function runRace(
  app: App,
  request: Omit<TurnRequest, 'prompt'>,
  race: OpenRace,
  says: RaceParts['says'],
): AsyncGenerator<Event> {
  const { place, budget, io } = app
  const { wish, agents, checks, copies } = race
  const prompt = racePrompt(wish)
  return runOpened(app, { prompt, peers: request.peers, close: request.close }, async () => ({
    agent: raceAgent({
      request: wish.request,
      agents,
      checks,
      first: wish.first,
      apply: wish.apply,
      copies,
      longestMs,
      open: (name, copy) => racingAgent(app, name, copy),
      check: raceCheck(app, race.given),
      readers: () => frameworkResources(app, openRotation(app, { consulted: true })),
      tree: projectTree(app),
      bringIn: (run, what, turn) => bringUndoably(app, turn, () => run.copy!.join(what)),
      mask: app.border.toward('vendor'),
      random: Math.random,
      says,
    }),
    world: {
      cwd: place.cwd,
      leash: 'edit',
      signal: request.signal,
      budget: budget.turn?.() ?? budget,
      around: { begin: async () => [], end: () => leftNotes(app) },
      ask: request.ask,
      complete: (question) => completeCard(io, place.root, place.cwd, question),
      attended: request.attended,
    },
    observers: [noticeObserver(app)].filter((one) => one !== undefined),
  }))
}

/**
 * Joins a result into the project as the only change of a turn, which an undo reverts. The snapshots are taken right around it: changes
 * that a person makes while the agents work do not belong to the turn. A result that could not be undone is not joined.
 */
export async function bringUndoably(
  { snapshots, io }: AppRecords,
  { id, prompt }: Pick<Turn, 'id' | 'prompt'>,
  bring: () => Promise<CopyResult>,
): Promise<CopyResult> {
  const before = await snapshots.take()
  if ('off' in before) return { why: `it could not be undone, because ${before.off}` }
  const record = { at: io.clock.now(), prompt: prompt.slice(0, 200), before: before.tree }
  // The turn is recorded before anything changes, so that it can be undone even if it is killed.
  await snapshots.keep(id, record)
  const brought = await bring()
  const after = await snapshots.take()
  if ('tree' in after) await snapshots.keep(id, { ...record, after: after.tree })
  return brought
}

/**
 * One agent of the roster in its copy, which it may change without a question. Only a used-up quota is remembered: a race says nothing
 * about the agent's health, and the rotation does not move.
 */
function racingAgent(app: App, name: string, copy: ProjectCopy): Agent {
  const elsewhere = rosterIn(app, copy)
  const roster: Roster = {
    names: () => [name],
    open: (_, seat) => elsewhere.open(name, { ...seat, leash: 'edit', allowed: 'edit' }),
  }
  const health = healthDoc(app.store)
  const alone = openRotation(app, {
    consulted: true,
    roster,
    first: name,
    only: true,
    out: new Map(),
    health: quotasOnly(health),
  })
  return {
    name,
    get traits() {
      return alone.traits
    },
    async *turn(turn) {
      const now = turn.clock.now()
      const absence = away(await health.read().catch(() => noHealth), name, now, true)
      if (absence?.as === 'parked')
        yield { type: 'end', outcome: failed('quota', `${name} is ${awayWords(absence, now)}`, absence.until) }
      else yield* alone.turn(turn)
    },
    async close() {
      await alone.close()
      await elsewhere.close()
    },
  }
}

/**
 * Runs a command in a copy, under the rules of our own agent. A command that the person wrote for the race needs no further yes; for any
 * other one the person is asked once, and the answer applies to every copy.
 */
function raceCheck(app: App, given: boolean): RaceParts['check'] {
  const answers = new Map<string, ReturnType<Ask>>()
  return async function* (command, copy, turn): AsyncGenerator<Event, RaceCheck> {
    const ask: Ask = (question, withdrawn) => {
      if (question.about !== 'permission') return turn.ask(question, withdrawn)
      if (given) return Promise.resolve(['once'])
      const known = answers.get(command)
      const answer = known ?? turn.ask({ ...question, text: `${question.text}\n${forAll}` }, withdrawn)
      answers.set(command, answer)
      return answer
    }
    const { native, close } = nativeIn(app, copy)
    const tools = frameworkTools({ ...app, native, place: { ...app.place, root: copy.root, cwd: copy.cwd } })
    try {
      return { command, ...(yield* checkCommand({ command }, { tools }, { ...turn, cwd: copy.cwd, ask })) }
    } finally {
      await close()
    }
  }
}

const forAll = 'This command checks the results of the race. One answer counts for all of them.'
