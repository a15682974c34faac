/** A hub's knowledge about a machine that is linked to it. */
export type LinkedMachine = {
  machine: string
  /** When the link began, in ms since 1970. */
  since: number
  /** The number of the link: `bind` numbers the links of a machine, and the link with the highest number is the valid one. */
  link: number
  /** The version of termaite on that machine. */
  version: string
  /** The offers of the machine: what it lets people elsewhere see and do. */
  offers: readonly string[]
  /** The names of the work that the machine does for hubs. */
  works: readonly string[]
  /** Whether the hub that the machine is linked to runs on the machine itself. */
  runsHub?: true
}

/** A machine in the address book. Without `hub` the machine is offline, and `seen` says since when. */
export type BookedMachine = LinkedMachine & { seen: number; hub?: { id: string; url?: string } }

/** A machine's claim to its name: the key with which it connected, and a proof that only this machine can repeat, both as hashes. */
export type MachineClaim = { machine: string; key: string; keyName: string; proof: string }

/** `link` is the number of the new link; `taken` names the key that the name belongs to. */
export type Bound = { link: number } | { taken: { keyName: string; seen: number } }

/**
 * The address book that the hubs of one ledger share: it records which hub a machine is linked to, and how that hub is reached. A hub
 * that is killed no longer renews its lease, and its machines count as offline until they link to another hub.
 * A ledger needs two tables for it: `hub_nodes (id primary key, url, until)` and `machines (machine primary key, key, key_name, proof,
 * link, since, seen, version, offers, works, hub)`, and one secret that is made once and never changes.
 */
export interface HubBook {
  /**
   * Gives the name of a machine to a claim and numbers the link, in one transaction. The claim gets the name if nobody has it, if the key
   * or the proof matches the present owner's, or if the owner was not seen for `forgottenMs`.
   */
  bind(claim: MachineClaim): Promise<Bound>
  /**
   * Records for `leaseMs` which machines are linked to a hub, in place of the hub's earlier announcement. A machine with a higher number
   * in the book has linked to another hub since, and stays there: its name is returned, so that the announcing hub drops its own older
   * link.
   */
  announce(hub: { id: string; url?: string; machines: readonly LinkedMachine[] }): Promise<{ gone: string[] }>
  /** Ends the lease of a hub at once, because that hub is closing. */
  withdraw(id: string): Promise<void>
  find(machine: string): Promise<BookedMachine | undefined>
  /** Every machine that was seen within `forgottenMs`, in alphabetical order. */
  machines(): Promise<BookedMachine[]>
  /** Forgets a machine that is offline, so that its name is free; false if no such machine is offline. */
  forget(machine: string): Promise<boolean>
  /** The secret of 32 bytes that only the hubs of this ledger know, and by which they recognize each other. */
  secret(): Promise<Uint8Array>
}

/** How often a hub renews its lease; it also does so at once when a machine links or leaves. */
export const announceMs = 10_000

/** A hub that has not renewed its lease for this long counts as gone. */
export const leaseMs = 30_000

/** The name of a machine that was offline for this long becomes free. */
export const forgottenMs = 30 * 24 * 3_600_000
