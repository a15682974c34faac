import { lstatSync } from 'node:fs'

export type Limits = {
  /** Files that one snapshot may have to read: the first one reads the whole tree. */
  files: number
  /** Bytes that one snapshot may have to read. */
  bytes: number
  /** How long one snapshot may take. */
  ms: number
  /** Turns that are kept. */
  turns: number
  /** What the whole store may weigh. */
  stored: number
}

const gigabyte = 1024 ** 3

export const usualLimits: Limits = {
  files: 60_000,
  bytes: gigabyte,
  ms: 15_000,
  turns: 200,
  stored: 2 * gigabyte,
}

/** What the files at these paths weigh together; stops counting above `limit`. */
export async function weigh(paths: readonly Buffer[], limit: number): Promise<number> {
  let bytes = 0
  for (const [i, path] of paths.entries()) {
    // A look at each of many files is fastest without a thread between, and lets others run now and then.
    if (i % 512 === 511) await new Promise((resolve) => setImmediate(resolve))
    bytes += lookAt(path)
    if (bytes > limit) break
  }
  return bytes
}

function lookAt(path: Buffer): number {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    return 0
  }
}
