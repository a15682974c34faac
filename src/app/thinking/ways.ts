import type { Framework } from '../../core/talk/framework.ts'
import type { Agreement } from '../../mind/think/consent.ts'
import type { Way } from '../../mind/think/thinker.ts'
import type { App } from '../app.ts'
import { treesOf } from './tree.ts'

/** Each is loaded when it is first chosen. `resume`: the tree of tasks that was left last is meant; `first`: whom the person asked for. */
export function waysIn(
  app: App,
  agreement: Agreement,
  resume: boolean,
  first?: string,
): Record<Exclude<Framework, 'direct'>, () => Promise<Way>> {
  return {
    consensus: async () => (await import('../../mind/think/consensus/consensus.ts')).consensus,
    sequential: async () => (await import('../../mind/think/sequential/sequential.ts')).sequential(agreement),
    reflect: async () => (await import('../../mind/think/reflect/reflect.ts')).reflect,
    script: async () => (await import('../../mind/think/script/script.ts')).script,
    async decompose() {
      const [{ decompose }, { apartOf }] = await Promise.all([
        import('../../mind/think/decompose/decompose.ts'),
        import('./apart.ts'),
      ])
      const apart = apartOf(app, first)
      return decompose({ ...treesOf(app), ...agreement, resume, ...(apart ? { apart } : {}) })
    },
  }
}
