import type { TurnRow } from '../../core/turns/machine-turns.ts'
import type { FullDisk } from '../../core/work/full-disk.ts'
import type { InboxItem, InboxMark, InboxRow } from '../model/tasks/inbox.ts'
import type { HubLedger, LedgerLook } from '../model/hub-ledger.ts'
import type { WorkspaceDay } from '../model/tasks/spending-cap.ts'
import type { StandingAgent } from '../model/tasks/task-wait.ts'
import type { Rounds } from './rounds/rounds.ts'
import { defined } from '../../base/defined.ts'
import { inboxItems, inboxRows, markKey } from '../model/tasks/inbox.ts'
import { HubError } from './rules/task-rules.ts'

type HubInboxParts = {
  rounds: Pick<Rounds, 'wish'>
  ledger: HubLedger
  /** Every agent with its standing at the hub. */
  agents(look: LedgerLook): Promise<StandingAgent[]>
  /** The tokens and the cost that each workspace has used today. */
  days(look: LedgerLook): Promise<WorkspaceDay[]>
  /** The disk of the ledger, if it is nearly full. */
  disk(): FullDisk | undefined
}

/** The most tasks of one kind that an inbox is made of, the newest first. */
const mostTasks = 1_000

/** The inboxes of people: everything that waits for a person, and what each person has done with it. */
export class HubInbox {
  #parts: HubInboxParts

  constructor(parts: HubInboxParts) {
    this.#parts = parts
  }

  marks(): Promise<InboxMark[]> {
    return this.#parts.ledger.look((look) => look.marks())
  }

  /** The inbox of a person. `turns` are those of machines that the person may answer. */
  rows(person: string, turns: readonly TurnRow[] = []): Promise<InboxRow[]> {
    return this.#parts.ledger.look(async (look) => {
      const marks = new Map((await look.marks()).map((mark) => [markKey(mark), mark]))
      return inboxRows(person, await this.itemsIn(look, turns), marks, look.now)
    })
  }

  /** Records a person's act on an item, or to whom the item is assigned. */
  async mark(
    person: string,
    { item, owner, ...own }: Omit<InboxMark, 'person'>,
    turns: readonly TurnRow[] = [],
  ): Promise<void> {
    if (!(await this.items(turns)).some(({ id }) => id === item))
      throw new HubError('missing', `Nothing in the inbox is called "${item}": somebody may have answered it already.`)
    await this.#parts.rounds.wish({
      reads: () => ({ marks: [markKey({ item, person })] }),
      decide: (rows) => {
        if (owner !== undefined) rows.mark(defined({ item, owner: owner === '' ? undefined : owner }))
        const known = rows.markOf({ item, person })
        if (Object.keys(defined(own)).length > 0) rows.mark({ ...known, ...defined(own), item, person })
      },
    })
  }

  /** Everything that waits for a person. */
  items(turns: readonly TurnRow[] = []): Promise<InboxItem[]> {
    return this.#parts.ledger.look((look) => this.itemsIn(look, turns))
  }

  /** Everything that waits for a person, read from one snapshot of the ledger. */
  async itemsIn(look: LedgerLook, turns: readonly TurnRow[] = []): Promise<InboxItem[]> {
    const { agents, days, disk } = this.#parts
    const waiting = await look.list({ states: ['BLOCKED', 'IN_REVIEW', 'FAILED'], most: mostTasks })
    const named = await look.list({ mentions: true, most: mostTasks })
    const tasks = new Map([...waiting, ...named].map(({ task }) => [task.id, task]))
    return inboxItems({
      tasks: tasks.values(),
      agents: await agents(look),
      turns,
      days: await days(look),
      pipelines: (await look.pipelines()).map(({ pipeline }) => pipeline),
      disk: disk(),
      now: look.now,
    })
  }
}
