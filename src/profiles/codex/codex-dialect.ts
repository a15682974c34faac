import type { Dialect, Ended, SentPicture, Step } from '../../core/profile/profile.ts'
import type { PlanItem } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { CountedThread } from '../shared/counted-thread.ts'
import type { Loose } from '../shared/jsonl.ts'
import type { Mode } from './codex-terms.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { defined } from '../../base/defined.ts'
import { failed } from '../../core/talk/outcome.ts'
import { answersWithPlan, planWords } from '../../core/work/plan-answer.ts'
import { questionSteps } from './codex-questions.ts'
import { failureOf, withShortPaths, toolItemOf, limitsOf, spentUntil, tokensOf, usageOf } from './codex-items.ts'
import { codexTerms } from './codex-terms.ts'
import { rejections } from './codex-exec-dialect.ts'
import { threadKey, threadOf } from '../shared/counted-thread.ts'
import { brokenOff, idOf, listOf, loose, numberOf, rowOf, parseLine, textOf } from '../shared/jsonl.ts'

/** Notifications that are ignored. */
const ignoredNotifications = [
  'thread/started',
  'thread/status/changed',
  'thread/readState/changed',
  'thread/settings/updated',
  'turn/diff/updated',
  'configWarning',
  'remoteControl/status/changed',
  'mcpServer/startupStatus/updated',
]

/** A text for the agent, with its pictures. */
type Typed = { text: string; pictures: readonly SentPicture[] }

/**
 * An app-server that has had a thread open since an earlier turn: the number of its last request, and the tokens that its threads had
 * used.
 */
type OpenServer = {
  requests: number
  cwd: string
  totals: ReadonlyMap<string, CountedThread>
  mode: CollaborationMode | undefined
}

/** How Codex works with the person: it plans, or it does the task. A thread keeps its mode until a turn sets another one. */
type CollaborationMode = {
  mode: 'plan' | 'default'
  settings: { model: string; reasoning_effort: string | null; developer_instructions: null }
}

type TurnParts = { thread?: CountedThread; effort?: string; plans?: boolean; server?: OpenServer }

const newThread: CountedThread = { id: '', input: 0, cached: 0, output: 0 }

/**
 * `codex app-server`: requests and notifications in both directions. `thread` is the thread to resume, with its earlier token count;
 * `server` has it open already. `plans`: the turn only plans, in Codex's plan mode if the installed version has one.
 */
export function codexDialect(
  signs: readonly Sign[],
  known: (ended: Ended) => Failure | undefined,
  held: Partial<Mode> & { model?: string },
  { thread = newThread, effort, plans = false, server }: TurnParts = {},
): Dialect {
  const waiting = new Map<number, (result: Loose, error: string | undefined) => Step[]>()
  const items = new Map<string, Loose>()
  const streamed = new Set<string>()
  const said: string[] = []
  const denied: string[] = []
  /** Texts typed during the turn that were not sent yet. */
  const early: Typed[] = []
  const totals = new Map<string, CountedThread>()
  /** The threads of subagents that are at work. */
  const helpers = new Set<string>()
  let requests = server?.requests ?? 0
  let steering = 0
  let id = thread.id
  let cwd = server?.cwd ?? ''
  let turn: string | undefined
  let limits: Step[] = []
  let trouble: Loose | undefined
  let done: string | undefined
  /** The mode that this turn sets; undefined if the thread has it already, or if the installed version has no modes. */
  let mode = server?.mode
  /** The plan that waits for the person's approval. */
  let plan: string | undefined
  /** Whether the thread was asked for, whether it is open, and the prompt that waits for it. */
  let isGreeted = false
  let isOpen = false
  let first: Typed | undefined

  const line = (message: Loose) => `${JSON.stringify(message)}\n`
  const send = (text: string): Step => ({ type: 'send', text })

  function request(method: string, params: Loose, then: (result: Loose, error: string | undefined) => Step[]) {
    waiting.set(++requests, then)
    return line({ id: requests, method, params })
  }

  /** Sends a request that the turn cannot do without. */
  const must = (method: string, params: Loose, then: (result: Loose) => Step[]) =>
    request(method, params, (result, error) => {
      if (error === undefined) return then(result)
      trouble = { message: error }
      done = 'failed'
      return []
    })

  function start(text: string, pictures: readonly SentPicture[]): string {
    done = undefined
    const told = plans && !mode ? `${text}\n${planWords}` : text
    const params = defined({ threadId: id, input: input(told, pictures), effort, collaborationMode: mode })
    return must('turn/start', params, (result) => {
      turn = textOf(loose(result.turn).id)
      return early.splice(0).map((typed) => send(steer(typed.text, typed.pictures)))
    })
  }

  /** Sends text that was typed; after the end of the turn it begins another one, so that nothing is lost. */
  function steer(text: string, pictures: readonly SentPicture[] = []): string {
    if (turn === undefined) {
      early.push({ text, pictures })
      return ''
    }
    steering++
    return request(
      'turn/steer',
      { threadId: id, expectedTurnId: turn, input: input(text, pictures) },
      (_result, error) => {
        steering--
        return error === undefined ? [] : [send(start(text, pictures))]
      },
    )
  }

  /** Opens the thread; a prompt that came before it was open is sent then. */
  const greet = () => {
    isGreeted = true
    return must('initialize', greeting, () => [
      send(line({ method: 'initialized' })),
      send(
        thread.id === ''
          ? must('thread/start', held, began)
          : must('thread/resume', { ...held, threadId: thread.id, excludeTurns: true }, began),
      ),
    ])
  }

  const began = (result: Loose) => {
    const begun = loose(result.thread)
    id = textOf(begun.id) ?? id
    cwd = textOf(begun.cwd) ?? ''
    const model = textOf(result.model) ?? held.model
    const usual = (mode: CollaborationMode['mode']): CollaborationMode | undefined =>
      model === undefined
        ? undefined
        : {
            mode,
            settings: {
              model,
              reasoning_effort: effort ?? textOf(result.reasoningEffort) ?? null,
              developer_instructions: null,
            },
          }
    const opened = { type: 'thread' as const, key: threadKey({ ...thread, id }) }
    const go = () => {
      isOpen = true
      return first ? [send(start(first.text, first.pictures))] : []
    }
    if (!plans) {
      if (loose(result.collaborationMode).mode === 'plan') mode = usual('default')
      return [opened, ...go(), send(readLimits())]
    }
    const modes = request('collaborationMode/list', {}, ({ data }) => {
      if (listOf(data).some((one) => one.mode === 'plan')) mode = usual('plan')
      return go()
    })
    return [opened, send(modes), send(readLimits())]
  }

  const readLimits = () => request('account/rateLimits/read', { excludeResetCreditDetails: true }, spent)

  function spent({ rateLimits }: Loose): Step[] {
    const now = limitsOf(loose(rateLimits))
    if (now.length === 0 || JSON.stringify(now) === JSON.stringify(limits)) return []
    limits = now
    return now
  }

  function item(told: Loose, over: boolean): Step[] {
    const item = withShortPaths(told, cwd)
    const call = idOf(item.id)
    items.set(call, item)
    if (item.type === 'agentMessage' || item.type === 'reasoning' || (plans && item.type === 'plan'))
      return over ? words(item, call) : []
    const work = toolItemOf(item)
    if (!work) return []
    const steps: Step[] = streamed.has(call) ? [] : [{ type: 'call', call, tool: work.tool, input: work.input }]
    streamed.add(call)
    if (!over) return steps
    if (item.status === 'declined') {
      denied.push(work.denial)
      return [...steps, { type: 'result', call, ok: false, text: 'not allowed' }]
    }
    const ok = item.status === undefined || item.status === 'completed'
    const data = ok ? work.changes : undefined
    return [...steps, defined<Step>({ type: 'result', call, ok, text: work.output, data })]
  }

  /** The whole text of an item: emitted now unless it was streamed. */
  function words(item: Loose, key: string): Step[] {
    const type = item.type === 'reasoning' ? 'thought' : 'text'
    const text = type === 'text' ? (textOf(item.text) ?? '') : [item.summary, item.content].flat().join('\n')
    if (item.type === 'plan') plan = text.trim() || undefined
    else if (type === 'text') said.push(text)
    return text === '' ? [] : [{ type, delta: streamed.has(key) ? '\n' : `${text}\n` }]
  }

  function delta(type: 'text' | 'thought', { itemId, delta }: Loose): Step[] {
    streamed.add(idOf(itemId))
    return [{ type, delta: textOf(delta) ?? '' }]
  }

  function heard(method: unknown, params: Loose): Step[] {
    // A subagent has a thread of its own, and its text is not the agent's.
    const own = params.threadId === undefined || params.threadId === id
    if (method === 'thread/tokenUsage/updated') {
      const used = loose(loose(params.tokenUsage).total)
      totals.set(idOf(params.threadId), { id: idOf(params.threadId), ...tokensOf(used) })
      return []
    }
    if (!own) {
      if (method === 'turn/started') helpers.add(idOf(params.threadId))
      if (method === 'turn/completed') helpers.delete(idOf(params.threadId))
      return []
    }
    switch (method) {
      case 'item/started':
      case 'item/completed':
        return item(loose(params.item), method === 'item/completed')
      case 'item/agentMessage/delta':
        return delta('text', params)
      case 'item/plan/delta':
        return plans ? delta('text', params) : []
      case 'item/reasoning/summaryTextDelta':
      case 'item/reasoning/textDelta':
        return delta('thought', params)
      case 'item/commandExecution/outputDelta':
        return [{ type: 'progress', call: idOf(params.itemId), delta: textOf(params.delta) ?? '' }]
      case 'turn/plan/updated':
        return [{ type: 'plan', items: listOf(params.plan).map(planItem) }]
      case 'account/rateLimits/updated':
        return spent(params)
      case 'serverRequest/resolved':
        return [{ type: 'unask', id: idOf(params.requestId) }]
      case 'error':
        if (params.willRetry !== true) trouble = loose(params.error)
        return []
      case 'turn/completed': {
        const { status, error } = loose(params.turn)
        done = textOf(status) ?? 'failed'
        if (error) trouble = loose(error)
        return []
      }
      default:
        return []
    }
  }

  function outcome(ended: Ended): Outcome {
    if (done === undefined) {
      const failure = known(ended)
      return failure ? { ok: false, failure } : brokenOff('codex', ended)
    }
    if (done === 'interrupted') return failed('aborted', 'codex stopped the turn')
    if (done !== 'completed') {
      const failure = failureOf(signs, trouble ?? {}, ended.now)
      const until = failure.kind === 'quota' ? spentUntil(limits, ended.now) : undefined
      return { ok: false, failure: until === undefined ? failure : { retryAt: until, ...failure } }
    }
    // A request that a person rejected was already reported as a declined item.
    const unasked = rejections(ended.err).filter((words) => !/rejected by user(?! approval settings)/.test(words))
    const denials = [...new Set([...denied, ...unasked])]
    const text = plan ?? said.join('\n\n').trim()
    const isPlan = plan !== undefined || (plans && !mode && answersWithPlan(text))
    return defined<Outcome>({
      ok: true,
      text,
      plan: isPlan || undefined,
      denials: denials.length > 0 ? denials : undefined,
    })
  }

  const desk = {
    answer: (id: unknown, result: Loose) => line({ id, result }),
    refuse: (id: unknown, message: string) => line({ id, error: { code: -32601, message } }),
    steer,
    item: (id: string) => items.get(id) ?? {},
  }

  return {
    asks: true,
    pictures: {},
    ...(server ? {} : { greet }),
    open(prompt, pictures = []) {
      if (server) return start(prompt, pictures) + readLimits()
      if (isOpen) return start(prompt, pictures)
      first = { text: prompt, pictures }
      return isGreeted ? '' : greet()
    },
    line(text) {
      const message = parseLine(text)
      if (message.method !== undefined && message.id !== undefined) return questionSteps(message, desk)
      if (message.method !== undefined) return heard(message.method, loose(message.params))
      const then = waiting.get(numberOf(message.id))
      waiting.delete(numberOf(message.id))
      const error = message.error === undefined ? undefined : (textOf(loose(message.error).message) ?? 'it failed')
      return then?.(loose(message.result), error) ?? []
    },
    over: () => done !== undefined && steering === 0,
    works: () => helpers.size > 0,
    steer: (text, _id, pictures) => steer(text, pictures),
    stop: () => (turn === undefined ? undefined : request('turn/interrupt', { threadId: id, turnId: turn }, () => [])),
    end(ended) {
      const own = totals.get(id)
      const usage = usageOf([...totals.values()], (total) => (total === own ? thread : server?.totals.get(total.id)))
      return [
        ...(own && done === 'completed' ? [{ type: 'thread' as const, key: threadKey(own) }] : []),
        ...(usage.input + usage.output > 0 ? [usage] : []),
        { type: 'end', outcome: outcome(ended) },
      ]
    },
    // An app-server refuses at once what it does not know.
    knock: {
      text: line({ id: 'knock', method: 'termaite/knock', params: {} }),
      isAnswer: (text) => parseLine(text).id === 'knock',
    },
    get change() {
      return codexTerms(id)
    },
    next: (resume, terms) =>
      codexDialect(signs, known, held, {
        thread: threadOf(resume),
        effort: terms.effort,
        plans,
        server: {
          requests,
          cwd,
          mode: plans ? mode : undefined,
          totals: new Map([...(server?.totals ?? []), ...totals]),
        },
      }),
  }
}

/** The description of its client, which an app-server must receive first. */
const greeting = {
  clientInfo: { name: 'termaite', title: 'termaite', version: '1' },
  capabilities: {
    // Only an experimental client learns of plan mode, and can change the settings of an open thread.
    experimentalApi: true,
    requestAttestation: false,
    optOutNotificationMethods: ignoredNotifications,
  },
}

const input = (text: string, pictures: readonly SentPicture[]) => [
  { type: 'text', text, text_elements: [] },
  ...pictures.map(({ media, data }) => ({ type: 'image', url: `data:${media};base64,${data}` })),
]

const planStates: Readonly<Record<string, PlanItem['status']>> = { inProgress: 'in_progress', completed: 'completed' }

const planItem = ({ step, status }: Loose): PlanItem => ({
  task: textOf(step) ?? '',
  status: rowOf(planStates, status) ?? 'pending',
})
