import type { Clock } from '../base/time/clock.ts'
import type { Blobs, Doc, Log, Store } from '../core/talk/store.ts'
import { StoreError } from '../core/talk/store.ts'

/** The pause before a failed store is tried again. */
const pauseMs = 1_000

/**
 * A store that, when the one beneath fails, for example on a full disk, waits until it works again: the failure must not stop an agent
 * that works in its terminal. Once the signal aborts, a failure is thrown as usual.
 */
export function patientStore(store: Store, clock: Clock, signal: AbortSignal): Store {
  const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;)
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof StoreError) || signal.aborted) throw error
        await clock.sleep(pauseMs, signal)
      }
  }
  return {
    log: <T>(name: string) => patientLog(store.log<T>(name), patiently),
    doc: (name, initial, known) => patientDoc(store.doc(name, initial, known), patiently),
    blobs: (name) => patientBlobs(store.blobs(name), patiently),
  }
}

type Patiently = <T>(work: () => Promise<T>) => Promise<T>

function patientLog<T>(log: Log<T>, patiently: Patiently): Log<T> {
  return {
    append: (item, unsynced) => patiently(() => log.append(item, unsynced)),
    link: (make) => patiently(() => log.link(make)),
    end: () => patiently(() => log.end()),
    back: (before) => log.back(before),
    read: () => log.read(),
    follow: (after, signal) => log.follow(after, signal),
    erase: (isGone, before) => patiently(() => log.erase(isGone, before)),
    clear: () => patiently(() => log.clear()),
  }
}

function patientDoc<T>(doc: Doc<T>, patiently: Patiently): Doc<T> {
  return { read: () => patiently(() => doc.read()), update: (change) => patiently(() => doc.update(change)) }
}

/** A body that is written piece by piece cannot be restarted from here, and a missing body does not come back, so neither is retried. */
function patientBlobs(blobs: Blobs, patiently: Patiently): Blobs {
  return {
    put: (body, media) => patiently(() => blobs.put(body, media)),
    writer: (media) => blobs.writer(media),
    read: (ref) => blobs.read(ref),
    place: (ref) => blobs.place(ref),
    keepOnly: (shas) => blobs.keepOnly(shas),
    clear: () => blobs.clear(),
  }
}
