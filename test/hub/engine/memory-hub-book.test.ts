import { HandClock } from '../../hand-clock.ts'
import { MemoryHubBook } from '../../../src/hub/engine/memory-hub-book.ts'
import { hubBookContract } from '../../contract/hub-book.ts'

hubBookContract('in memory', async () => {
  const clock = new HandClock()
  return { book: new MemoryHubBook(clock), now: () => clock.now(), turn: (ms) => clock.turn(ms) }
})
