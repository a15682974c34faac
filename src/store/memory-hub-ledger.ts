import type { HubKey, HubKeyBook } from '../core/work/hub-key.ts'
import type { SignIn, SignInBook, SignInLink } from '../core/work/sign-in.ts'
import type { InboxMark } from '../core/work/inbox.ts'
import type { HubChange, HubLedger } from '../core/work/hub-ledger.ts'
import type { HubAgent, Task } from '../core/work/task.ts'
import { markKey } from '../core/work/inbox.ts'

/** A hub's ledger in memory; it copies what is stored and what is read, as a file does. */
export function memoryHubLedger(): HubLedger {
  const tasks = new Map<string, Task>()
  const agents = new Map<string, HubAgent>()
  const marks = new Map<string, InboxMark>()
  const changes: HubChange[] = []
  return {
    keys: memoryKeyBook(),
    signIns: memorySignInBook(),
    load: () =>
      structuredClone({
        seq: changes.at(-1)?.seq ?? 0,
        agents: [...agents.values()],
        tasks: [...tasks.values()],
        marks: [...marks.values()],
      }),
    keep(more, whole) {
      changes.push(...structuredClone(more))
      for (const task of structuredClone(whole)) tasks.set(task.id, task)
      for (const change of structuredClone(more)) {
        if (change.type === 'agent') agents.set(change.agent.id, change.agent)
        if (change.type === 'gone') agents.delete(change.id)
        if (change.type === 'mark') marks.set(markKey(change.mark), change.mark)
      }
    },
    since: (seq, most) => structuredClone(changes.filter((change) => change.seq > seq).slice(0, most)),
    close() {},
  }
}

function memoryKeyBook(): HubKeyBook {
  const keys = new Map<string, HubKey>()
  return {
    all: () => structuredClone([...keys.values()]),
    withHash: (hash) => structuredClone([...keys.values()].find((key) => key.hash === hash)),
    put(key, instead) {
      if (instead !== undefined && !keys.has(instead)) return false
      const name = key.name.toLowerCase()
      if ([...keys.values()].some((other) => other.id !== instead && other.name.toLowerCase() === name)) return false
      if (instead !== undefined) keys.delete(instead)
      keys.set(key.id, structuredClone(key))
      return true
    },
    remove: (id) => keys.delete(id),
    markUsed(id, at) {
      const key = keys.get(id)
      if (key) keys.set(id, { ...key, used: at })
    },
  }
}

function memorySignInBook(): SignInBook {
  const links = new Map<string, SignInLink>()
  const signIns = new Map<string, SignIn>()
  return {
    links: () => structuredClone([...links.values()]),
    putLink(link) {
      links.set(link.id, structuredClone(link))
    },
    removeLink: (id) => links.delete(id),
    all: () => structuredClone([...signIns.values()]),
    withCookie: (hash) => structuredClone([...signIns.values()].find(({ cookieHash }) => cookieHash === hash)),
    put(signIn) {
      const link = links.get(signIn.link)
      if (!link) return false
      if (link.once) links.delete(link.id)
      signIns.set(signIn.id, structuredClone(signIn))
      return true
    },
    remove: (id) => signIns.delete(id),
    markUsed(id, at) {
      const signIn = signIns.get(id)
      if (signIn) signIns.set(id, { ...signIn, used: at })
    },
  }
}
