import type { Event } from '../core/talk/entry.ts'
import type { Ask } from '../core/talk/question.ts'
import type { Agent } from '../core/work/agent.ts'
import type { Ref } from '../core/talk/store.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { App } from './app.ts'
import type { Bracket } from './turn-snapshots.ts'
import type { Reach, RunningTurn, RunningTurns } from '../core/talk/running-turns.ts'
import { openRotation } from './rotation.ts'
import { openBracket, orWords, changesFrom, bracketInLine, readingLate } from './turn-snapshots.ts'
import { compactNow } from './compaction.ts'
import { touch } from './project.ts'
import { howOf } from './thinking/thinking-choice.ts'
import { traces } from './turn-traces.ts'
import { isEntry } from '../core/talk/entry.ts'

/** `bracket` is one that was opened already, while there was time; an `exclusive` turn waits until those before it are over. */
export type TurnWishes = {
  prompt: string
  /** Pictures that go with it. */
  files?: Ref[]
  agent?: string
  /** How this one is thought through, whatever was said for the others. */
  think?: Thinking | 'resume'
  signal: AbortSignal
  ask?: Ask
  /** What is typed while the turn runs; see `Turn.steer`. */
  steer?(until?: AbortSignal): Promise<string[]>
  attended?: boolean
  /** Who else may see it and reach it. */
  shown?: Reachable
  bracket?: Promise<Bracket>
  exclusive?: boolean
}

/** How a turn is made; the usual one is `runTurn`. */
export type TurnMaker = (app: App, wishes: TurnWishes) => AsyncIterable<Event>

/** What is not thought through loads nothing of how that is done. */
async function thinking(app: App, rotation: Agent, { agent, think, attended }: TurnWishes): Promise<Agent> {
  const said = think === undefined ? {} : { think }
  const how = howOf(app, { ...said, aimed: agent !== undefined, chat: attended === true })
  if (how === 'off') return rotation
  const { thoughtful } = await import('./thinking/thinking.ts')
  return thoughtful(app, rotation, how, agent)
}

/** One turn of the rotation, bracketed by snapshots of the project. */
export async function* runTurn(app: App, wishes: TurnWishes): AsyncGenerator<Event> {
  const { conversation, snapshots, io } = app
  const untouched = orWords(
    'that this project was used now is not remembered',
    app.ephemeral ? undefined : touch(app.project, io.clock),
  )
  const bracket = wishes.exclusive
    ? bracketInLine(app, wishes.prompt, wishes.signal)
    : await (wishes.bracket ?? openBracket(app, wishes.prompt))
  const rotation = openRotation(app, {
    ...(wishes.agent === undefined ? {} : { first: wishes.agent }),
    changes: changesFrom(snapshots, () => bracket.tree),
    async compact({ id, history, signal }) {
      if (!(await compactNow(app, 'auto', signal)).ok) return undefined
      // What this turn did so far is on no log as turns of their own.
      return [...(await conversation.view()), ...history.filter(({ turn }) => turn.startsWith(`${id}.`))]
    },
  })
  const agent = await thinking(app, rotation, wishes)
  const spans = traces(app)
  const around = {
    begin: bracket.begin,
    // Taken before the end is shown: whoever sees the end can undo it.
    end: async (turn: string) => [...(await bracket.end(turn)), ...(await untouched), ...(await spans.trouble())],
  }
  const world = {
    cwd: app.place.cwd,
    leash: app.leash,
    signal: wishes.signal,
    budget: app.budget,
    around,
    ...(wishes.files ? { files: wishes.files } : {}),
    ...(wishes.ask ? { ask: wishes.ask } : {}),
    ...(wishes.steer ? { steer: wishes.steer } : {}),
    ...(wishes.attended ? { attended: true } : {}),
  }
  try {
    const answering = wishes.exclusive ? readingLate(agent, app) : agent
    const events = spans.of(conversation.converse(answering, wishes.prompt, world))
    yield* wishes.shown ? shownTo(wishes.shown, app.project.root, events) : events
  } finally {
    await agent.close().catch(() => {})
  }
}

/** Where a turn can be seen by other processes, and how their wishes reach it. */
export type Reachable = { turns: RunningTurns; reach: Reach }

/** The events of a turn, seen by whoever follows it before they go on. */
export async function* shownTo(
  { turns, reach }: Reachable,
  project: string,
  events: AsyncIterable<Event>,
): AsyncGenerator<Event> {
  let atWork: RunningTurn | undefined
  try {
    for await (const event of events) {
      if (!atWork && event.type === 'prompt' && isEntry(event)) {
        const { turn, session, text: prompt, at: since } = event
        atWork = turns.begin({ turn, session, prompt, since, project }, reach)
      }
      atWork?.see(event)
      yield event
    }
  } finally {
    atWork?.end()
  }
}
