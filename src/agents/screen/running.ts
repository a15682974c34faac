import type { Journalled, ScreenFacts } from '../../core/work/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Emit } from '../pipe/speech.ts'
import type { Answered } from './answer.ts'
import type { Sight, Sought } from './eye.ts'
import type { Prompted } from './prompt.ts'
import type { Waiting } from './ready.ts'
import type { Asked } from './since.ts'
import type { Sitting } from './sitting.ts'
import type { ScreenParts, ScreenSpec } from './spec.ts'
import { fenceMarks, nonceOf } from '../../core/screen/fence.ts'
import { ownThread } from '../pipe/command.ts'
import { Follower } from './following.ts'
import { Book } from './journal.ts'
import { prompted, wordsFor } from './prompt.ts'
import { takeSeat } from './seating.ts'
import { emptied, resumeSending, send } from './sending.ts'
import { beforeOf, rowsSince } from './since.ts'
import { Telling } from './telling.ts'

export type Job = {
  spec: ScreenSpec
  parts: ScreenParts
  sitting: Sitting
  turn: Turn
  /** A thread that was handed in. */
  resume: string | undefined
  emit: Emit
  /** Tells the key of its session, once it is known: after a crash nothing else leads back to it. */
  thread(): Promise<void>
  waiting: Waiting
}

/** What a turn came to; undefined where it was broken off. `entered` is what may be at work in the terminal then. */
export type Run = {
  end?: Answered | Failure
  entered?: string
  prompt?: string
  journal?: Journalled
}

/** One turn in a terminal: the seat, the prompt, and the watch over it to its end. */
export async function runOnce(job: Job): Promise<Run> {
  const { spec, parts, sitting, turn, resume, waiting } = job
  const own = ownThread(spec.name, turn.history, resume)
  const seat = await takeSeat(sitting, own.key, turn.leash, waiting)
  if (!seat) return {}
  if ('failure' in seat) return { end: seat.failure }
  await job.thread()
  const nonce = turn.sent ?? nonceOf(turn.id)
  const missed = seat.came === 'began' ? turn.history : own.entries
  const words = wordsFor(turn, missed, spec.name)
  const prompt = await prompted(words, { temp: parts.temp, nonce, fence: spec.fence === true })
  sitting.eye.expect(fenceMarks(nonce).close)
  try {
    return { prompt: prompt.text, ...(await asked(job, seat.sight, prompt, nonce)) }
  } finally {
    sitting.eye.expect(undefined)
    await prompt.remove()
  }
}

async function asked(
  { parts, sitting, turn, emit, thread, waiting }: Job,
  ready: Sight,
  prompt: Prompted,
  nonce: string,
): Promise<Run> {
  const { eye, facts } = sitting
  const { clock, signal, spec } = waiting
  const { text, mark } = prompt
  const book = facts.journal && new Book(facts.journal, { home: parts.home, env: parts.env, cwd: turn.cwd })
  const journal = async () => {
    const said = await book?.look(mark, sitting.key)
    sitting.named(said?.key)
    await thread()
    return said
  }
  const asked: Asked = { text }
  const sought: Sought = { nonce, since: ({ rows }) => sinceIn(rows, asked, facts) }
  const kept = async () => (await journal()) !== undefined
  const sending = { name: spec.name, eye, facts, clock, signal, sought, kept }
  let failure: Failure | undefined
  if (turn.sent === undefined) {
    const before = await emptied(ready, sending)
    if (signal.aborted) return {}
    asked.before = beforeOf(before.screen, facts.reader)
    await book?.open()
    // Whoever keeps what is said knows from here on that the prompt may have been taken.
    await waiting.state('busy')
    failure = await send(text, before, sending)
  } else failure = await resumeSending(text, await eye.look(sought), sending)
  if (failure) return { entered: text, end: failure }
  const follower = new Follower({ ...waiting, sitting, asked, nonce, sought, telling: new Telling(emit), journal })
  const end = await follower.end()
  return { entered: text, ...(end ? { end } : {}), ...(follower.journal ? { journal: follower.journal } : {}) }
}

/** Where neither the prompt nor what stood before it is in sight, nothing is said about what is old. */
function sinceIn(rows: readonly string[], asked: Asked, { reader }: ScreenFacts): string | undefined {
  const since = rowsSince(rows, asked, reader)
  return since.whole ? since.rows.join('\n') : undefined
}
