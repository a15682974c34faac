import type { Entry, Event, Usage } from '../core/talk/entry.ts'
import type { App } from './app.ts'
import type { Settings } from '../settings/settings.ts'
import { failureSentence } from '../core/talk/outcome.ts'
import { newId } from '../base/id.ts'
import { frameTokens, needsCompaction } from '../core/talk/compaction.ts'
import { viewTokens } from '../core/talk/tokens.ts'
import { nobody } from '../core/talk/question.ts'
import { drain } from '../base/relay.ts'
import { consult } from '../core/work/verbs.ts'
import { localTime } from '../base/time/local-time.ts'
import { openConsultant } from './rotation.ts'
import { enabledAgents, windowOf } from '../settings/enabled-agents.ts'

type CompactionResult = Awaited<ReturnType<App['conversation']['compact']>>

/** `say` tells the person which agents are asked, fail or are skipped; `waits` shows the current wait. */
export type CompactionWatch = {
  say(words: string): void
  waits?(words: string): void
  signal?: AbortSignal
  /** The subject that the person named after `/compact`: the summary must preserve it above all. */
  focus?: string
}

/**
 * Asks an agent of the rotation to summarise the oldest half of the conversation. Its usage is recorded, but its answer does not become
 * part of the conversation.
 */
export async function compactNow(
  app: App,
  trigger: Trigger,
  { say, signal = app.io.signal, focus }: CompactionWatch,
): Promise<CompactionResult> {
  const refused = await compactionRefused(app, trigger, signal)
  if (refused !== undefined) return { ok: false, why: refused }
  // A thread that is open in a process contains more than the summary that replaces it, so such processes are closed.
  await app.warm?.drop()
  const used: (Usage & { by?: string })[] = []
  const told = (await app.conversation.read()).entries
  const compacted = await app.conversation.compact(
    (prompt) =>
      drain(
        consult(openConsultant(app, told), 'summary', {
          id: newId(app.io.clock.now()),
          prompt,
          history: [],
          attempts: [],
          steered: [],
          cwd: app.place.cwd,
          leash: 'read',
          signal,
          clock: app.io.clock,
          ask: nobody,
          budget: app.budget,
          steer: async () => [],
        }),
        ({ event }) => {
          collectUsage(event, used)
          const words = summaryNews(event)
          if (words !== undefined) say(words)
        },
      ),
    longestPrompt(app.settings),
    focus,
  )
  for (const { by, ...usage } of used) await app.conversation.append(usage, by ?? 'termaite')
  if (compacted.ok && app.native.state.session.begun) app.native.state.session.begun.compacted = true
  return compacted
}

/** Returns a sentence for the person about an agent that wrote the summary, failed or was skipped; undefined for other events. */
function summaryNews(event: Event): string | undefined {
  const by = event.by ?? 'An agent'
  if (event.type === 'note') return event.text
  if (event.type === 'attempt') return `${failureSentence(by, event.failure)} (asked for: a summary)`
  return event.type === 'reply' ? `${by} wrote a summary.` : undefined
}

/** Returns the text that tells the person what a compaction did. */
export function compactedWords(compacted: CompactionResult): string {
  if (compacted.ok) return 'The oldest half of the conversation is now a summary; nothing was removed.'
  const { why, failure } = compacted
  return `nothing was changed: ${why}${failure?.retryAt === undefined ? '' : `, at ${localTime(failure.retryAt)}`}.`
}

/** The share of a context window that the prompt for a summary may fill. */
const promptShare = 0.75

/**
 * The number of tokens in the longest prompt that at least one agent can summarise. An agent whose window is too small passes the prompt
 * on.
 */
function longestPrompt(settings: Settings): number {
  return Math.floor(Math.max(...enabledAgents(settings).map(windowOf), 0) * promptShare)
}

/**
 * Compacts the conversation before a turn until it fits into every agent's window, because the next turn may go to an agent with a
 * smaller one. Tells the person about it.
 */
export async function compactIfFull(app: App, view: readonly Entry[], watch: CompactionWatch): Promise<void> {
  const said = new Set<string>()
  // Several summaries may be needed, and the same agent writes them.
  const say = (words: string) => {
    if (!said.has(words)) watch.say(words)
    said.add(words)
  }
  let now = view
  for (let rounds = 0; ; rounds++) {
    if (!isFull(now, app.settings)) {
      if (rounds === 1) say('The oldest half of the conversation is now a summary.')
      if (rounds > 1) say('All but the newest part of the conversation is now a summary.')
      return
    }
    if (rounds === 0) say('The conversation is long: its oldest part is being summarised before the agent is asked.')
    watch.waits?.('summarising the oldest part of the conversation')
    const compacted = await compactNow(app, 'auto', { ...watch, say })
    if (!compacted.ok)
      return say(`The conversation is long, and it could not be summarised: ${compacted.why}. Nothing was removed.`)
    const shorter = await app.conversation.view()
    if (viewTokens(shorter) >= viewTokens(now)) return say('The conversation is long, and its summary is no shorter.')
    now = shorter
  }
}

/**
 * Whether the view, with its frame, is too long for an agent. Agents with a view of their own do not count, since theirs is cut to fit.
 */
function isFull(view: readonly Entry[], settings: Settings): boolean {
  return enabledAgents(settings)
    .filter(({ ownView }) => !ownView)
    .some((agent) => needsCompaction(view, windowOf(agent), frameTokens(view, agent.name)))
}

function collectUsage(event: Event, into: (Usage & { by?: string })[]): void {
  if (event.type === 'inner') collectUsage(event.event, into)
  if (event.type === 'usage') into.push(event)
}

type Trigger = 'manual' | 'auto'

/** Runs the PreCompact hooks; returns why they forbid the compaction, if they do. */
async function compactionRefused(app: App, trigger: Trigger, signal: AbortSignal): Promise<string | undefined> {
  const { native, settings: own } = app
  const { store, clock, root, cwd, home } = native
  const [{ TrustBook }, { runSeatHooks }, { withFolderSettings }] = await Promise.all([
    import('../safety/trust/folder-trust.ts'),
    import('../native/native-hooks.ts'),
    import('../native/native-trust.ts'),
  ])
  const { state } = await new TrustBook(store, { clock, own: home }).of(root, cwd)
  const { settings } = state === 'trusted' ? await withFolderSettings(own, native) : { settings: own }
  if (!settings.hooks.PreCompact) return undefined
  const said = await runSeatHooks('PreCompact', { trigger, custom_instructions: '' }, { settings }, native, signal)
  const against = said.blocked ?? said.stop
  return against === undefined ? undefined : `a hook forbids it: ${against}`
}
