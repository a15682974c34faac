/** A hub's knowledge of a machine that is linked to it. */
export type LinkedMachine = {
  machine: string
  /** When the link began, in ms since 1970. */
  since: number
  /** The number of the link: `bind` counts the links of a machine, and the highest number is the one that counts. */
  link: number
  /** The version of termaite on that machine. */
  version: string
  /** The offers of the machine: what it lets people elsewhere see and do. */
  offers: readonly string[]
  /** The names of the work that the machine carries out for hubs. */
  works: readonly string[]
  /** Whether the hub that the machine is linked to runs on the machine itself. */
  runsHub?: true
}

/** A machine as the book has it. Without `hub` the machine is offline, and `seen` says since when. */
export type BookedMachine = LinkedMachine & { seen: number; hub?: { id: string; url?: string } }

/** A machine's claim on its name: the key that it came with, and a proof that only that machine can give again, both as hashes. */
export type MachineClaim = { machine: string; key: string; keyName: string; proof: string }

/** `link` is the number of the new link; `taken` names the key that the name belongs to. */
export type Bound = { link: number } | { taken: { keyName: string; seen: number } }

/**
 * The address book that the hubs of one ledger share: which hub a machine is linked to, and how that hub is reached. A hub that is
 * killed no longer renews its lease, and its machines are offline until they link to another hub.
 *
 * A ledger needs two tables for it: `hub_nodes (id primary key, url, until)` and `machines (machine primary key, key, key_name,
 * proof, link, since, seen, version, offers, works, hub)`, and one secret that is made once and never changes.
 */
export interface HubBook {
  /**
   * Gives the name of a machine to a claim and counts its links, in one transaction. The name belongs to the claim when nobody has it,
   * when the key or the proof is the one that has it, or when its machine was not seen for `forgottenMs`.
   */
  bind(claim: MachineClaim): Promise<Bound>
  /**
   * Says which machines are linked to a hub, in place of what the hub said before, for `leaseMs`. A machine whose number in the book is
   * higher has linked to another hub since, and stays there: its name is returned, so that the hub drops its own older link.
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

/** A hub renews its lease this often, and at once when a machine links or goes. */
export const announceMs = 10_000

/** A hub that has not renewed its lease for this long is gone. */
export const leaseMs = 30_000

/** The name of a machine that was offline for this long is free again. */
export const forgottenMs = 30 * 24 * 3_600_000
