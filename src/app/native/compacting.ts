import type { App } from '../app.ts'

export type Trigger = 'manual' | 'auto'

/** Why hooks do not want the oldest half to be summarised now, if they do not. */
export async function compactionRefused(app: App, trigger: Trigger, signal: AbortSignal): Promise<string | undefined> {
  const { native, settings: own } = app
  const { store, clock, root, cwd, home } = native
  const [{ TrustBook }, { hooks }, { withBrought }] = await Promise.all([
    import('../../safety/trust/trust.ts'),
    import('./hooking.ts'),
    import('./brought.ts'),
  ])
  const { state } = await new TrustBook(store, { clock, own: home }).of(root, cwd)
  const { settings } = state === 'trusted' ? await withBrought(own, native) : { settings: own }
  if (!settings.hooks.PreCompact) return undefined
  const said = await hooks('PreCompact', { trigger, custom_instructions: '' }, { settings }, native, signal)
  const against = said.blocked ?? said.stop
  return against === undefined ? undefined : `a hook forbids it: ${against}`
}
