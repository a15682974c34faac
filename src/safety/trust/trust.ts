import { realpath } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import type { Store } from '../../core/talk/store.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Steering } from './steering.ts'
import { markOf, steeringFiles } from './steering.ts'

/** `files`: what would be used once it is trusted; with `changed`, only what is not as it was. `mark`: all of it as it is now. */
export type Trust = { state: 'trusted' | 'unknown' | 'changed'; files: string[]; mark: string }

type Kept = Record<string, { at: number; files: Steering[] }>

/** Which folders a person trusts, pinned by the content of what can run code or steer. */
export class TrustBook {
  #doc
  #clock: Clock

  constructor(store: Store, clock: Clock) {
    this.#doc = store.doc<Kept>('trust', {}, asKept)
    this.#clock = clock
  }

  /** A folder with nothing in it that needs trust has it. */
  async of(root: string): Promise<Trust> {
    const real = await realpath(root)
    return standing(await steeringFiles(real), (await this.#doc.read())[real]?.files)
  }

  /** Trusts what a person saw, by its mark; what changed since they saw it is not trusted with it. */
  async trust(root: string, mark: string): Promise<Trust> {
    const real = await realpath(root)
    const files = await steeringFiles(real)
    if (markOf(files) === mark) await this.#doc.update((all) => ({ ...all, [real]: { at: this.#clock.now(), files } }))
    return this.of(real)
  }

  async forget(root: string): Promise<void> {
    const real = await realpath(root).catch(() => root)
    await this.#doc.update(({ [real]: _gone, ...rest }) => rest)
  }
}

/** The card that asks for it. */
export function trustQuestion(root: string, { state, files }: Trust): Question {
  const what = state === 'changed' ? 'has changed since you trusted it' : 'can run programs and steer agents'
  return {
    about: 'trust',
    text: `What comes with ${root} ${what}. It is used only if you trust it.`,
    from: [],
    shows: [{ type: 'text', text: files.join('\n') }],
    options: [
      {
        id: 'trust',
        label: 'Trust it as it is now',
        grants: `${files.length} ${files.length === 1 ? 'file' : 'files'} until one of them changes`,
      },
      { id: 'no', label: 'Leave it unused' },
    ],
  }
}

function standing(files: readonly Steering[], before: readonly Steering[] | undefined): Trust {
  const mark = markOf(files)
  const paths = files.map(({ path }) => path)
  if (files.length === 0) return { state: 'trusted', files: [], mark }
  if (!before) return { state: 'unknown', files: paths, mark }
  const changed = difference(before, files)
  return changed.length === 0 ? { state: 'trusted', files: paths, mark } : { state: 'changed', files: changed, mark }
}

/** What was added, changed or taken away. */
function difference(before: readonly Steering[], now: readonly Steering[]): string[] {
  const known = new Map(before.map(({ path, hash }) => [path, hash]))
  const changed = now.filter(({ path, hash }) => known.get(path) !== hash).map(({ path }) => path)
  const there = new Set(now.map(({ path }) => path))
  return [...changed, ...before.filter(({ path }) => !there.has(path)).map(({ path }) => path)].sort()
}

function asKept(found: unknown): Kept | undefined {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined
  return Object.values(found).every((one) => Array.isArray((one as { files?: unknown } | null)?.files))
    ? (found as Kept)
    : undefined
}
