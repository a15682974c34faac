import type { KeptText, TryBundle } from '../../model/tasks/task-try.ts'
import type { TaskTexts } from './task-texts.ts'
import { sha256 } from '../../../base/hash.ts'
import { StoreError } from '../../../core/talk/store.ts'
import { bundlePart, longestBundle } from '../../model/tasks/task-try.ts'
import { HubError } from '../rules/task-rules.ts'

const megabytes = longestBundle / 1024 / 1024

/** The work of tasks as git bundles. Each is kept in parts, which are texts of the hub like any other and are removed with their task. */
export class WorkBundles {
  #texts: Pick<TaskTexts, 'read'>

  constructor(texts: Pick<TaskTexts, 'read'>) {
    this.#texts = texts
  }

  /** The ids of the parts that the hub does not have yet. */
  async missing(bundle: TryBundle): Promise<string[]> {
    checkSizes(bundle)
    const missing: string[] = []
    for (const part of bundle.parts) if (!(await this.#has(part))) missing.push(part.id)
    return missing
  }

  /** Refuses a bundle if a part is missing, or if the parts do not add up to the whole that its id names. */
  async check(bundle: TryBundle): Promise<void> {
    checkSizes(bundle)
    const hash = sha256()
    let bytes = 0
    try {
      for await (const chunk of this.read(bundle)) {
        hash.update(chunk)
        bytes += chunk.length
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      throw new HubError('wrong', 'Parts of the bundle are missing at the hub. Ask which ones, and send them first.')
    }
    if (bytes !== bundle.bytes || hash.digest('hex') !== bundle.id)
      throw new HubError(
        'wrong',
        'The parts of the bundle do not make up the whole: its checksum is another one. Send it again.',
      )
  }

  /** The bytes of a bundle, starting at an offset, so that an interrupted download can continue. */
  async *read({ parts }: Pick<TryBundle, 'parts'>, from = 0): AsyncGenerator<Uint8Array> {
    let skip = from
    for (const part of parts) {
      if (skip >= part.bytes) {
        skip -= part.bytes
        continue
      }
      for await (const chunk of this.#texts.read(part)) {
        const left = chunk.subarray(Math.min(skip, chunk.length))
        skip -= chunk.length - left.length
        if (left.length > 0) yield left
      }
    }
  }

  async #has(part: KeptText): Promise<boolean> {
    try {
      for await (const _ of this.#texts.read(part)) return true
      return part.bytes === 0
    } catch (error) {
      if (error instanceof StoreError) return false
      throw error
    }
  }
}

function checkSizes({ bytes, parts }: TryBundle): void {
  if (bytes > longestBundle)
    throw new HubError(
      'long',
      `The bundle is larger than ${megabytes} MB, which is the most that the hub keeps. Push the branch instead.`,
    )
  const sum = parts.reduce((total, part) => total + part.bytes, 0)
  if (sum !== bytes || parts.some((part, at) => at < parts.length - 1 && part.bytes !== bundlePart))
    throw new HubError(
      'wrong',
      `Each part of a bundle but the last has ${bundlePart} bytes, and together they have as many as the whole.`,
    )
}
