import type { Store } from '../../core/talk/store.ts'
import type { Index, Session } from '../../store/index/conversation-index.ts'
import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Project, ProjectDoc } from '../../home/project.ts'
import { resolve } from 'node:path'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { openIndex } from '../../store/index/conversation-index.ts'
import { shortIds } from '../../base/id.ts'
import { listedTime, print, say, textFor, UsageError, voiceOf } from '../../core/io.ts'
import { placeOf } from '../../home/place.ts'
import { followMove, moveProject, refuseMove } from '../../turn/moved-project.ts'
import { openProject, slugOf } from '../../home/project.ts'
import { endKilledTurns } from '../../turn/killed-turns.ts'
import { deleteSession, deletionHindrance, finishAllDeletions } from '../../turn/session-deletion.ts'
import { confirm } from '../../questions/terminal-questions.ts'
import { localTime } from '../../base/time/local-time.ts'
import { exportSession } from '../../desk/session-export.ts'
import {
  deletionQuestion,
  renameSession,
  sessionNamed,
  sessionTree,
  title,
  treeTitle,
  withSession,
} from '../../desk/session-lookup.ts'
import { oneLine, table } from '../../base/text/table.ts'
import { borderOf } from '../../border/border.ts'
import { agentOfCli, continueImported } from '../../people/import/continued-session.ts'
import { readSettings } from '../../settings/settings.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io)
  if (words[0] === 'move') return move(io, place, words[1])
  await followMove(io, place)
  const store = fileStore(place.home, voiceOf(io))
  const index = openIndex(place.home, voiceOf(io))
  const asked = { io, index, json: values.json === true, of: values.all ? {} : { project: slugOf(place.root) } }
  try {
    const unended = await endKilled(io, store, place.home).then(() => undefined, messageOf)
    await index.catchUp()
    // If a history cannot be written, it is still read; an unreadable one was already reported.
    if (unended !== undefined) say(io, `termaite: ${unended}`)
    const [verb = 'list', id, ...rest] = words
    switch (verb) {
      case 'list':
        return await list(asked, store, place)
      case 'show':
        return await show(asked, id)
      case 'search':
        return await search(asked, [id ?? '', ...rest].join(' '))
      case 'export': {
        const session = await sessionNamed(asked, id)
        const format = typeof values.format === 'string' ? values.format : values.json ? 'json' : 'markdown'
        const mask = borderOf(io.env, place.home).toward('export')
        for await (const part of exportSession(session, index.entries(session.id), { store, mask }, format))
          await writeWhenRead(io, part)
        return 0
      }
      case 'resume': {
        const session = await sessionNamed(asked, id)
        const project = projectOf(session, store, place)
        if (session.cli !== undefined) return await takeOver(asked, session, session.cli, { project, store, place })
        const doc = await project.doc.update((now) => {
          // The coordinator has separate conversations, with its own current one.
          const line = now.sessions[session.id]?.mode ?? 'current'
          return { ...withSession(now, session), [line]: session.id }
        })
        const mode = doc.sessions[session.id]?.mode
        const next = mode === undefined ? 'The next turn' : `The next turn of the ${mode} (--mode ${mode})`
        print(io, `${next} in ${project.root} continues the session “${title(session)}”.`)
        return 0
      }
      case 'rename': {
        const session = await sessionNamed(asked, id)
        const name = rest.join(' ').trim()
        if (name === '')
          throw new UsageError('sessions rename: the new name is missing. Use: termaite sessions rename <id> <name>')
        await renameSession(projectOf(session, store, place), session, name)
        print(io, `${session.id} is now called "${name}".`)
        return 0
      }
      case 'delete':
        return await erase(asked, id, { store, place, yes: values.yes === true })
      default:
        throw new UsageError(
          `sessions: found "${verb}", allowed: list, show, search, resume, rename, delete, export, move.`,
        )
    }
  } finally {
    await index.close()
  }
}

/** Finishes the work of killed processes: turns, and deletions of sessions. */
async function endKilled(io: Io, store: Store, home: string): Promise<void> {
  await endKilledTurns(io, store, home)
  await finishAllDeletions(io, store, home)
}

/** Deletes a session for good, after a question. */
async function erase(
  asked: Asked,
  id: string | undefined,
  { store, place, yes }: { store: Store; place: Place; yes: boolean },
): Promise<number> {
  const { io } = asked
  if (id === undefined)
    throw new UsageError('sessions delete: the id of the session is missing. `termaite sessions` lists them.')
  const session = await sessionNamed(asked, id)
  const parts = { io, store, home: place.home, project: projectOf(session, store, place) }
  const refuse = async () => {
    const why = await deletionHindrance(parts, session)
    if (why !== undefined) throw new UsageError(`sessions delete: “${title(session)}” is kept, because ${why}`, 1)
  }
  await refuse()
  if (!(await confirm(io, deletionQuestion(session), yes))) {
    say(io, 'Nothing was deleted.')
    return 1
  }
  // The person may have thought for long.
  await refuse()
  await deleteSession(parts, session)
  print(io, `Deleted “${title(session)}”.`)
  return 0
}

/** Brings the conversation of another folder to this one. */
async function move(io: Io, place: Place, from: string | undefined): Promise<number> {
  if (from === undefined)
    throw new UsageError('sessions move: the old folder is missing. Use: termaite sessions move <old folder>')
  const old = resolve(io.cwd, from)
  refuseMove(old, place)
  say(io, `termaite: ${await moveProject(io, old, place)}`)
  return 0
}

/** Continues an imported session as a session of ours. */
async function takeOver(
  { io, index }: Asked,
  session: Session,
  cli: string,
  { project, store, place }: { project: Project; store: Store; place: Place },
): Promise<number> {
  const { agents } = await readSettings({ home: place.home, project: project.root }, { env: io.env })
  const agent = agentOfCli(agents, cli)
  const id = await continueImported({ project, store, index, clock: io.clock }, session, agent ?? cli)
  print(io, `The next turn in ${project.root} continues the session “${title(session)}” of ${cli}, as ${id}.`)
  const how =
    agent === undefined
      ? `No agent in the settings runs ${cli}: the agent that takes the turn gets what was said.`
      : `To let ${agent} go on in its own thread, give it the turn: termaite -a ${agent}`
  print(io, how)
  return 0
}

/** The project that a session belongs to. */
function projectOf(session: Session, store: Store, place: Place): Project {
  const path = session.path ?? (session.project === slugOf(place.root) ? place.root : undefined)
  if (path !== undefined) return openProject(store, path)
  throw new UsageError(
    `sessions: termaite does not know the folder of ${session.id}. Run the command again in that folder.`,
    1,
  )
}

type Asked = { io: Io; index: Index; json: boolean; of: { project?: string } }

async function list({ io, index, json, of }: Asked, store: Store, place: Place): Promise<number> {
  const sessions = await index.sessions(of)
  const known = await knownSessions(sessions, store, place)
  if (json) print(io, JSON.stringify(sessions.map((one) => defined({ ...one, mode: known[one.id]?.mode }))))
  else if (sessions.length === 0)
    say(io, of.project ? 'No conversation in this project yet; --all lists all projects.' : 'No conversation yet.')
  else {
    const short = await shortIdsIn(index)
    print(
      io,
      table([
        ['SESSION', 'LAST USED', 'TURNS', ...(of.project ? [] : ['PROJECT']), 'NAME OR FIRST PROMPT'],
        ...sessionTree(sessions, known).map((node) => [
          short(node.session.id),
          listedTime(io, node.session.last),
          String(node.session.turns),
          ...(of.project ? [] : [node.session.path ?? node.session.project]),
          treeTitle(node),
        ]),
      ]),
    )
  }
  return 0
}

/** Shortens ids so that they are found again in every project. */
const shortIdsIn = async (index: Index) => shortIds((await index.sessions()).map(({ id }) => id))

/** Reads from the projects' documents which of these sessions are forks, and which belong to the coordinator. */
async function knownSessions(
  sessions: readonly Session[],
  store: Store,
  place: Place,
): Promise<ProjectDoc['sessions']> {
  const roots = new Set(sessions.map(({ path }) => path ?? place.root))
  const docs = await Promise.all([...roots].map((root) => openProject(store, root).doc.read()))
  return Object.assign({}, ...docs.map((doc) => doc.sessions)) as ProjectDoc['sessions']
}

async function show(asked: Asked, id: string | undefined): Promise<number> {
  const { io, index, json } = asked
  const session = await sessionNamed(asked, id)
  if (json) for await (const part of shownJson(session, index)) await writeWhenRead(io, part)
  else
    for await (const message of index.messages(session.id))
      await writeWhenRead(io, stripAnsi(`${localTime(message.at)} ${message.by}: ${message.text.trim()}\n`))
  return 0
}

/** Writes a session as one JSON object, piece by piece: a long one would not fit into memory as a whole. */
async function* shownJson(session: Session, index: Index): AsyncGenerator<string> {
  yield JSON.stringify(session).slice(0, -1)
  yield* jsonList('messages', index.messages(session.id))
  yield* jsonList('tools', index.toolTrace(session.id))
  yield '}\n'
}

/** A property whose value is a list, behind other properties of an object. */
async function* jsonList(name: string, items: AsyncIterable<unknown>): AsyncGenerator<string> {
  let before = `,${JSON.stringify(name)}:[`
  for await (const item of items) {
    yield before + JSON.stringify(item)
    before = ','
  }
  yield before === ',' ? ']' : `${before}]`
}

/** Writes a part of a long output, and waits while the reader is slower, because unread output fills memory. */
async function writeWhenRead({ out }: Pick<Io, 'out'>, part: string): Promise<void> {
  if (out.write(textFor(out, part)) || out.destroyed) return
  await new Promise<void>((resolve) => {
    const done = () => {
      for (const event of ['drain', 'close', 'error']) out.off(event, done)
      resolve()
    }
    for (const event of ['drain', 'close', 'error']) out.once(event, done)
  })
}

async function search({ io, index, json, of }: Asked, text: string): Promise<number> {
  if (text.trim() === '')
    throw new UsageError(
      'sessions search: the words to search for are missing. Try: termaite sessions search "flaky test"',
    )
  const hits = await index.search(text, of)
  if (json) print(io, JSON.stringify(hits))
  else if (hits.length === 0)
    say(io, of.project ? 'Nothing found in this project; --all searches all projects.' : 'Nothing found.')
  else {
    const short = await shortIdsIn(index)
    const rows = hits.map((hit) => [short(hit.session), listedTime(io, hit.at), hit.by, oneLine(hit.snippet, 100)])
    print(io, table(rows))
  }
  return hits.length > 0 || json ? 0 : 1
}
