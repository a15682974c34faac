import type { HubInvite } from '../model/access/hub-invite.ts'
import type { HubKey } from '../model/access/hub-key.ts'
import type { KeptRequest } from '../../core/work/hub-request.ts'
import type { SignIn } from '../model/access/sign-in.ts'
import { defined } from '../../base/defined.ts'

/** An invitation as SQLite and PostgreSQL both keep it: as JSON. */
export type InviteRow = { invite: string }

export const inviteOf = ({ invite }: InviteRow) => JSON.parse(invite) as HubInvite

/** A request as SQLite and PostgreSQL both keep it. */
export type RequestRow = Omit<KeptRequest, 'answer'> & { answer: string | null }

export const requestOf = ({ name, run, body, at, answer }: RequestRow): KeptRequest =>
  defined({ name, run, body, at, answer: answer ?? undefined })

/** A key as SQLite and PostgreSQL both keep it. `used` has a column of its own, so that a use does not rewrite the whole key. */
export type KeyRow = { key: string; used: number | null }

export const keyOf = ({ key, used }: KeyRow): HubKey =>
  defined({ ...(JSON.parse(key) as HubKey), used: used ?? undefined })

/** A sign-in as SQLite and PostgreSQL both keep it, with a column of its own for its last use. */
export type SignInRow = { sign_in: string; used: number | null }

export const signInOf = ({ sign_in, used }: SignInRow): SignIn =>
  defined({ ...(JSON.parse(sign_in) as SignIn), used: used ?? undefined })
