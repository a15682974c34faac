import type { Turn } from '../../core/work/agent.ts'
import type { Hands } from '../../mind/think/minds.ts'
import type { App } from '../app.ts'
import type { NativeSeat } from '../native/parts.ts'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { newId } from '../../base/id.ts'
import { perform } from '../../core/work/perform.ts'
import { spotOf } from '../../safety/places.ts'
import { boxOf } from '../native/box.ts'
import { heldBy } from '../native/hold.ts'
import { hookedTool } from '../native/hooked.ts'
import { maskedTool } from '../native/masked.ts'

/** Whoever of us needs hands, beside any agent. */
const name = 'termaite'

const mostBytes = 1024 * 1024

/** What a framework does itself is held, masked and audited as what our own agent does. */
export function handsOf(app: App): Hands {
  const { native, place, settings } = app
  return {
    async *use(tool, input, turn) {
      const seat = seatOf(app, turn)
      native.lasting.held.set(name, seat)
      const { box } = boxOf(name, native)
      const found = box.tools.find((one) => one.name === tool)
      const held = found && maskedTool(hookedTool(found, seat, native), native)
      const policy = await heldBy(seat, box.own, native)
      const call = { id: newId(turn.clock.now()), tool: held, name: tool, input }
      const events = perform(call, turn, policy)
      for (;;) {
        const next = await events.next()
        if (next.done) return next.value
        yield { by: name, ...next.value }
      }
    },
    async read(path) {
      const { real, inside, secret } = await spotOf(resolve(place.cwd, path), { root: place.root, home: place.home })
      return inside && !secret ? beginningOf(real) : undefined
    },
  }

  function seatOf(_: App, turn: Turn): NativeSeat {
    const window = 200_000
    return { agent: { name, kind: 'native', contextWindowTokens: window }, settings, leash: turn.leash, window }
  }
}

/** A file as far as anybody would quote from it. */
async function beginningOf(path: string): Promise<string | undefined> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes), 0, mostBytes, 0)
      return buffer.subarray(0, bytesRead).toString('utf8')
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}
