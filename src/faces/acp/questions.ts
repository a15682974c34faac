import type { AgentContext, ClientCapabilities } from '@agentclientprotocol/sdk'
import type { Clock } from '../../base/clock.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { Office } from './office.ts'
import type { Sdk } from './sdk.ts'
import type { Tell } from './telling.ts'
import { newId } from '../../base/id.ts'
import { askEditor, titleOf } from './asking.ts'
import { shownContent } from './calls.ts'

export type QuestionParts = {
  sdk: Sdk
  client: AgentContext
  capabilities: ClientCapabilities | undefined
  office: Office
  clock: Clock
  tell: Tell
  /** The one call that is at work, if it is one. */
  openCall(): string | undefined
}

/** The questions that an editor is asked now. Whoever answers first counts: the others are taken back. */
export class Questions {
  #parts: QuestionParts
  #open = new Map<string, AbortController>()

  constructor(parts: QuestionParts) {
    this.#parts = parts
  }

  /** A question of a turn: its answer goes to the desk. */
  async show(ask: string, question: Question): Promise<void> {
    const withdrawn = new AbortController()
    this.#open.set(ask, withdrawn)
    const picks = await this.ask(question, withdrawn.signal)
    this.#open.delete(ask)
    if (!withdrawn.signal.aborted) this.#parts.office.desk.answer(ask, picks)
  }

  takeBack(ask: string): void {
    this.#open.get(ask)?.abort()
  }

  close(): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort()
  }

  /** A question that belongs to no call is shown as one, so that there is something to say yes to. */
  readonly ask: Ask = async (question, withdrawn) => {
    const { tell, office, clock } = this.#parts
    const open = question.about === 'permission' ? this.#parts.openCall() : undefined
    const call = open ?? `ask/${newId(clock.now())}`
    if (open === undefined)
      await tell({
        sessionUpdate: 'tool_call',
        toolCallId: call,
        title: titleOf(question),
        kind: 'think',
        status: 'pending',
        content: shownContent(question.shows ?? [], office.cwd),
      })
    const picks = await this.#picks(question, call, withdrawn)
    if (open === undefined)
      await tell({ sessionUpdate: 'tool_call_update', toolCallId: call, status: picks ? 'completed' : 'failed' })
    return picks
  }

  /** An editor that cannot ask has nobody to ask. */
  #picks(question: Question, call: string, withdrawn: AbortSignal): Promise<string[] | undefined> {
    const { sdk, client, office, capabilities } = this.#parts
    const forms = Boolean(capabilities?.elicitation?.form)
    const parts = { sdk, client, session: office.session, cwd: office.cwd, forms }
    return askEditor(parts, question, call, withdrawn).catch(() => undefined)
  }
}
