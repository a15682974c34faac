/** The rights of a client at the hub; `hub/hub-roles.ts` is the table of operations. */
export const hubRoles = ['observer', 'agent', 'member', 'admin'] as const

export type HubRole = (typeof hubRoles)[number]

/** The rights of a caller: those of a key, or those of a browser whose link shows one session. */
export type CallerRole = HubRole | 'guest'

/** A client's key as the hub keeps it. The secret itself is known to the client alone. */
export type HubKey = {
  id: string
  /** The client's name. Everything that it does at the hub is kept under this name; for an agent it is the agent's id. */
  name: string
  role: HubRole
  /** SHA-256 of the secret, in hex. */
  hash: string
  made: number
  /** The name of the client that made the key. */
  by: string
  /** When the key was last used, to within some minutes. */
  used?: number
  /** Set for a key that was made for one run of an agent. It ends with the run, and by itself when nobody uses it. */
  lent?: true
}

/** The client that a request comes from; `session` is the only session that a guest can read. */
export type HubCaller = Pick<HubKey, 'id' | 'name'> & { role: CallerRole; session?: string }

/** Where the hub's keys are stored. Names are unique whatever their case; every change is durable when it returns. */
export interface HubKeyBook {
  all(): HubKey[]
  withHash(hash: string): HubKey | undefined
  /** Stores a key, in place of the key with the id `instead` where one is named. False when the name is taken or that key is gone. */
  put(key: HubKey, instead?: string): boolean
  /** False when there is no such key. */
  remove(id: string): boolean
  markUsed(id: string, at: number): void
}
