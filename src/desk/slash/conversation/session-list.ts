import type { CommandWorld, ListRow, ListTalk, ListView } from '../../../core/talk/command.ts'
import type { Hit, Index, Session } from '../../../store/index/conversation-index.ts'
import type { SessionNode } from '../../session-lookup.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { resolve } from 'node:path'
import { openIndex } from '../../../store/index/conversation-index.ts'
import { oneLine } from '../../../base/text/table.ts'
import { relativeTime } from '../../../base/time/local-time.ts'
import { UsageError, voiceOf } from '../../../core/io.ts'
import { fileStore } from '../../../store/files/file-store.ts'
import { deletionQuestion, renameSession, sessionTree, title, treeTitle } from '../../session-lookup.ts'
import { keeping } from '../shared/session-index.ts'
import { writeExport } from './export.ts'

/** The most matches in the words of sessions; of one session the best is shown. */
const mostHits = 200

/** The person’s choice for a session, which is done once the list is closed. */
type NextAct = { act: 'open' | 'fork'; session: Session }

/** Shows the sessions of this project as a list with keys, until the person leaves it. */
export async function showSessions(controls: DeskControls, { screen }: CommandWorld): Promise<NextAct | undefined> {
  const { place, io } = keeping(controls)
  const index = openIndex(place.home, voiceOf(io))
  try {
    await index.catchUp()
    const list = new SessionList(controls, index)
    await screen.list!(list)
    return list.next
  } finally {
    await index.close()
  }
}

class SessionList implements ListView {
  readonly name = 'sessions'
  readonly title = 'Sessions'
  readonly searches = true
  readonly actions = { open: 'opens', rename: 'renames', fork: 'forks', export: 'exports', delete: 'deletes' }
  #controls: DeskControls
  #index: Index
  next: NextAct | undefined
  #shown = new Map<string, Session>()

  constructor(controls: DeskControls, index: Index) {
    this.#controls = controls
    this.#index = index
  }

  empty(typed: string): string {
    return typed === ''
      ? 'There is no session in this project yet. The first request begins one.'
      : `No session has “${typed}” in its name or its words.`
  }

  async rows(typed: string): Promise<ListRow[]> {
    const { project, session: open, io } = this.#controls.app()
    const [all, agents, doc] = await Promise.all([
      this.#index.sessions({ project: project.slug }),
      this.#index.agents({ project: project.slug }),
      project.doc.read(),
    ])
    const nodes = sessionTree(all, doc.sessions)
    const found = typed === '' ? nodes.map((node) => ({ node })) : await this.#found(typed, nodes)
    this.#shown = new Map(all.map((session) => [session.id, session]))
    const now = io.clock.now()
    return found.map(({ node, hit }: { node: SessionNode; hit?: Hit }) => {
      const { session } = node
      const by = session.cli === undefined ? (agents.get(session.id) ?? []).join(', ') : ''
      const name = treeTitle(typed === '' ? node : { ...node, depth: 0 })
      return {
        id: session.id,
        title: session.id === open.id ? `${name} (open)` : name,
        cells: [by, `${session.turns} ${session.turns === 1 ? 'turn' : 'turns'}`, relativeTime(now, session.last)],
        ...(hit === undefined ? {} : { note: oneLine(hit.snippet, 200) }),
      }
    })
  }

  async act(action: string, row: ListRow | undefined, talk: ListTalk): Promise<string | undefined> {
    const session = row && this.#shown.get(row.id)
    if (!session) return undefined
    switch (action) {
      case 'open':
      case 'fork':
        this.next = { act: action, session }
        talk.close()
        return undefined
      case 'rename':
        return this.#rename(session, talk)
      case 'export':
        return this.#export(session, talk)
      case 'delete':
        return this.#delete(session, talk)
      default:
        return undefined
    }
  }

  /** The sessions whose name has every word, and behind them those that have the words in their conversation. */
  async #found(typed: string, nodes: readonly SessionNode[]): Promise<{ node: SessionNode; hit?: Hit }[]> {
    const words = typed.toLowerCase().split(/\s+/)
    const isNamed = (node: SessionNode) => words.every((word) => treeTitle(node).toLowerCase().includes(word))
    const named = nodes.filter(isNamed)
    const hits = new Map<string, Hit>()
    const { slug } = this.#controls.app().project
    for (const hit of await this.#index.search(typed, { project: slug, limit: mostHits }))
      if (!hits.has(hit.session)) hits.set(hit.session, hit)
    const said = [...hits].flatMap(([id, hit]) => {
      const node = nodes.find(({ session }) => session.id === id)
      return node && !named.includes(node) ? [{ node, hit }] : []
    })
    return [...named.map((node) => ({ node })), ...said]
  }

  async #rename(session: Session, talk: ListTalk): Promise<string | undefined> {
    const name = (await talk.line('New name', session.name ?? ''))?.trim()
    if (name === undefined || name === '' || name === session.name) return undefined
    await renameSession(this.#controls.app().project, session, name)
    await this.#index.catchUp()
    if (session.id === this.#controls.app().session.id) await this.#controls.renamed(name)
    return `“${title(session)}” is now called “${name}”.`
  }

  async #export(session: Session, talk: ListTalk): Promise<string | undefined> {
    const { place } = this.#controls.app()
    const name = await talk.line('Write to (.md, .json, .jsonl)', `termaite-${session.id}.md`)
    if (name === undefined || name.trim() === '') return undefined
    const path = resolve(place.cwd, name.trim())
    await writeExport(this.#controls.app(), this.#index, session, path)
    return `“${title(session)}” is in ${path}. Secrets in it are masked.`
  }

  async #delete(session: Session, talk: ListTalk): Promise<string | undefined> {
    const { io, place, project, session: open } = this.#controls.app()
    if (session.id === open.id)
      throw new UsageError('This session is open here. Open another one first, or begin a new one with /reset.')
    const { deleteSession, deletionHindrance } = await import('../../../turn/session-deletion.ts')
    const parts = { io, home: place.home, store: fileStore(place.home, voiceOf(io)), project }
    const refuse = async () => {
      const why = await deletionHindrance(parts, session)
      if (why !== undefined) throw new UsageError(`“${title(session)}” is kept, because ${why}`)
    }
    await refuse()
    if (!(await talk.sure(deletionQuestion(session)))) return undefined
    // The person may have thought for long.
    await refuse()
    await deleteSession(parts, session)
    return `Deleted “${title(session)}”.`
  }
}
