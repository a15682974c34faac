import type { Doc, Store } from '../../core/talk/store.ts'
import type { Thing } from './belongings-search.ts'
import type { Written } from './changes.ts'
import { isDeepStrictEqual } from 'node:util'
import { takeBack } from './changes.ts'
import { thingWords } from './belongings-search.ts'

/** A thing of another CLI that was taken into use: its CLI, its source, and the change that was written for it. */
type UsedThing = { cli: string; what: string; source: string; at: number; written: Written }

/** Everything that was taken into use, so that one command can remove it again. */
type UsedDoc = { things: UsedThing[] }

const usedDoc = (store: Store): Doc<UsedDoc> => store.doc<UsedDoc>('belongings', { things: [] }, asKept)

function asKept(found: unknown): UsedDoc | undefined {
  const { things } = (typeof found === 'object' && found !== null ? found : {}) as { things?: unknown }
  const isUsed = (one: unknown) =>
    typeof one === 'object' && one !== null && typeof (one as { written?: unknown }).written === 'object'
  return Array.isArray(things) && things.every(isUsed) ? (found as UsedDoc) : undefined
}

/** Records a change before it is written. */
export async function keepUsed(
  store: Store,
  things: readonly { thing: Thing; written: Written }[],
  at: number,
): Promise<void> {
  const made = things.map(({ thing, written }) => {
    return { cli: thing.source.cli, what: thingWords(thing), source: thing.source.file, at, written }
  })
  await usedDoc(store).update(({ things: before }) => {
    const others = before.filter((one) => !made.some((now) => isDeepStrictEqual(now.written, one.written)))
    return { things: [...others, ...made] }
  })
}

/** The things of some CLIs that were taken into use. */
export async function usedThings(store: Store, clis: readonly string[]): Promise<UsedThing[]> {
  return (await usedDoc(store).read()).things.filter(({ cli }) => clis.includes(cli))
}

/** Removes the changes that were written for the things of some CLIs. Parts that were edited since stay, and are reported. */
export async function takeAllBack(
  store: Store,
  clis: readonly string[],
): Promise<{ gone: UsedThing[]; left: UsedThing[] }> {
  const all = await usedThings(store, clis)
  const gone = all.toReversed().filter(({ written }) => takeBack(written))
  await usedDoc(store).update(({ things }) => ({ things: things.filter(({ cli }) => !clis.includes(cli)) }))
  return { gone, left: all.filter((one) => !gone.includes(one)) }
}
