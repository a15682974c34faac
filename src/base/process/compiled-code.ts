import type { EventEmitter } from 'node:events'

/**
 * Lets bin/termaite.cjs store the compiled code of this run now. It is called before V8's flags change: V8 only accepts compiled code
 * under the flags with which it was made.
 */
export function keepCompiledCode(): void {
  ;(process as EventEmitter).emit('termaite-compiled')
}
