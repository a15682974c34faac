import type { HubInvite } from '../model/access/hub-invite.ts'
import type { HubKey } from '../model/access/hub-key.ts'
import type { KeptRequest } from '../../core/work/hub-request.ts'
import type { SignIn, SignInLink } from '../model/access/sign-in.ts'
import type { RemovedTask } from '../model/tasks/retention.ts'
import type { TaskNote } from '../model/tasks/task-note.ts'
import type { Table } from './tables.ts'

/** Keys. `used` has a column of its own, so that a use does not rewrite the whole key. */
export const keyTable: Table<HubKey> = {
  name: 'keys',
  json: ({ used: _, ...key }) => key,
  columns: [
    { name: 'id', type: 'text', of: ({ id }) => id },
    { name: 'name', type: 'text', of: ({ name }) => name, rule: 'UNIQUE COLLATE NOCASE' },
    { name: 'hash', type: 'text', of: ({ hash }) => hash, rule: 'UNIQUE' },
    { name: 'made', type: 'wholeTime', of: ({ made }) => made },
    { name: 'key', type: 'json', of: (_, json) => json },
    { name: 'used', type: 'wholeTime', of: ({ used }) => used, isOptional: true },
  ],
}

export const inviteTable: Table<HubInvite> = {
  name: 'invites',
  json: (invite) => invite,
  columns: [
    { name: 'id', type: 'text', of: ({ id }) => id },
    { name: 'name', type: 'text', of: ({ name }) => name, rule: 'UNIQUE COLLATE NOCASE' },
    { name: 'hash', type: 'text', of: ({ hash }) => hash, rule: 'UNIQUE' },
    { name: 'ends', type: 'time', of: ({ ends }) => ends },
    { name: 'invite', type: 'json', of: (_, json) => json },
  ],
}

/** Links by which browsers sign in. */
export const linkTable: Table<SignInLink> = {
  name: 'links',
  json: (link) => link,
  columns: [
    { name: 'id', type: 'text', of: ({ id }) => id },
    { name: 'name', type: 'text', of: ({ name }) => name, only: 'postgres' },
    { name: 'made', type: 'wholeTime', of: ({ made }) => made },
    { name: 'link', type: 'json', of: (_, json) => json },
  ],
}

/** Browsers that have signed in, with a column of its own for the last use. */
export const signInTable: Table<SignIn> = {
  name: 'sign_ins',
  json: ({ used: _, ...signIn }) => signIn,
  columns: [
    { name: 'id', type: 'text', of: ({ id }) => id },
    { name: 'cookie', type: 'text', of: ({ cookieHash }) => cookieHash, rule: 'UNIQUE' },
    { name: 'made', type: 'wholeTime', of: ({ made }) => made },
    { name: 'sign_in', type: 'json', of: (_, json) => json },
    { name: 'used', type: 'wholeTime', of: ({ used }) => used, isOptional: true },
  ],
}

/** Requests that clients may send again. */
export const requestTable: Table<KeptRequest> = {
  name: 'requests',
  json: () => null,
  columns: [
    { name: 'name', type: 'text', of: ({ name }) => name },
    { name: 'run', type: 'text', of: ({ run }) => run },
    { name: 'body', type: 'text', of: ({ body }) => body },
    { name: 'at', type: 'time', of: ({ at }) => at },
    { name: 'answer', type: 'text', of: ({ answer }) => answer, isOptional: true },
  ],
}

export const noteTable: Table<{ task: string; note: TaskNote }> = {
  name: 'notes',
  key: ['task', 'number'],
  json: ({ note }) => note,
  columns: [
    { name: 'task', type: 'text', of: ({ task }) => task },
    { name: 'number', type: 'number', of: ({ note }) => note.number },
    { name: 'note', type: 'json', of: (_, json) => json },
  ],
}

/** The ids of tasks that were removed. SQLite finds the end of an id by the id read backwards. */
export const removedTable: Table<RemovedTask> = {
  name: 'removed_tasks',
  json: () => null,
  columns: [
    { name: 'id', type: 'text', of: ({ id }) => id },
    { name: 'tail', type: 'text', of: ({ id }) => tailOf(id), only: 'sqlite' },
    { name: 'state', type: 'text', of: ({ state }) => state },
    { name: 'at', type: 'time', of: ({ at }) => at },
    { name: 'kept', type: 'time', of: ({ keptMs }) => keptMs },
  ],
}

/** An id read backwards. */
export const tailOf = (id: string) => [...id].toReversed().join('')
