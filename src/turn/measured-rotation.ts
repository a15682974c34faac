import type { Framework } from '../core/talk/framework.ts'
import type { Doc } from '../core/talk/store.ts'
import type { Draw, Evidence, MeasuredOrder } from './rotation/measured-order.ts'
import type { TurnResult } from '../store/index/conversation-index.ts'
import type { AppPlace, AppRecords } from './app.ts'
import { within } from '../base/time/clock.ts'
import { messageOf } from '../base/error-message.ts'
import { voiceOf } from '../core/io.ts'
import { leftToAgent, personChose } from '../core/talk/framework.ts'
import { typedPrompt } from '../core/talk/file-references.ts'
import { isCorrection } from './rotation/correction.ts'
import { measuredOrder } from './rotation/measured-order.ts'

/** A request in the form that the strategy `measured` uses; `followsUp`: other messages came before it in the conversation. */
type MeasuredRequest = { prompt: string; followsUp: boolean }

/** The current state of the strategy `measured`: the draw for the next turn and the evidence. */
export interface MeasuredRotation {
  readonly seed: number
  /** The order of agents for a request, or for a request that is not typed yet. */
  order(names: readonly string[], request?: MeasuredRequest): MeasuredOrder
}

/** How long a turn waits for the index, which may have to be rebuilt from long logs. */
const indexMs = 3_000

/** The most turns to consider; older ones hardly count any more. */
const most = { here: 400, elsewhere: 400 }

/** Reads the draw for the next turn and the evidence about the agents. An ephemeral run reads nothing, and uses the configured order. */
export async function readMeasured(app: AppRecords, random = Math.random): Promise<MeasuredRotation> {
  if (app.ephemeral) return { seed: 0, order: (names) => ({ line: [...names], why: () => undefined }) }
  const { select } = await import('./select/select.ts')
  const kindOf = ({ prompt, followsUp }: MeasuredRequest) => select(typedPrompt(prompt), followsUp)?.framework
  try {
    const found = await within(app.io.clock, readEvidence(app, kindOf), indexMs)
    if (!found) return inConfiguredOrder('termaite is still reading its history; later turns are measured')
    const { seed, at } = await currentDraw(app, random)
    const order: MeasuredRotation['order'] = (names, request) => {
      const evidence = request && isCorrection(request.prompt) ? withCorrection(found) : found
      return measuredOrder(names, evidence, { seed, at }, request && kindOf(request))
    }
    return { seed, order }
  } catch (error) {
    return inConfiguredOrder(`the results of earlier turns could not be read: ${messageOf(error)}`)
  }
}

type Found = Evidence & Pick<TurnResult, 'source'>

/** The evidence as it will be after a prompt that calls the last answer wrong: the screen shows which agent would get that prompt. */
function withCorrection(found: readonly Found[]): readonly Found[] {
  const at = found.findIndex(({ here, source }) => here && source !== 'attempt')
  const last = found[at]
  if (!last || last.source === 'person' || last.source === 'undo') return found
  return found.with(at, { ...last, good: false })
}

function inConfiguredOrder(why: string): MeasuredRotation {
  return {
    seed: 0,
    order: (names) => ({ line: [...names], why: () => `The agents are asked in the configured order: ${why}.` }),
  }
}

async function readEvidence(
  app: AppRecords,
  kindOf: (request: MeasuredRequest) => Framework | undefined,
): Promise<Found[]> {
  const { openIndex } = await import('../store/index/conversation-index.ts')
  const index = openIndex(app.place.home, voiceOf(app.io))
  try {
    await index.catchUp()
    const { slug } = app.project
    const own = await index.results({ project: slug, most: most.here })
    const others = await index.results({ except: slug, most: most.elsewhere })
    return [...own, ...others].map(({ agent, project, good, source, cost, ms, at, ...rest }) => ({
      ...{ agent, good, source, cost, ms, at },
      here: project === slug,
      kind: kindOfResult(rest, kindOf),
    }))
  } finally {
    await index.close()
  }
}

/** A cache of the kinds found from the words of earlier prompts: a prompt never changes, and every turn needs many of them. */
const kinds = new Map<string, Framework | undefined>()
const mostKinds = 5_000

/** The kind of an earlier request: the label that a judgement or thinking gave it, otherwise a guess from its words. */
function kindOfResult(
  { turn, kind, framework, why, prompt }: Pick<TurnResult, 'turn' | 'kind' | 'framework' | 'why' | 'prompt'>,
  kindOf: (request: MeasuredRequest) => Framework | undefined,
): string | undefined {
  if (kind !== undefined) return kind
  if (framework !== undefined && why !== personChose && why !== leftToAgent) return framework
  if (prompt === undefined) return undefined
  if (kinds.size > mostKinds) kinds.clear()
  if (!kinds.has(turn)) kinds.set(turn, kindOf({ prompt, followsUp: true }))
  return kinds.get(turn)
}

const drawDoc = ({ store, project }: AppRecords): Doc<Partial<Draw>> =>
  store.doc(`projects/${project.slug}/draw`, {}, knownDraw)

function knownDraw(found: unknown): Partial<Draw> {
  const { seed, at } = (typeof found === 'object' && found !== null ? found : {}) as Partial<Draw>
  return typeof seed === 'number' && typeof at === 'number' ? { seed, at } : {}
}

const isDraw = (draw: Partial<Draw>): draw is Draw => draw.seed !== undefined && draw.at !== undefined

/** The random draw for the next turn, which all processes share; made on first use. */
async function currentDraw(app: AppRecords, random: () => number): Promise<Draw> {
  const doc = drawDoc(app)
  const kept = await doc.read()
  if (isDraw(kept)) return kept
  return (await doc.update((now) => (isDraw(now) ? now : newDraw(app, random)))) as Draw
}

const newDraw = ({ io }: AppPlace, random: () => number): Draw => ({
  seed: Math.floor(random() * 2 ** 32),
  at: io.clock.now(),
})

/** Makes a new draw after a turn has used the old one. If another process has already made a new draw, that one stays. */
export async function drawAgain(app: AppRecords, used: number, random = Math.random): Promise<void> {
  await drawDoc(app).update((now) => (now.seed === used ? newDraw(app, random) : now))
}
