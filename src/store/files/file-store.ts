import { join, normalize } from 'node:path'
import type { StoreVoice } from '../set-aside.ts'
import type { Store } from '../../core/talk/store.ts'
import { realClock } from '../../base/time/clock.ts'
import { defined } from '../../base/defined.ts'
import { StoreError } from '../../core/talk/store.ts'
import { FileBlobs } from './file-blobs.ts'
import { FileDoc } from './file-doc.ts'
import { FileLog } from './file-log.ts'
import { Mutex } from './file-mutex.ts'

/** A store of files in one folder that only its owner can open. */
export function fileStore(home: string, { clock = realClock, tell }: Partial<StoreVoice> = {}): Store {
  const voice = defined({ clock, tell })
  const mutex = new Mutex(join(home, 'lock.db'), voice)
  const logs = new Map<string, FileLog<unknown>>()
  const blobs = new Map<string, FileBlobs>()
  return {
    log<T>(name: string) {
      return oneFor(logs, name, () => new FileLog<unknown>(`${place(home, name)}.jsonl`, voice, mutex)) as FileLog<T>
    },
    doc: (name, initial, known) => new FileDoc(`${place(home, name)}.json`, initial, { mutex, voice }, known),
    blobs: (name) => oneFor(blobs, name, () => new FileBlobs(place(home, name))),
  }
}

function place(home: string, name: string): string {
  if (name === '' || name.startsWith('/') || normalize(name) !== name || name.startsWith('..'))
    throw new StoreError(`${JSON.stringify(name)} is not a valid name in the store`)
  return join(home, name)
}

/** Returns the one object for a name, because the object has an open file. */
function oneFor<T>(all: Map<string, T>, name: string, make: () => T): T {
  const one = all.get(name) ?? make()
  all.set(name, one)
  return one
}
