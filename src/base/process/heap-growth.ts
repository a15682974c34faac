import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { keepCompiledCode } from './compiled-code.ts'

/** The largest size of the space for new objects. A larger one saves no time here. */
const mostYoung = 16 * 1024 * 1024

/**
 * Keeps a process that runs for long near the memory that it needs. While a process streams, V8 doubles the space for new
 * objects up to 128 MB, and lets the rest of the heap grow to four times what lives in it before it is cleaned. The limit of
 * the space for new objects can only be given to `node` before it starts, so its growth is stopped once it is large enough.
 */
export function limitHeapGrowth(): void {
  keepCompiledCode()
  // The heap may grow by half before it is cleaned.
  setFlagsFromString('--heap-growing-percent=50')
  const watch = new PerformanceObserver(() => {
    if (youngHeapBytes() < mostYoung) return
    setFlagsFromString('--semi-space-growth-factor=1')
    watch.disconnect()
  })
  watch.observe({ entryTypes: ['gc'] })
}

/** The size of the space for new objects. */
export function youngHeapBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
