import type { EventEmitter } from 'node:events'

/**
 * Lets bin/termaite.cjs keep the compiled code of this run now. It is called before V8's flags change: V8 takes compiled code only
 * under the flags that it was made with.
 */
export function keepCompiledCode(): void {
  ;(process as EventEmitter).emit('termaite-compiled')
}
