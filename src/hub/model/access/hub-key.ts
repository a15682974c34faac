/** The rights of a client at the hub; `rights.ts` is the table of what each role may do. */
export const hubRoles = ['observer', 'agent', 'member', 'admin'] as const

export type HubRole = (typeof hubRoles)[number]

/** The rights of a caller: the rights of a key, or those of a browser whose link shows one session. */
export const callerRoles = [...hubRoles, 'guest'] as const

export type CallerRole = (typeof callerRoles)[number]

/** A client's key as the hub stores it. Only the client knows the secret itself. */
export type HubKey = {
  id: string
  /** The client's name, under which everything that it does at the hub is recorded; for an agent it is the agent's id. */
  name: string
  role: HubRole
  /** SHA-256 of the secret, in hex. */
  hash: string
  made: number
  /** The name of the client that made the key. */
  by: string
  /** When the key was last used, accurate to some minutes. */
  used?: number
  /** The wall-clock time at which the key expires. */
  ends?: number
  /** The previous secret, which is accepted until it expires, so that clients can be given the new one in the meantime. */
  old?: { hash: string; ends: number }
  /** Set for a key that was made for one run of an agent. It is revoked when the run ends, and expires if nobody uses it. */
  lent?: true
}

/** A key as it is listed: without anything that would reveal its secret. */
export type ListedKey = Omit<HubKey, 'hash' | 'old'> & {
  /** When the previous secret expires, while it is still accepted. */
  oldEnds?: number
}

/** A new key. Its secret is shown once, and stored nowhere. */
export type NewKey = { key: ListedKey; secret: string }

/** How long the old secret is accepted, and how long the key with the new one lasts. */
export type Rotation = { graceMs?: number; lifeMs?: number }

/** The client that a request comes from. */
export type HubCaller = Pick<HubKey, 'id' | 'name'> & {
  role: CallerRole
  /** The only session that a guest can read. */
  session?: string
  /** When the client's key, secret or link expires. */
  ends?: number
  /** Set for a person whom the proxy in front of the hub has signed in. */
  sso?: true
}

/** Stores the hub's keys. Names are unique regardless of case; every change is durable when its promise resolves. */
export interface HubKeyBook {
  all(): Promise<HubKey[]>
  /** The key with a secret, or with an old secret, of this hash. */
  withHash(hash: string): Promise<HubKey | undefined>
  /**
   * Stores a key; if `instead` is given, it replaces that key. False if the name is taken, or if the key to replace no longer exists or
   * has a new secret: of two clients that replace a key at once, only one succeeds.
   */
  put(key: HubKey, instead?: Pick<HubKey, 'id' | 'hash'>): Promise<boolean>
  /** False if there is no such key. */
  remove(id: string): Promise<boolean>
  markUsed(id: string, at: number): Promise<void>
}
