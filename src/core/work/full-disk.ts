import { sizeWords } from '../../base/text/size-words.ts'

/** If a disk has fewer free bytes, it is nearly full, and a person has to make room. */
export const littleDisk = 1_000_000_000

/** The disk of a hub's ledger while it is nearly full: since when, and the bytes that are free. */
export type FullDisk = { since: number; free: number }

/** Says that the disk of a ledger is nearly full, and what to do. */
export const fullDiskWords = (free: number) =>
  `The disk of the hub’s ledger is nearly full: ${sizeWords(free)} free. Make room: termaite hub prune --older-than 30d, or remove other files. Below 268 MB the hub takes no diffs and files.`
